//! HTML pages, figures and tables.

pub mod prediction;
pub mod study;
