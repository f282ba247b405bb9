//! The worker process, in which kernels are loaded, verified and measured, and the launcher that starts it.
//!
//! | module | contents |
//! |---|---|
//! | [`protocol`] | jobs and messages between the tuner and its worker |
//! | [`launcher`] | starts workers, enforces time limits, reads their messages |
//! | [`channel`] | the worker's end of the pipes, protected from kernels |
//! | [`remote`] | introduction of workers that a launcher starts, and the files that they get |
//! | [`serve`] | executes jobs in the worker |
//! | `measure` | measures kernels, alone and interleaved |
//! | `repeats` | whether each measured call does the work of the first |
//! | [`policy`] | how a worker measures |
//! | [`supervise`] | kills processes that kernels leave behind |
//! | `mirror` | the arguments in the memory of a device |
//! | [`inputs`] | kernel arguments: seeded data in guarded arrays, and their verification |

pub mod channel;
mod gpu_kernel;
pub(crate) mod host_kernel;
pub mod inputs;
pub mod launcher;
pub(crate) mod measure;
pub(crate) mod mirror;
mod nvrtc;
mod opencl_kernel;
pub mod policy;
pub mod protocol;
pub mod remote;
mod repeats;
pub mod serve;
pub(crate) mod stop;
pub mod supervise;
