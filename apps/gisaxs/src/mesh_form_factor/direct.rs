//! The direct method: one exponential per node and q, in blocks of both (hyperblocks of the paper), so that nodes stay
//! in the L1 cache and sums in single precision stay short.

use super::kernels::Kernels;
use super::q_grid::{Extent, QGrid};
use super::{Surface, Watch, zeros};
use crate::Q;
use num_complex::Complex64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::{LOG2_E, TAU};

/// Tuning parameters of the direct method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    /// Number of q of a block, 1 to 2^24.
    pub points: usize,
    /// Number of nodes of a block, 1 to 2^24.
    pub nodes: usize,
    /// SIMD vectors of q per loop iteration: 1, 2 or 4.
    pub unroll: usize,
}

impl Blocks {
    /// Checks that the kernel supports these values.
    ///
    /// # Errors
    /// A size is out of range.
    pub fn check(&self) -> Result<(), crate::GisaxsError> {
        let sizes = 1..=1 << 24;
        if !sizes.contains(&self.points) || !sizes.contains(&self.nodes) {
            return Err(format!(
                "blocks of {} points and {} nodes: each must lie between 1 and 2^24",
                self.points, self.nodes
            )
            .into());
        }
        if ![1, 2, 4].contains(&self.unroll) {
            return Err(format!("unroll = {}: it must be 1, 2 or 4", self.unroll).into());
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

/// Precision of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// Single precision.
    #[serde(rename = "f32")]
    F32,
    /// Double precision.
    #[serde(rename = "f64")]
    F64,
    /// Two half-precision terms per number: GEMM on the tensor cores of a GPU.
    #[serde(rename = "f16x2")]
    F16x2,
}

impl Precision {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16x2 => "f16x2",
        }
    }
}

trait Real: Copy + Default + Send + Sync {
    fn of(x: f64) -> Self;
    /// Adds the sums over some nodes at each q.
    ///
    /// # Safety
    /// As for the kernel in `direct.c`.
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

/// F on each grid, nm³, by direct sums; `None` if stopped. `corrected` adds the second-order correction to the centroid
/// of each triangle.
pub fn direct(
    surface: &Surface,
    grids: &[QGrid],
    corrected: bool,
    (precision, blocks): (Precision, Blocks),
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    match precision {
        Precision::F32 => run::<f32>(surface, grids, corrected, blocks, watch),
        Precision::F64 | Precision::F16x2 => run::<f64>(surface, grids, corrected, blocks, watch),
    }
}

fn run<T: Real>(
    surface: &Surface,
    grids: &[QGrid],
    corrected: bool,
    blocks: Blocks,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let kernels = Kernels::best();
    let nodes = &surface.nodes;
    let damped = Extent::until(grids, watch.stop)?.im_qz > 0.0;
    let step = if corrected { 16 } else { 8 };
    let mut node = vec![T::default(); nodes.len() * step];
    for (t, to) in node.chunks_mut(step).enumerate() {
        for k in 0..3 {
            to[k] = T::of(nodes.position[t][k]);
            to[3 + k] = T::of(nodes.strength[t][k]);
        }
        if corrected {
            // Divided by 24, for q in units of 2π.
            for (to, m) in to[8..].iter_mut().zip(&nodes.second[t]) {
                *to = T::of(m * TAU * TAU / 24.0);
            }
        }
    }
    let unroll = match (corrected, blocks.unroll) {
        (true, u) => u.min(2),
        (false, u) => u,
    };
    // A multiple of four vectors of any kernel.
    let points = blocks.points.max(1).next_multiple_of(64);
    let tile = blocks.nodes.max(1);
    // Blocks reach over several grids: a list of q has as many as there are q.
    let starts: Vec<usize> = std::iter::once(0)
        .chain(grids.iter().scan(0, |before, s| {
            *before += s.len();
            Some(*before)
        }))
        .collect();
    let mut all = zeros(starts[grids.len()]);
    all.par_chunks_mut(points)
        .enumerate()
        .for_each(|(block, out)| {
            if watch.stopped() {
                return;
            }
            let begin = block * points;
            let mut grid = starts.partition_point(|s| *s <= begin) - 1;
            let own: Vec<Q> = (begin..begin + out.len())
                .map(|i| {
                    while i >= starts[grid + 1] {
                        grid += 1;
                    }
                    grids[grid].q(i - starts[grid])
                })
                .collect();
            let n = out.len().next_multiple_of(64);
            let mut q: [Vec<T>; 4] = std::array::from_fn(|_| vec![T::default(); n]);
            for (i, at) in own.iter().enumerate() {
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
            for ((i, at), f) in own.iter().enumerate().zip(out.iter_mut()) {
                let sum = |m: usize| Complex64::new(sums[2 * m * n + i], sums[(2 * m + 1) * n + i]);
                *f = surface.value(at, || sum(0) * at.x + sum(1) * at.y + at.z.conj() * sum(2));
            }
            watch.tick(out.len() as u64);
        });
    if watch.stopped() {
        return None;
    }
    Some(match grids {
        [_] => vec![all],
        _ => starts
            .windows(2)
            .map(|ends| all[ends[0]..ends[1]].to_vec())
            .collect(),
    })
}
