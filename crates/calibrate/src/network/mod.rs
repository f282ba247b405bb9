//! Microbenchmarks of messages between ranks and between GPUs and of what a host's cores share, and the fit of latency and bandwidth to them.
//!
//! | module | contents |
//! |---|---|
//! | [`ping_pong`] | messages and all-reduces of ranks |
//! | [`peers`] | copies between the GPUs of a host |
//! | [`host`] | memory, caches and clock that the cores of a host share |
//! | [`fit`] | latency and bandwidth with intervals |

pub mod fit;
pub mod host;
pub mod peers;
pub mod ping_pong;

pub use fit::{Line, NetworkError, line};

use greenup_meter::Summary;
use serde::Serialize;

/// Times of a message, or of an all-reduce, of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Size {
    /// Bytes.
    pub bytes: f64,
    /// Time, s.
    pub time_s: Summary,
}

/// What was measured between ranks, or between GPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Messages {
    /// Number of ranks, or GPUs.
    pub ranks: usize,
    /// A message from one to another.
    pub messages: Vec<Size>,
    /// All-reduces; none between GPUs.
    pub all_reduces: Vec<Size>,
}

impl Messages {
    /// Time of a stage of an all-reduce of a few numbers, s, with its interval; `None` if there is one rank or none measured.
    pub fn stage_s(&self) -> Option<greenup_model::machine::Estimate> {
        let few = self.all_reduces.first()?;
        let stages = (self.ranks as f64).log2().ceil();
        (stages >= 1.0).then(|| {
            let t = few.time_s.scaled(1.0 / stages);
            greenup_model::machine::Estimate::with_interval(t.median, t.lo, t.hi)
        })
    }
}
