//! Commands of machine models.

pub mod calibrate;
pub mod fit;
pub mod machines;
pub mod predict;
pub mod roofline;
pub mod whatif;

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
