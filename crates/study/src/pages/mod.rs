//! HTML pages and their figures.
//!
//! | module | page |
//! |---|---|
//! | [`study`] | the study of a host |
//! | [`sweep`] | the analysis of a tuning sweep |
//! | [`applications`] | energies of applications from hardware counters |

pub mod applications;
pub mod study;
pub mod sweep;
