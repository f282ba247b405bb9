//! The measuring protocol and its results.

pub mod measurement;
pub mod observe;
pub mod policy;
pub mod protocol;
