//! Numbers of either precision, and the number of nodes of one product.

use faer::traits::RealField;

/// A real number of either precision.
pub(in crate::mesh_form_factor) trait Number:
    RealField + Copy + Send + Sync
{
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
}

impl Number for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
}

impl Number for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }
    fn wide(self) -> f64 {
        self.into()
    }
}

/// Nodes of one product.
pub(in crate::mesh_form_factor) const NODES: usize = 1024;
