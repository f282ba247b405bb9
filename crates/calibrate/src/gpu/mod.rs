//! Microbenchmarks of a GPU.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kind`] | the microbenchmarks, and the work that each of their launches is |
//! | [`data`] | what they compute with |
//! | [`context`] | a GPU with that data: preparing, checking and running them |
//! | [`host_reference`] | the same computations on the host, to check the kernels |
//! | [`suite`] | which of them a calibration runs, and running them |

pub mod context;
pub mod data;
pub mod host_reference;
pub mod kind;
pub mod suite;
