//! What a device is, and how to run work on it. Knows nothing of why something is run.
//!
//! | module | what it holds |
//! |---|---|
//! | [`facts`] | model, cores, caches, hypervisor of the host's CPU |
//! | [`isa`] | vector instruction sets and their dispatch |
//! | [`clock`] | the core clock, measured |
//! | [`memory`] | aligned buffers on huge pages |
//! | [`cuda`] | NVIDIA GPUs and their compiler, found at run time |
//! | [`team`] | pinned threads that start and stop together |

pub mod clock;
pub mod cuda;
pub mod facts;
pub mod isa;
pub mod memory;
pub mod team;

pub use facts::{Cache, CpuFacts};
pub use isa::{HostIsa, Isa};
pub use memory::Buffer;
pub use team::{SpinBarrier, Team};
