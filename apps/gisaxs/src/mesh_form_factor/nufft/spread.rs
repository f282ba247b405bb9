//! The first half of a nonuniform FFT: nodes are spread onto a small grid around the particle. The cost of the rest
//! does not depend on the number of triangles.

use super::window::{OVERSAMPLING, Window};
use crate::mesh_form_factor::kernels::Kernels;
use crate::mesh_form_factor::{Nodes, Watch, chebyshev};
use greenup_ranks::Ranks;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// One axis of a grid in space.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Number of cells.
    pub cells: usize,
    /// Distance of cells, nm.
    pub step: f64,
    /// Position of the first cell, nm.
    pub start: f64,
    /// Centre of the range of q, 1/nm, the reference of phases.
    pub center: f64,
}

impl Axis {
    /// The axis for a particle of half-size `extent`, nm, fine enough for a range of q, 1/nm.
    pub fn new(extent: f64, range: [f64; 2], window: &Window) -> Self {
        let center = 0.5 * (range[0] + range[1]);
        // Not coarser than the particle: otherwise all cells belong to the window.
        let half = (0.5 * (range[1] - range[0])).max(PI / (8.0 * extent.max(1e-9)));
        let step = PI / (OVERSAMPLING * half);
        Self {
            cells: (2.0 * extent / step).ceil() as usize + window.width + 2,
            step,
            start: -extent - 0.5 * window.width as f64 * step,
            center,
        }
    }

    /// A position in units of cells.
    pub fn at(&self, r: f64) -> f64 {
        (r - self.start) / self.step
    }

    /// Factor of each cell in the sum at q: e^{i(q − center) r} divided by the transform of the window.
    pub fn waves(&self, q: Complex64, window: &Window) -> Vec<Complex64> {
        let away = q - self.center;
        let scale = 1.0 / window.transform(away * self.step);
        (0..self.cells)
            .map(|g| {
                let r = self.start + g as f64 * self.step;
                // e^{i(a + ib)r} by real functions.
                Complex64::from_polar((-away.im * r).exp(), away.re * r) * scale
            })
            .collect()
    }
}

/// Reciprocal of the transform of a second window, by which strengths are multiplied before interpolation between nodes
/// in q_y with that window.
pub struct Correction {
    coefficients: Vec<f64>,
    inverse: f64,
}

impl Correction {
    /// The correction for nodes within `extent`, nm, and a distance `step` of the nodes in q_y, 1/nm.
    pub fn new(window: &Window, extent: f64, step: f64) -> Self {
        let inverse = 1.0 / (extent * extent).max(1e-300);
        let of = |x: f64| 1.0 / window.transform_real((0.5 + 0.5 * x).sqrt() * extent * step);
        Self {
            coefficients: chebyshev::coefficients(of, 24),
            inverse,
        }
    }

    /// Bound of its relative error for phases up to `most`.
    pub fn error(&self, window: &Window, most: f64) -> f64 {
        let extent = self.inverse.sqrt().recip();
        let off = |k: usize| {
            let share = (0.5 + 0.5 * chebyshev::node(k, 96)).sqrt();
            (self.at(share * extent) * window.transform_real(share * most) - 1.0).abs()
        };
        // A polynomial of degree 23, with a margin for the maximum between the points.
        1.2 * (0..96).map(off).fold(0.0, f64::max)
    }

    /// The correction at a position, nm.
    pub fn at(&self, y: f64) -> f64 {
        chebyshev::value(&self.coefficients, 2.0 * y * y * self.inverse - 1.0)
    }
}

/// Whether the windows about all positions, in the kernels' units, lie within `cells` cells; NaN does not.
pub(in crate::mesh_form_factor) fn inside(
    positions: &[f64],
    cells: usize,
    window: &Window,
) -> bool {
    let most = cells as f64 - window.width as f64 + 1.0;
    positions.iter().all(|p| (0.0..most).contains(p))
}

/// Number of nodes of a block.
const CHUNK: usize = 2048;

/// Grids of partial sums for one q_x: the largest number of threads that spread its nodes.
pub(in crate::mesh_form_factor) const PARTS: usize = 16;

