//! The direct way: one exponential for each node and q, in blocks of both (the paper's hyperblocks), so
//! that nodes stay in the first cache and sums of single precision stay short.

use super::kernels::Kernels;
use super::sheet::{Extent, Sheet};
use super::{Surface, Watch};
use num_complex::Complex64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::{LOG2_E, TAU};

/// What of the direct way is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    /// q of one go.
    pub points: usize,
    /// Nodes of one go.
    pub nodes: usize,
    /// Vectors of q side by side: 1, 2 or 4.
    pub unroll: usize,
}

impl Blocks {
    /// Whether sums can be made in them.
    ///
    /// # Errors
    /// What cannot be.
    pub fn check(&self) -> Result<(), String> {
        let sizes = 1..=1 << 24;
        if !sizes.contains(&self.points) || !sizes.contains(&self.nodes) {
            return Err(format!(
                "blocks of {} points and {} nodes: each must lie between 1 and 2^24",
                self.points, self.nodes
            ));
        }
        if ![1, 2, 4].contains(&self.unroll) {
            return Err(format!("unroll = {}: it must be 1, 2 or 4", self.unroll));
        }
        Ok(())
    }
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            points: 512,
            nodes: 512,
            unroll: 2,
        }
    }
}

/// Bits of the numbers that sums are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    #[serde(rename = "f32")]
    Single,
    #[serde(rename = "f64")]
    Double,
    /// Two halves a number: products on the tensor cores of a GPU.
    #[serde(rename = "f16x2")]
    Split,
}

trait Real: Copy + Default + Send + Sync {
    fn of(x: f64) -> Self;
    /// # Safety
    /// As of the kernel in `direct.c`.
    unsafe fn run(
        k: &Kernels,
        q: &[Vec<Self>; 4],
        n: (usize, &[Self]),
        out: &mut [f64],
        how: (bool, bool, usize),
    );
}

macro_rules! real {
    ($t:ty, $kernel:ident) => {
        impl Real for $t {
            fn of(x: f64) -> Self {
                x as Self
            }
            unsafe fn run(
                k: &Kernels,
                q: &[Vec<Self>; 4],
                (nodes, node): (usize, &[Self]),
                out: &mut [f64],
                (damped, corrected, unroll): (bool, bool, usize),
            ) {
                let [x, y, z, d] = q;
                // SAFETY: the caller's promise.
                unsafe {
                    (k.$kernel)(
                        x.len() as _,
                        x.as_ptr(),
                        y.as_ptr(),
                        z.as_ptr(),
                        d.as_ptr(),
                        nodes as _,
                        node.as_ptr(),
                        out.as_mut_ptr(),
                        x.len() as _,
                        damped.into(),
                        corrected.into(),
                        unroll as _,
                    );
                }
            }
        }
    };
}
real!(f32, direct_32);
real!(f64, direct_64);

/// F at every q of the sheets. `corrected` adds the second order of each triangle to its centroid.
pub fn direct(
    surface: &Surface,
    sheets: &[Sheet],
    corrected: bool,
    (precision, blocks): (Precision, Blocks),
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    match precision {
        Precision::Single => run::<f32>(surface, sheets, corrected, blocks, watch),
        Precision::Double | Precision::Split => {
            run::<f64>(surface, sheets, corrected, blocks, watch)
        }
    }
}

fn run<T: Real>(
    surface: &Surface,
    sheets: &[Sheet],
    corrected: bool,
    blocks: Blocks,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let kernels = Kernels::best();
    let nodes = &surface.nodes;
    let damped = Extent::of(sheets).damping > 0.0;
    let step = if corrected { 16 } else { 8 };
    let mut node = vec![T::default(); nodes.len() * step];
    for (t, to) in node.chunks_mut(step).enumerate() {
        for k in 0..3 {
            to[k] = T::of(nodes.place[t][k]);
            to[3 + k] = T::of(nodes.strength[t][k]);
        }
        if corrected {
            // Over 24, for q in turns.
            for (to, m) in to[8..].iter_mut().zip(&nodes.second[t]) {
                *to = T::of(m * TAU * TAU / 24.0);
            }
        }
    }
    let unroll = match (corrected, blocks.unroll) {
        (true, u) => u.min(2),
        (false, u) => u,
    };
    // Whole vectors of any kernel, four side by side.
    let points = blocks.points.max(1).next_multiple_of(64);
    let tile = blocks.nodes.max(1);
    let out: Vec<Vec<Complex64>> = sheets
        .par_iter()
        .map(|s| {
            let mut out = vec![Complex64::ZERO; s.len()];
            out.par_chunks_mut(points)
                .enumerate()
                .for_each(|(block, out)| {
                    if watch.stopped() {
                        return;
                    }
                    let n = out.len().next_multiple_of(64);
                    let mut q: [Vec<T>; 4] = std::array::from_fn(|_| vec![T::default(); n]);
                    for (i, at) in (0..out.len()).map(|i| (i, s.q(block * points + i))) {
                        q[0][i] = T::of(at.x / TAU);
                        q[1][i] = T::of(at.y / TAU);
                        q[2][i] = T::of(at.z.re / TAU);
                        q[3][i] = T::of(-at.z.im * LOG2_E);
                    }
                    let mut sums = vec![0.0; 6 * n];
                    for tile in node.chunks(tile * step) {
                        // SAFETY: n points in whole vectors, sums for each, nodes in whole steps.
                        unsafe {
                            T::run(
                                &kernels,
                                &q,
                                (tile.len() / step, tile),
                                &mut sums,
                                (damped, corrected, unroll),
                            );
                        }
                    }
                    for (i, f) in out.iter_mut().enumerate() {
                        let at = s.q(block * points + i);
                        let sum = |m: usize| {
                            Complex64::new(sums[2 * m * n + i], sums[(2 * m + 1) * n + i])
                        };
                        *f = surface
                            .value(&at, || sum(0) * at.x + sum(1) * at.y + at.z.conj() * sum(2));
                    }
                    watch.tick(out.len() as u64);
                });
            out
        })
        .collect();
    (!watch.stopped()).then_some(out)
}
