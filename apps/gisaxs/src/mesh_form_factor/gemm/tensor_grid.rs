//! The GEMM method: on a tensor grid e^{iq·r} is a row factor times a column factor, so that sums over nodes are
//! products of two matrices. Rows of a detector differ slightly: blocks of them share factors, with the difference as a
//! Taylor series whose powers leave the sum.

use super::multiply::gemm;
use super::number::{NODES, Number};
use super::shared_factors::{Family, POWERS, families};
use super::symmetric_qy::pairs;
use crate::Q;
use crate::mesh_form_factor::direct::Precision;
use crate::mesh_form_factor::kernels::Kernels;
use crate::mesh_form_factor::q_grid::QGrid;
use crate::mesh_form_factor::{Surface, Watch};
use faer::Accum;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};

/// Positions (q_x, q_y) of one product.
const PLACES: usize = 64;
/// Columns (q_z of all its grids) of one product.
const COLUMNS: usize = 1024;

/// F on each grid, nm³, by matrix products; `None` if stopped. `memory` bounds the bytes of their factors and sums.
pub(in crate::mesh_form_factor) fn products(
    surface: &Surface,
    grids: &[QGrid],
    precision: Precision,
    accuracy: f64,
    memory: u64,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    if let [grid] = grids {
        let out = match precision {
            Precision::F32 => pairs::<f32>(surface, grid, memory, watch),
            Precision::F64 | Precision::F16x2 => pairs::<f64>(surface, grid, memory, watch),
        };
        if let Some(out) = out {
            return (!watch.stopped()).then(|| vec![out]);
        }
    }
    let families: Vec<_> = families(&surface.nodes, grids, accuracy)
        .take_while(|_| !watch.stopped())
        .collect();
    // The families that run at the same time share the memory.
    let at_once = rayon::current_num_threads().min(families.len()).max(1);
    let memory = memory / at_once as u64;
    let out: Vec<Vec<Vec<Complex64>>> = families
        .par_iter()
        .map(|f| match precision {
            _ if watch.stopped() => Vec::new(),
            Precision::F32 => family::<f32>(surface, f, memory, watch),
            Precision::F64 | Precision::F16x2 => family::<f64>(surface, f, memory, watch),
        })
        .collect();
    (!watch.stopped()).then(|| out.concat())
}

/// Phases of e^{i(x, y)·r} and its powers of the Taylor series for some positions: [set][position][Re of all
/// nodes, Im of all nodes], sets being power × (base, along, z) of q*·n.
fn left<T: Number>(
    f: &Family,
    (base, along): (&[[f64; 2]], &[[f64; 2]]),
    (positions, strengths): (&[[f64; 3]], &[[f64; 3]]),
    to: &mut [T],
) {
    let k = positions.len();
    let kernels = Kernels::best();
    let (mut turns, none) = (vec![0.0; k], vec![0.0; k]);
    let (mut re, mut im) = (vec![0.0; k], vec![0.0; k]);
    let kinds = f.kinds();
    for (j, (p, d)) in base.iter().zip(along).enumerate() {
        for (t, r) in turns.iter_mut().zip(positions) {
            *t = (p[0] * r[0] + p[1] * r[1]) / TAU;
        }
        kernels.waves(&turns, &none, &mut re, &mut im);
        for power in 0..f.powers {
            for kind in 0..kinds {
                let row = ((power * kinds + kind) * base.len() + j) * 2 * k;
                let (to_re, to_im) = to[row..row + 2 * k].split_at_mut(k);
                for t in 0..k {
                    let s = strengths[t];
                    let weight = match kind {
                        0 => p[0] * s[0] + p[1] * s[1],
                        1 => s[2],
                        _ => d[0] * s[0] + d[1] * s[1],
                    };
                    to_re[t] = T::of(re[t] * weight);
                    to_im[t] = T::of(im[t] * weight);
                }
            }
            for (t, r) in positions.iter().enumerate() {
                let step = (d[0] * r[0] + d[1] * r[1]) / (power + 1) as f64;
                re[t] *= step;
                im[t] *= step;
            }
        }
    }
}

/// e^{i q_z z} of nodes (rows) and q_z, interleaved, and i times that below it.
fn right<T: Number>(positions: &[[f64; 3]], heights: &[(usize, Complex64)], to: &mut [T]) {
    let n = heights.len();
    let kernels = Kernels::best();
    let (first, second) = to.split_at_mut(positions.len() * 2 * n);
    let turns: Vec<f64> = heights.iter().map(|h| h.1.re / TAU).collect();
    let loss: Vec<f64> = heights.iter().map(|h| -h.1.im * LOG2_E).collect();
    first
        .par_chunks_mut(2 * n)
        .zip(second.par_chunks_mut(2 * n))
        .zip(positions)
        .for_each_init(
            || [(); 4].map(|()| vec![0.0; n]),
            |[at, size, re, im], ((a, b), r)| {
                for c in 0..n {
                    at[c] = turns[c] * r[2];
                    size[c] = loss[c] * r[2];
                }
                kernels.waves(at, size, re, im);
                for c in 0..n {
                    let (x, y) = (T::of(re[c]), T::of(im[c]));
                    (a[2 * c], a[2 * c + 1]) = (x, y);
                    (b[2 * c], b[2 * c + 1]) = (T::of(-im[c]), x);
                }
            },
        );
}

