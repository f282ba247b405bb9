//! The main job: calibrate this host, measure three real kernels on it, predict them from the
//! calibrated machine, tune one, and explain the gap on one page.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kernels`] | stream triad, DGEMM, sparse matrix–vector: data, work, verification |
//! | [`study`] | the run: calibration, measurements, predictions |
//! | [`reference`] | the roofs again, beside each kernel |
//! | [`result`] | one kernel, measured and predicted |
//! | [`tuning`] | a short tuning run of DGEMM |
//! | [`advice`] | what the numbers mean, in words |
//! | [`page`] | the study as a page |

pub mod advice;
pub mod kernels;
pub mod page;
pub mod reference;
pub mod result;
pub mod study;
pub mod tuning;

pub use result::KernelResult;
pub use study::{Kept, Study, StudyError, StudyOptions, run};
pub use tuning::{Tuning, TuningOptions};
