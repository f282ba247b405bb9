//! Hardware counters of configs, read by NVIDIA's profiler `ncu`.

pub mod csv;
mod error;
pub mod ncu;
pub mod profile;
pub mod table;

pub use error::ProfilerError;
