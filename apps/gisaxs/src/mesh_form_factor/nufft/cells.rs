//! Cells onto which nodes are spread in integers: sums of integers do not depend on their order, so that threads of a
//! GPU, several GPUs and ranks add them as they come.

use super::spread::Axis;
use super::transform::Layout;
use super::window::Window;
use crate::mesh_form_factor::q_grid::Extent;
use crate::mesh_form_factor::{Nodes, QGrid, chebyshev};
use rayon::prelude::*;

/// Nodes whose sizes one thread adds.
const CHUNK: usize = 1 << 14;

/// Largest number of integers that devices and ranks exchange; with more, each spreads all nodes.
pub const MAX_SHARED: usize = 1 << 25;

/// The cells of the nonuniform FFT on a device.
///
/// A cell holds Σ window × strength × wave over nodes, as a multiple of `unit`. No partial sum exceeds Σ|strength|, which
/// is 2^62 units at most: sums cannot overflow. Each term is rounded by half a unit: for n nodes √n 2^-62 Σ|strength|, a
/// hundredth of the rounding of sums in double precision, for which [`super::Transform`] allows.
#[derive(Debug)]
pub(crate) struct Cells {
    /// The window.
    pub window: Window,
    /// Cells along y.
    pub y: Axis,
    /// Cells along z.
    pub z: Axis,
    /// q_x of each grid of cells, 1/nm.
    pub qx: Vec<f64>,
    /// Factors of the strengths of all nodes; `None`: 1.
    pub factors: Option<Vec<f64>>,
    /// Value of an integer: a power of two, nm².
    pub unit: f64,
}

impl Cells {
    /// The cells for a tensor grid with these q_x.
    pub fn tensor(nodes: &Nodes, extent: &Extent, accuracy: f64, qx: Vec<f64>) -> Self {
        let window = Window::new(accuracy);
        Self {
            y: Axis::new(nodes.extent(1), extent.y, &window),
            z: Axis::new(nodes.extent(2), extent.z, &window),
            window,
            qx,
            unit: unit(nodes, None),
            factors: None,
        }
    }

    /// The cells for rows of a detector.
    pub fn band(nodes: &Nodes, layout: &Layout) -> Self {
        let (terms, center, half) = layout.x;
        let factors: Vec<f64> = nodes
            .position
            .par_iter()
            .map(|r| layout.correction.at(r[1]))
            .collect();
        Self {
            window: layout.window.clone(),
            y: layout.y,
            z: layout.z,
            qx: (0..terms)
                .map(|k| center + half * chebyshev::node(k, terms))
                .collect(),
            unit: unit(nodes, Some(&factors)),
            factors: Some(factors),
        }
    }

    /// Number of integers of one grid of cells.
    pub fn each(&self) -> usize {
        6 * self.y.cells * self.z.cells
    }

    /// Number of integers of all grids.
    pub fn all(&self) -> usize {
        self.each() * self.qx.len()
    }
}

/// The q_x of the runs of a tensor grid.
pub(crate) fn qx_of(grid: &QGrid) -> Vec<f64> {
    grid.runs().map(|(begin, _)| grid.xy[begin][0]).collect()
}

/// The power of two of which Σ|strength| is at most 2^62.
fn unit(nodes: &Nodes, factors: Option<&[f64]>) -> f64 {
    let size = |n: usize| {
        let largest = nodes.strength[n]
            .iter()
            .fold(0.0, |m: f64, s| m.max(s.abs()));
        largest * factors.map_or(1.0, |f| f[n].abs())
    };
    // In chunks, so that the sum does not depend on the threads.
    let chunks = nodes.len().div_ceil(CHUNK);
    let sums: Vec<f64> = (0..chunks)
        .into_par_iter()
        .map(|c| {
            (c * CHUNK..nodes.len().min((c + 1) * CHUNK))
                .map(size)
                .sum()
        })
        .collect();
    // Half a unit for each node, and rounding of this sum.
    let bound = sums.iter().sum::<f64>() * (1.0 + 1e-9);
    let exponent = bound.max(f64::MIN_POSITIVE).log2().floor() as i32 + 1;
    2.0_f64.powi(exponent - 62)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh_form_factor::{Quadrature, Sampling, Surface};

    #[test]
    fn sums_stay_below_their_limit() {
        let mesh = Mesh::ball(10.0, 56, 60);
        let nodes = Surface::new(&mesh, 3.0, Sampling::Every(Quadrature::Centroid)).nodes;
        let unit = unit(&nodes, None);
        let all: f64 = nodes
            .strength
            .iter()
            .map(|s| s[0].abs().max(s[1].abs()).max(s[2].abs()))
            .sum();
        let most = all / unit + nodes.len() as f64;
        assert!(
            most < 2.0_f64.powi(62) * 1.001 && most > 2.0_f64.powi(60),
            "{most:e}"
        );
        assert_eq!(unit.log2().fract(), 0.0);
        let factors = vec![3.0; nodes.len()];
        assert!(super::unit(&nodes, Some(&factors)) >= 2.0 * unit);
    }
}