/// Grids [y][6][z] (real and imaginary sums of x, y, z), one per q_x. Each of some ranks spreads some of the parts. If
/// stopped, nodes are missing.
pub(in crate::mesh_form_factor) fn spread(
    nodes: &Nodes,
    x: &[f64],
    (y, z): (Axis, Axis),
    (window, correction): (&Window, Option<&Correction>),
    (ranks, watch): (&dyn Ranks, &Watch),
) -> Vec<Vec<f64>> {
    let kernels = Kernels::best();
    let corrected: Vec<[f64; 3]> = correction.map_or_else(Vec::new, |c| {
        nodes
            .position
            .par_iter()
            .zip(&nodes.strength)
            .map(|(r, s)| s.map(|m| m * c.at(r[1])))
            .collect()
    });
    let strength = if correction.is_some() {
        &corrected
    } else {
        &nodes.strength
    };
    // Not by the number of threads: the order of the sums decides their last digits.
    let parts = PARTS
        .div_ceil(x.len().max(1))
        .min(nodes.len().div_ceil(CHUNK))
        .max(1);
    let each = nodes.len().div_ceil(parts).max(1);
    let one = |qx: f64, from: usize, to: usize| {
        // Whole vectors extend past the end of the last row.
        let mut grid = vec![0.0; y.cells * 6 * z.cells + 16];
        let (mut py, mut pz, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut re, mut im, none) = (vec![0.0; CHUNK], vec![0.0; CHUNK], vec![0.0; CHUNK]);
        let mut sums = Vec::new();
        for begin in (from..to).step_by(CHUNK) {
            if watch.stopped() {
                break;
            }
            let end = to.min(begin + CHUNK);
            let n = end - begin;
            for list in [&mut py, &mut pz, &mut sums, &mut turns] {
                list.clear();
            }
            for r in &nodes.position[begin..end] {
                py.push(window.position(y.at(r[1])));
                pz.push(window.position(z.at(r[2])));
                turns.push((qx * r[0] + y.center * r[1] + z.center * r[2]) / TAU);
            }
            kernels.waves(&turns, &none[..n], &mut re[..n], &mut im[..n]);
            for (i, s) in strength[begin..end].iter().enumerate() {
                for m in s {
                    sums.extend([m * re[i], m * im[i]]);
                }
            }
            assert!(
                inside(&py, y.cells, window) && inside(&pz, z.cells, window),
                "a node lies outside of its grid"
            );
            // SAFETY: every position lies between 0 and the cells less the window's width; the grid has
            // sixteen numbers to spare.
            unsafe {
                (kernels.spread)(
                    n as _,
                    py.as_ptr(),
                    pz.as_ptr(),
                    sums.as_ptr(),
                    window.coefficients.as_ptr(),
                    window.degree as _,
                    window.width as _,
                    grid.as_mut_ptr(),
                    z.cells as _,
                );
            }
        }
        grid
    };
    let tasks = (0..x.len()).flat_map(|p| (0..parts).map(move |n| (p, n)));
    let own: Vec<(usize, usize)> = tasks.skip(ranks.rank()).step_by(ranks.size()).collect();
    let own: Vec<Vec<f64>> = own
        .into_par_iter()
        .map(|(p, n)| one(x[p], n * each, nodes.len().min((n + 1) * each)))
        .collect();
    let size = y.cells * 6 * z.cells + 16;
    let mut grids = of_all(own, (parts * x.len(), size), ranks);
    grids
        .chunks_mut(parts)
        .map(|group| {
            let (first, rest) = group.split_at_mut(1);
            let mut sum = std::mem::take(&mut first[0]);
            for g in rest {
                for (a, b) in sum.iter_mut().zip(g.iter()) {
                    *a += b;
                }
            }
            sum
        })
        .collect()
}

/// The grids of all ranks, which have them in turn; `count` grids of `size` numbers.
fn of_all(own: Vec<Vec<f64>>, (count, size): (usize, usize), ranks: &dyn Ranks) -> Vec<Vec<f64>> {
    if ranks.size() == 1 {
        return own;
    }
    let bytes: Vec<u8> = own.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let mut all = Vec::new();
    if let Some(parts) = ranks.gather(&bytes) {
        let grid = |n: usize| {
            let at = n / parts.len() * 8 * size;
            &parts[n % parts.len()][at..at + 8 * size]
        };
        all.extend((0..count).flat_map(grid));
    }
    ranks.broadcast(&mut all);
    all.chunks(8 * size)
        .map(|grid| {
            let (words, _) = grid.as_chunks::<8>();
            words.iter().map(|b| f64::from_le_bytes(*b)).collect()
        })
        .collect()
}
