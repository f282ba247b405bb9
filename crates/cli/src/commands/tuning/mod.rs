//! Commands of search spaces, tuning and its analysis.

pub mod analyze;
pub mod best;
pub mod compile;
pub mod gemm;
pub mod init;
pub mod replay;
pub mod scale;
pub mod space;
pub mod sweeps;
pub mod tune;
pub mod worker;