/// Memory of the smallest tile, bytes: sums of all positions at one q_z, and factors of one node.
pub(in crate::mesh_form_factor) fn least(positions: u64, real: u64, threads: u64) -> u64 {
    let sets = 3 * POWERS as u64;
    2 * real * (2 * positions * sets) + 2 * real * (4 + 2 * threads * sets * PLACES as u64)
}

fn family<T: Number>(
    surface: &Surface,
    f: &Family,
    memory: u64,
    watch: &Watch,
) -> Vec<Vec<Complex64>> {
    let heights: Vec<(usize, Complex64)> = f
        .grids
        .iter()
        .enumerate()
        .flat_map(|(n, s)| s.z.iter().map(move |z| (n, *z)))
        .collect();
    let nodes = &surface.nodes;
    let kinds = f.kinds();
    let sets = kinds * f.powers;
    let each = std::mem::size_of::<T>() as u64;
    let threads = rayon::current_num_threads() as u64;
    // The sums of all positions times columns take half of the memory at most, the factors the rest.
    let rows = (f.base.len() * sets) as u64;
    let fit = (memory / 2 / each / (2 * rows).max(1)).max(1);
    let columns = heights.len().min(COLUMNS).min(fit as usize).max(1);
    let node = each * (4 * columns as u64 + 2 * threads * (sets * PLACES) as u64);
    let chunk = NODES.min((memory / 2 / node).max(1) as usize);
    let mut out: Vec<Vec<Complex64>> = f
        .grids
        .iter()
        .map(|s| vec![Complex64::ZERO; s.len()])
        .collect();
    let mut starts = Vec::new();
    let mut before = 0;
    for s in f.grids {
        starts.push(before);
        before += s.z.len();
    }
    for (part, some) in heights.chunks(columns).enumerate() {
        let n = some.len();
        let mut sums = vec![T::of(0.0); f.base.len() * sets * 2 * n];
        let mut factor = vec![T::of(0.0); chunk * 4 * n];
        for (positions, strengths) in nodes
            .position
            .chunks(chunk)
            .zip(nodes.strength.chunks(chunk))
        {
            if watch.stopped() {
                return out;
            }
            let k = positions.len();
            let factor = &mut factor[..k * 4 * n];
            right(positions, some, factor);
            sums.par_chunks_mut(PLACES * sets * 2 * n)
                .zip(f.base.par_chunks(PLACES).zip(f.along.par_chunks(PLACES)))
                .for_each_init(Vec::new, |first, (sums, (base, along))| {
                    if watch.stopped() {
                        return;
                    }
                    first.resize(base.len() * sets * 2 * k, T::of(0.0));
                    left(f, (base, along), (positions, strengths), first);
                    gemm(
                        (base.len() * sets, n, k),
                        first,
                        factor,
                        (sums, Accum::Add),
                        T::of(1.0),
                    );
                    let done = (base.len() * n) as u64;
                    watch.tick(done * k as u64 / nodes.len() as u64);
                });
        }
        for (block, values) in sums.chunks(PLACES * sets * 2 * n).enumerate() {
            let begin = block * PLACES;
            let rows = PLACES.min(f.base.len() - begin);
            for (c, &(grid, z)) in some.iter().enumerate() {
                let s = &f.grids[grid];
                let level = part * columns + c - starts[grid];
                let eta = f.eta[grid];
                for j in 0..rows {
                    let [x, y] = s.xy[begin + j];
                    let q = Q { x, y, z };
                    let to = &mut out[grid][level * s.xy.len() + begin + j];
                    let at = |power: usize, kind: usize| {
                        let position = ((power * kinds + kind) * rows + j) * 2 * n + 2 * c;
                        Complex64::new(values[position].wide(), values[position + 1].wide())
                    };
                    *to = surface.value(&q, || {
                        // (iη)^p
                        let (mut scale, mut sum) = (Complex64::ONE, Complex64::ZERO);
                        for power in 0..f.powers {
                            let mut one = at(power, 0) + z.conj() * at(power, 1);
                            if kinds > 2 {
                                one += eta * at(power, 2);
                            }
                            sum += scale * one;
                            scale *= Complex64::I * eta;
                        }
                        sum
                    });
                }
            }
        }
    }
    out
}
