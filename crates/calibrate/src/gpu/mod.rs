//! Microbenchmarks of a GPU.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bench`] | the microbenchmarks: what each runs, on what data, how much work it is |
//! | [`twin`] | the same computations on the host, to check the kernels |
//! | [`suite`] | which of them a calibration runs, and running them |

pub mod bench;
pub mod suite;
pub mod twin;
