//! The study of a host's devices: calibrates each, measures real kernels, predicts them from the calibrated machine model,
//! tunes one, and explains the difference on one HTML page.
//!
//! | module | contents |
//! |---|---|
//! | [`study`] | the run over all devices |
//! | [`device`] | what a study found on one device |
//! | [`cpu`] | the host's cores: kernels, roofs re-measured, tuning |
//! | [`gpu`] | a GPU: kernels as tuning problems, tuning |
//! | [`result`] | result of one kernel, measured and predicted |
//! | [`energy`] | predicted energy, split by its causes |
//! | [`tuned`] | result of a tuning run |
//! | [`tradeoff`] | one kernel tuned for time and for energy |
//! | [`stopwatch`] | durations of its stages |
//! | [`advice`] | explanation of the numbers in sentences |
//! | [`mod@summary`] | the results as data |
//! | [`applications`] | energies of applications from hardware counters |
//! | [`pages`] | HTML pages of studies, sweeps and applications |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
pub mod advice;
pub mod applications;
pub mod cpu;
pub mod device;
pub mod energy;
mod error;
pub mod gpu;
pub mod pages;
pub mod result;
pub mod stopwatch;
pub mod study;
pub mod summary;
pub mod tradeoff;
pub mod tuned;

pub use cpu::CpuOptions;
pub use cpu::tuning::TuningOptions;
pub use device::{DeviceStudy, Hardware};
pub use error::StudyError;
pub use gpu::GpuOptions;
pub use greenup_report::provenance::Provenance;
pub use result::KernelResult;
pub use study::{Journals, Study, StudyOptions, run};
pub use summary::summary;
pub use tuned::{Tuning, TuningError};
