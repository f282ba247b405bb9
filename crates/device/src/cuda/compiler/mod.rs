//! CUDA sources to cubins, without a GPU.
//!
//! | module | contents |
//! |---|---|
//! | [`compile`] | NVRTC and its cache of cubins |
//! | `source` | a source and its options |
//! | `includes` | the files that a source includes |
//! | [`resources`] | registers, shared memory and spills of compiled kernels |
//! | [`occupancy`] | blocks that fit on a multiprocessor |

pub mod compile;
mod includes;
pub mod occupancy;
pub mod resources;
mod source;

pub use compile::{Compiled, Compiler, cubins};
pub use occupancy::{Capability, Limit, Occupancy};
pub use resources::Resources;
pub use source::Source;
