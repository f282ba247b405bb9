//! What a program did on the CPU: hardware counters where they exist, else estimates, labelled as such.

#[cfg(target_os = "linux")]
mod perf;
pub mod work;

#[cfg(target_os = "linux")]
pub use perf::Perf;
pub use work::{Cpu, Estimated};

use serde::{Deserialize, Serialize};

/// Counts of a program, its threads and its children.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions in user space.
    pub instructions: Option<f64>,
    /// Cycles.
    pub cycles: Option<f64>,
    /// Misses of the last cache.
    pub cache_misses: Option<f64>,
    /// Floating-point operations in double precision.
    pub f64_flops: Option<f64>,
    /// Floating-point operations in single precision.
    pub f32_flops: Option<f64>,
    /// Pages that were mapped at their first use.
    pub page_faults: Option<f64>,
    /// Switches to another thread.
    pub context_switches: Option<f64>,
    /// Time that its first thread was ready to run while others used the cores, s.
    #[serde(default)]
    pub waited_for_core_s: Option<f64>,
    /// Moves to another core.
    pub migrations: Option<f64>,
    /// Least share of the time that a hardware counter ran; where there are more than the core has, the kernel multiplexes them.
    pub counted_share: Option<f64>,
    /// Why there are no hardware counters.
    pub missing: Option<String>,
}
