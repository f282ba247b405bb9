//! What a user asks for in the form factor of a mesh.

use super::Quadrature;
use super::accelerator::Accelerator;
use super::direct::{Blocks, Precision};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Method for the form factor F of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Direct sums: one exponential per node and q.
    Direct,
    /// The analytic transform of each flat triangle, to machine precision.
    Exact,
    /// Matrix products, on tensor grids and on rows of a detector.
    Gemm,
    /// The nonuniform FFT, whose cost does not depend on the number of triangles.
    Nufft,
}

impl Method {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Exact => "exact",
            Self::Gemm => "gemm",
            Self::Nufft => "nufft",
        }
    }
}

/// What the user asks for in the computation of F.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The method; `None`: the cheapest that is accurate enough.
    pub method: Option<Method>,
    /// Largest error of F relative to the volume.
    pub accuracy: f64,
    /// Precision of the direct and GEMM methods; `None`: `F32` if the accuracy permits.
    pub precision: Option<Precision>,
    /// Quadrature on each triangle. `None`: by the accuracy; `Some(None)`: centroids with a second-order correction.
    pub quadrature: Option<Option<Quadrature>>,
    /// Tuning parameters of the direct method.
    pub blocks: Blocks,
    /// Memory that may be used beyond the mesh and the result, bytes.
    pub memory: u64,
    /// The device; `None`: this CPU.
    pub on: Option<Arc<dyn Accelerator>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: None,
            accuracy: 1e-9,
            precision: None,
            quadrature: None,
            blocks: Blocks::default(),
            memory: 2 << 30,
            on: None,
        }
    }
}
