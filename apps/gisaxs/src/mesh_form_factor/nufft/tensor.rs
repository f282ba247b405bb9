//! The nonuniform FFT on a tensor grid.

use super::spread::{Axis, spread};
use super::window::Window;
use crate::mesh_form_factor::each::on_any;
use crate::mesh_form_factor::gemm::{Right, Scratch, multiply};
use crate::mesh_form_factor::q_grid::{Extent, QGrid};
use crate::mesh_form_factor::{Surface, Watch};
use greenup_ranks::{Alone, Ranks};
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of q_z of one product. Parts of a grid that begin at multiples of it have the digits of the whole.
pub const BLOCK: usize = 32;

/// The nonuniform FFT on a tensor grid whose positions have few different q_x: the grid of cells is transformed along y,
/// then z, directly at each q.
pub struct GridNufft {
    surface: Arc<Surface>,
    window: Window,
    y: Axis,
    z: Axis,
    /// Sums over nodes for each q_x: [cell in y][m][cell in z].
    cells: Vec<Vec<Complex64>>,
}

/// F on a tensor grid, nm³; `None` if stopped. `accuracy` is that of the window.
pub fn grid(
    surface: &Surface,
    grid: &QGrid,
    accuracy: f64,
    watch: &Watch,
) -> Option<Vec<Complex64>> {
    GridNufft::new(surface.clone(), grid, accuracy, (&Alone, watch))?.values(grid, watch)
}

impl GridNufft {
    /// Spreads the nodes of a surface for the q of a grid; on all of some ranks, which share the nodes. `None` if one of them was
    /// stopped.
    pub fn new(
        surface: impl Into<Arc<Surface>>,
        grid: &QGrid,
        accuracy: f64,
        (ranks, watch): (&dyn Ranks, &Watch),
    ) -> Option<Self> {
        let surface = surface.into();
        let nodes = &surface.nodes;
        let extent = Extent::of(std::slice::from_ref(grid));
        let window = Window::new(accuracy);
        let y = Axis::new(nodes.extent(1), extent.y, &window);
        let z = Axis::new(nodes.extent(2), extent.z, &window);
        // One q_x after the other: each has several grids of partial sums.
        let cells = grid
            .runs()
            .map(|(first, _)| {
                let x = [grid.xy[first][0]];
                let sums = spread(nodes, &x, (y, z), (&window, None), (ranks, watch));
                let sums = complex(&sums[0], y.cells, z.cells);
                (!on_any(ranks, watch.stopped())).then_some(sums)
            })
            .collect::<Option<_>>()?;
        Some(Self {
            surface,
            window,
            y,
            z,
            cells,
        })
    }

    /// F at some q_z of the grid, or all, nm³; `None` if stopped.
    pub fn values(&self, grid: &QGrid, watch: &Watch) -> Option<Vec<Complex64>> {
        let Self {
            surface,
            window,
            y,
            z,
            ..
        } = self;
        let nodes = &surface.nodes;
        let (positions, heights) = (grid.xy.len(), grid.z.len());
        let mut out = vec![Complex64::ZERO; grid.len()];
        // e^{i q_z r} for all q_z, a row each.
        let across: Vec<Complex64> = grid
            .z
            .par_iter()
            .flat_map_iter(|q| {
                let shift = (Complex64::I * q * nodes.centre[2]).exp();
                z.waves(*q, window).into_iter().map(move |w| w * shift)
            })
            .collect();
        for ((first, n), cells) in grid.runs().zip(&self.cells) {
            let row = &grid.xy[first..first + n];
            // [position][m][cell in z] → two sums of each position, [cell in z][2][position].
            let along: Vec<Complex64> = row
                .par_iter()
                .flat_map_iter(|[_, q]| y.waves(Complex64::new(*q, 0.0), window))
                .collect();
            let mut scratch = Scratch::default();
            let right = Right::new(y.cells, 3 * z.cells, cells);
            let sums = multiply(n, &along, &right, &mut scratch);
            let mut pairs = vec![Complex64::ZERO; z.cells * 2 * n];
            for (j, [qx, qy]) in row.iter().enumerate() {
                let shift = Complex64::from_polar(1.0, qx * nodes.centre[0] + qy * nodes.centre[1]);
                for g in 0..z.cells {
                    let at = |m: usize| complex_of(sums[(3 * j + m) * z.cells + g]);
                    pairs[g * 2 * n + j] = shift * (at(0) * qx + at(1) * qy);
                    pairs[g * 2 * n + n + j] = shift * at(2);
                }
            }
            let pairs = Right::new(z.cells, 2 * n, &pairs);
            out.par_chunks_mut(BLOCK * positions)
                .enumerate()
                .for_each_init(Scratch::default, |scratch, (block, rows)| {
                    if watch.stopped() {
                        return;
                    }
                    let begin = block * BLOCK;
                    let m = BLOCK.min(heights - begin);
                    let waves = &across[begin * z.cells..(begin + m) * z.cells];
                    let both = multiply(m, waves, &pairs, scratch);
                    for (k, sums) in both.chunks(2 * n).enumerate() {
                        let qz = grid.z[begin + k];
                        let to = &mut rows[k * positions + first..k * positions + first + n];
                        surface.row(row, qz, sums.split_at(n), to);
                    }
                    watch.tick((m * n) as u64);
                });
        }
        (!watch.stopped()).then_some(out)
    }
}

pub(super) fn complex_of([re, im]: [f64; 2]) -> Complex64 {
    Complex64::new(re, im)
}

/// Real and imaginary planes [y][6][z] as complex numbers [y][3][z].
pub(super) fn complex(grid: &[f64], rows: usize, columns: usize) -> Vec<Complex64> {
    let mut out = Vec::with_capacity(rows * 3 * columns);
    for plane in grid[..rows * 6 * columns].chunks(2 * columns) {
        let (re, im) = plane.split_at(columns);
        out.extend(re.iter().zip(im).map(|(&a, &b)| Complex64::new(a, b)));
    }
    out
}
