//! CUDA sources to cubins, without a GPU.
//!
//! | module | contents |
//! |---|---|
//! | [`compile`] | NVRTC and its cache of cubins |
//! | `includes` | the files that a source includes |
//! | [`resources`] | registers, shared memory and spills of compiled kernels |
//! | [`occupancy`] | blocks that fit on a multiprocessor |

pub mod compile;
mod includes;
pub mod occupancy;
pub mod resources;

pub use compile::{Compiled, Compiler, Source, cubins};
pub use occupancy::{Capability, Limit, Occupancy};
pub use resources::Resources;
