//! The kernel-independent fast multipole method (Ying, Biros and Zorin 2004; thesis, chapter 6): sums over
//! N charges in O(N), to an accuracy that is asked for. Any consistent units.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kernel`] | interaction kernels |
//! | [`points`] | points generated, read and written |
//! | [`tree`] | the octree and its U, V, W and X lists |
//! | [`operators`] | matrices between surfaces, inverses, transforms |
//! | [`accuracy`] | surfaces and boxes for an accuracy |
//! | [`memory`] | bytes that sums take, before they are taken |
//! | [`plan`] | all that depends on the places alone |
//! | [`cpu`] | the passes on CPUs |
//! | [`gpu`] | the passes on GPUs |
//! | [`engine`] | what evaluates a plan |
//! | [`direct`], [`check`] | sums without the method, and errors against them |
//! | [`work`] | operations and bytes of each phase |
//! | [`nbody`] | gravity between bodies in time |

pub mod accuracy;
pub mod check;
pub mod cpu;
pub mod direct;
pub mod engine;
pub mod gpu;
pub mod kernel;
pub mod memory;
pub mod nbody;
pub mod operators;
mod order;
pub mod plan;
pub mod points;
pub mod real;
pub mod tree;
pub mod work;

/// What cannot be computed, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FmmError(pub String);

impl From<greenup_files::FileError> for FmmError {
    fn from(e: greenup_files::FileError) -> Self {
        Self(match e.hint() {
            Some(hint) => format!("{e}; {hint}"),
            None => e.to_string(),
        })
    }
}
