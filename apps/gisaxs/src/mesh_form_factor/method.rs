//! Methods for the form factor of a mesh.

use serde::{Deserialize, Serialize};

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
