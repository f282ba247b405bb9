//! CPUs and GPUs: their properties, and how to run work on them.
//!
//! | module | contents |
//! |---|---|
//! | [`affinity`] | pinning of threads to CPUs |
//! | [`batches`] | work repeated without a gap, timed by events of a device |
//! | [`facts`] | model, cores, caches and hypervisor of the host's CPU |
//! | [`isa`] | vector instruction sets and their dispatch |
//! | [`clock`] | the core clock, measured |
//! | [`memory`] | aligned buffers on huge pages |
//! | [`cuda`] | NVIDIA GPUs and their compiler, found at run time |
//! | [`opencl`] | OpenCL devices and their compilers, found at run time |
//! | [`load`] | what other programs and a hypervisor take of the cores |
//! | [`library`] | shared libraries, loaded at run time |
//! | [`spec`] | devices as text names them |
//! | [`shared_slice`] | a slice of which threads write disjoint elements |
//! | [`team`] | pinned threads that start and stop together |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod affinity;
pub mod batches;
pub mod clock;
pub mod cuda;
pub mod facts;
pub mod isa;
pub mod library;
pub mod load;
pub mod memory;
pub mod opencl;
pub mod shared_slice;
pub mod spec;
pub mod team;

pub use facts::{Cache, CpuFacts};
pub use isa::{HostIsa, Isa};
pub use library::{Library, LibraryError};
pub use memory::Buffer;
pub use shared_slice::SharedSlice;
pub use spec::{DeviceSpec, InvalidDevice, Usable};
pub use team::{SpinBarrier, Team};
