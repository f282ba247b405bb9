//! What a user asks for in the form factor of a mesh.

use super::Quadrature;
use super::accelerator::Accelerator;
use super::direct::{Blocks, Precision};
use crate::mesh_form_factor::method::Method;
use std::sync::Arc;

/// What the user asks for in the computation of F.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The method; `None`: the cheapest that is accurate enough.
    pub method: Option<Method>,
    /// Largest error of F relative to the volume.
    pub accuracy: f64,
    /// Precision of the direct and GEMM methods; `None`: `F32` if the accuracy permits.
    pub precision: Option<Precision>,
    /// Quadrature on each triangle.
    pub quadrature: QuadratureChoice,
    /// Tuning parameters of the direct method.
    pub blocks: Blocks,
    /// Memory that may be used beyond the mesh and the result, bytes.
    pub memory: u64,
    /// The device; `None`: this CPU.
    pub on: Option<Arc<dyn Accelerator>>,
}

/// Which quadrature rule each triangle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadratureChoice {
    /// The one with the fewest points that the accuracy permits.
    Fitted,
    /// The same for all.
    Rule(Quadrature),
    /// The centroid, with a correction of second order.
    Corrected,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: None,
            accuracy: 1e-9,
            precision: None,
            quadrature: QuadratureChoice::Fitted,
            blocks: Blocks::default(),
            memory: 2 << 30,
            on: None,
        }
    }
}
