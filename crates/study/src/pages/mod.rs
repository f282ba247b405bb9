//! HTML pages and their figures.
//!
//! | module | page |
//! |---|---|
//! | [`study`] | the study of a host |
//! | [`sweep`] | the analysis of a tuning sweep |
//! | [`calibration`] | a calibrated machine and its microbenchmarks |
//! | [`cap_errors`] | errors of the model with and without the power cap (a figure) |
//! | [`comparison`] | machines beside each other |
//! | [`pruning`] | how filters prune a search space (a figure) |
//! | [`replay`] | search strategies on a recorded sweep |
//! | [`applications`] | energies of applications from hardware counters |
//! | [`throttling`] | how far the power cap slows a machine (a figure) |

pub mod applications;
pub mod calibration;
pub mod cap_errors;
pub mod comparison;
pub mod pruning;
pub mod replay;
pub mod study;
pub mod sweep;
pub mod throttling;
