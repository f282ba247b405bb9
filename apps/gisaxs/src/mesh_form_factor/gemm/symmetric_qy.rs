//! Products on a tensor grid with symmetric q_y: q_y = m ± d share the real factors cos(d y) and sin(d y), with
//! S(m ± d) = Σ w cos(d y) P ± i Σ w sin(d y) P, P = e^{i(q_x x + m y + q_z z)}: half of the operations of complex
//! factors.

use super::multiply::real;
use super::number::{NODES, Number};
use crate::mesh_form_factor::kernels::Kernels;
use crate::mesh_form_factor::q_grid::QGrid;
use crate::mesh_form_factor::{Nodes, Surface, Watch};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};
use std::ops::Range;

/// Pairs of q_y of one product.
const PAIRS: usize = 64;
/// q_z of one product.
const HEIGHTS: usize = 1024;

/// Positions with the same q_x, in pairs about their centre.
struct Run {
    begin: usize,
    len: usize,
    qx: f64,
    center: f64,
    /// Half the distance of each pair, the largest first.
    away: Vec<f64>,
    /// Number of weights: s_y, s_z, and q_x s_x + m s_y unless it is 0 everywhere.
    weights: usize,
}

/// The centre of these q_y and the half-distances of the pairs about it, 1/nm; `None` if they are not symmetric to
/// rounding, for nodes within `reach` nm.
pub(crate) fn about_center(qy: &[f64], reach: f64) -> Option<(f64, Vec<f64>)> {
    let center = 0.5 * (qy.first()? + qy.last()?);
    let away: Vec<f64> = (0..qy.len().div_ceil(2))
        .map(|p| qy[qy.len() - 1 - p] - center)
        .collect();
    let off = |(d, low): (&f64, &f64)| (center - d - low).abs() * reach;
    if away.iter().zip(qy).map(off).fold(0.0, f64::max) > 1e-11 {
        return None;
    }
    // A centre of the size of rounding errors is 0.
    let center = if (center * reach).abs() < 1e-12 {
        0.0
    } else {
        center
    };
    Some((center, away))
}

/// The runs of a grid, if all of them have symmetric pairs.
fn runs(nodes: &Nodes, grid: &QGrid) -> Option<Vec<Run>> {
    let reach = nodes.extent(1);
    grid.runs()
        .map(|(begin, len)| {
            let qx = grid.xy[begin][0];
            let qy: Vec<f64> = grid.xy[begin..begin + len].iter().map(|p| p[1]).collect();
            let (center, away) = about_center(&qy, reach).filter(|_| len > 1)?;
            let weights = if qx == 0.0 && center == 0.0 { 2 } else { 3 };
            Some(Run {
                begin,
                len,
                qx,
                center,
                away,
                weights,
            })
        })
        .collect()
}

/// Whether a grid is a tensor grid with symmetric q_y.
pub(in crate::mesh_form_factor) fn serves(nodes: &Nodes, grid: &QGrid) -> bool {
    runs(nodes, grid).is_some()
}

/// F on a grid, nm³; `None` if it is not a tensor grid with symmetric q_y.
pub(in crate::mesh_form_factor) fn pairs<T: Number>(
    surface: &Surface,
    grid: &QGrid,
    memory: u64,
    watch: &Watch,
) -> Option<Vec<Complex64>> {
    let runs = runs(&surface.nodes, grid)?;
    let mut out = vec![Complex64::ZERO; grid.len()];
    for run in &runs {
        one::<T>(surface, grid, run, memory, (&mut out, watch));
    }
    Some(out)
}

fn one<T: Number>(
    surface: &Surface,
    grid: &QGrid,
    run: &Run,
    memory: u64,
    (out, watch): (&mut [Complex64], &Watch),
) {
    let nodes = &surface.nodes;
    let each = std::mem::size_of::<T>() as u64;
    let sets = 2 * run.weights;
    let count = run.away.len();
    // Sums take half of the memory at most, factors the rest.
    let fit = (memory / 2 / each / (2 * count * sets) as u64).max(1);
    let columns = grid.z.len().min(HEIGHTS).min(fit as usize).max(1);
    let threads = rayon::current_num_threads() as u64;
    let node = each * (2 * columns as u64 + threads * (sets * PAIRS) as u64);
    let chunk = NODES.min((memory / 2 / node).max(1) as usize);
    let positions = grid.xy.len();
    for (part, heights) in grid.z.chunks(columns).enumerate() {
        let n = heights.len();
        let mut sums = vec![T::of(0.0); count * sets * 2 * n];
        let mut factor = vec![T::of(0.0); chunk * 2 * n];
        for from in (0..nodes.len()).step_by(chunk) {
            if watch.stopped() {
                return;
            }
            let range = from..nodes.len().min(from + chunk);
            let k = range.len();
            let factor = &mut factor[..k * 2 * n];
            waves(nodes, range.clone(), run, heights, factor);
            sums.par_chunks_mut(PAIRS * sets * 2 * n)
                .zip(run.away.par_chunks(PAIRS))
                .for_each_init(Vec::new, |left, (sums, away)| {
                    if watch.stopped() {
                        return;
                    }
                    left.resize(away.len() * sets * k, T::of(0.0));
                    weigh(nodes, range.clone(), run, away, left);
                    real(
                        (away.len() * sets, 2 * n, k),
                        left,
                        factor,
                        sums,
                        T::of(1.0),
                    );
                    let done = (2 * away.len() * n) as u64;
                    watch.tick(done * k as u64 / nodes.len() as u64);
                });
        }
        let rows = &mut out[part * columns * positions..(part * columns + n) * positions];
        let own = &grid.xy[run.begin..run.begin + run.len];
        rows.par_chunks_mut(positions)
            .zip(heights)
            .enumerate()
            .for_each_init(
                || [(); 2].map(|()| vec![[0.0; 2]; run.len]),
                |[along, up], (c, (row, z))| {
                    gather(run, &sums, (c, n), along, up);
                    let row = &mut row[run.begin..run.begin + run.len];
                    surface.row(own, *z, (along, up), row);
                },
            );
    }
}

