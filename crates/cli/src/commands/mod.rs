//! One file a subcommand: reads its arguments, calls the rooms below, prints.

pub mod analyze;
pub mod calibrate;
pub mod compile;
pub mod doctor;
pub mod explain;
pub mod fit;
pub mod gemm;
pub mod machines;
pub mod predict;
pub mod profile;
pub mod replay;
pub mod roofline;
pub mod run;
pub mod scale;
pub mod space;
pub mod study;
pub mod tune;
pub mod whatif;
pub mod worker;

use crate::args::MethodArg;
use greenup_calibrate::Method;

impl From<MethodArg> for Method {
    fn from(m: MethodArg) -> Self {
        match m {
            MethodArg::Linear => Method::Linear,
            MethodArg::Nnls => Method::Nnls,
            MethodArg::Capped => Method::Capped,
        }
    }
}
