//! What a plan computes, and how.

use crate::kernel::Kernel;
use crate::precision::Real;
use serde::{Deserialize, Serialize};

/// M2L method: how V lists are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum M2l {
    /// FFT of the equivalent charges on the grid of the surface
    Fft,
    /// SVD-compressed matrices
    Compressed,
}

/// Default of [`Options::ncrit`] on CPUs and GPUs, in a precision.
pub fn default_ncrit<R: Real>(gpu: bool, gradient: bool) -> usize {
    match (gpu, size_of::<R>(), gradient) {
        (true, ..) => 256,
        (false, 4, _) => 160,
        (false, _, true) => 100,
        (false, _, false) => 120,
    }
}

/// What a plan computes, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Interaction kernel.
    pub kernel: Kernel,
    /// Relative L2 error.
    pub tolerance: f64,
    /// Whether gradients are computed too.
    pub gradient: bool,
    /// Maximum number of points per leaf.
    pub ncrit: usize,
    /// M2L method.
    pub m2l: M2l,
    /// Surface order p, instead of by the tolerance.
    pub order: Option<usize>,
}