/// Both sums at all positions for the c-th of n q_z.
fn gather<T: Number>(
    run: &Run,
    sums: &[T],
    (c, n): (usize, usize),
    along: &mut [[f64; 2]],
    up: &mut [[f64; 2]],
) {
    let sets = 2 * run.weights;
    let count = run.away.len();
    for (p, d) in run.away.iter().enumerate() {
        let block = p / PAIRS * PAIRS;
        let width = PAIRS.min(count - block);
        let own = &sums[block * sets * 2 * n..];
        let at = |set: usize| {
            let i = (set * width + p - block) * 2 * n + 2 * c;
            [own[i].wide(), own[i + 1].wide()]
        };
        // The sum with cosines ± i times the sum with sines of a weight.
        let both = |w: usize, sign: f64| {
            let (a, b) = (at(2 * w), at(2 * w + 1));
            [a[0] - sign * b[1], a[1] + sign * b[0]]
        };
        for (sign, j) in [(1.0, run.len - 1 - p), (-1.0, p)] {
            let [re, im] = both(0, sign);
            along[j] = [sign * d * re, sign * d * im];
            if run.weights > 2 {
                let [re, im] = both(2, sign);
                along[j][0] += re;
                along[j][1] += im;
            }
            up[j] = both(1, sign);
        }
    }
}

/// P of nodes (rows) and q_z, real and imaginary parts interleaved; with e^{iq·c}, except for its factor with d, which
/// `weigh` includes.
fn waves<T: Number>(
    nodes: &Nodes,
    range: Range<usize>,
    run: &Run,
    heights: &[Complex64],
    to: &mut [T],
) {
    let n = heights.len();
    let kernels = Kernels::best();
    let c = nodes.centre;
    to.par_chunks_mut(2 * n)
        .zip(&nodes.position[range])
        .for_each_init(
            || [(); 4].map(|()| vec![0.0; n]),
            |[turns, size, re, im], (to, r)| {
                let along = run.qx * (r[0] + c[0]) + run.center * (r[1] + c[1]);
                let up = r[2] + c[2];
                for ((t, s), z) in turns.iter_mut().zip(size.iter_mut()).zip(heights) {
                    *t = (along + z.re * up) / TAU;
                    *s = -z.im * LOG2_E * up;
                }
                kernels.waves(turns, size, re, im);
                for (to, (re, im)) in to.chunks_mut(2).zip(re.iter().zip(im.iter())) {
                    (to[0], to[1]) = (T::of(*re), T::of(*im));
                }
            },
        );
}

/// Cosine and sine of d y times each weight: [set][pair][node].
fn weigh<T: Number>(nodes: &Nodes, range: Range<usize>, run: &Run, away: &[f64], to: &mut [T]) {
    let k = range.len();
    let kernels = Kernels::best();
    let (mut turns, none) = (vec![0.0; k], vec![0.0; k]);
    let (mut cosine, mut sine) = (vec![0.0; k], vec![0.0; k]);
    let strengths = &nodes.strength[range.clone()];
    for (p, d) in away.iter().enumerate() {
        for (t, r) in turns.iter_mut().zip(&nodes.position[range.clone()]) {
            *t = d * (r[1] + nodes.centre[1]) / TAU;
        }
        kernels.waves(&turns, &none, &mut cosine, &mut sine);
        for weight in 0..run.weights {
            let first = (2 * weight * away.len() + p) * k;
            let (a, b) = to[first..].split_at_mut(away.len() * k);
            for (i, s) in strengths.iter().enumerate() {
                let w = match weight {
                    0 => s[1],
                    1 => s[2],
                    _ => run.qx * s[0] + run.center * s[1],
                };
                a[i] = T::of(w * cosine[i]);
                b[i] = T::of(w * sine[i]);
            }
        }
    }
}
