//! The product way: on a tensor grid e^{iq·r} is a row factor times a column factor, so that sums over
//! nodes are products of two matrices. Rows of a detector differ by a little; blocks of them share their
//! factors, with the difference as a Taylor series whose powers come out of the sum.

use super::direct::Precision;
use super::family::{Family, POWERS, families};
use super::gemm::gemm;
use super::kernels::Kernels;
use super::pairs::pairs;
use super::sheet::Sheet;
use super::{Surface, Watch};
use crate::Q;
use faer::Accum;
use faer::traits::RealField;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};

pub(super) trait Number: RealField + Copy + Send + Sync {
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

/// Places along the surface of one product.
const PLACES: usize = 64;
/// Nodes of one product.
pub(super) const NODES: usize = 1024;
/// Columns (q_z of all its sheets) of one product.
const COLUMNS: usize = 1024;

/// F of each sheet by matrix products. `memory` bounds the bytes of their factors
/// and sums.
pub(super) fn products(
    surface: &Surface,
    sheets: &[Sheet],
    precision: Precision,
    accuracy: f64,
    memory: u64,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    if let [sheet] = sheets {
        let out = match precision {
            Precision::Single => pairs::<f32>(surface, sheet, memory, watch),
            Precision::Double | Precision::Split => pairs::<f64>(surface, sheet, memory, watch),
        };
        if let Some(out) = out {
            return (!watch.stopped()).then(|| vec![out]);
        }
    }
    let families = families(&surface.nodes, sheets, accuracy);
    // As many families at once as there are threads share what there is.
    let at_once = rayon::current_num_threads().min(families.len()).max(1);
    let memory = memory / at_once as u64;
    let out: Vec<Vec<Vec<Complex64>>> = families
        .par_iter()
        .map(|f| match precision {
            Precision::Single => family::<f32>(surface, f, memory, watch),
            Precision::Double | Precision::Split => family::<f64>(surface, f, memory, watch),
        })
        .collect();
    (!watch.stopped()).then(|| out.concat())
}

/// Phases of e^{i(x, y)·r} and its powers of the Taylor series for some places: [set][place][Re of all
/// nodes, Im of all nodes], sets being power × (base, along, z) of q*·n.
fn left<T: Number>(
    f: &Family,
    (base, along): (&[[f64; 2]], &[[f64; 2]]),
    (places, strengths): (&[[f64; 3]], &[[f64; 3]]),
    to: &mut [T],
) {
    let k = places.len();
    let kernels = Kernels::best();
    let (mut turns, none) = (vec![0.0; k], vec![0.0; k]);
    let (mut re, mut im) = (vec![0.0; k], vec![0.0; k]);
    let kinds = f.kinds();
    for (j, (p, d)) in base.iter().zip(along).enumerate() {
        for (t, r) in turns.iter_mut().zip(places) {
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
            for (t, r) in places.iter().enumerate() {
                let step = (d[0] * r[0] + d[1] * r[1]) / (power + 1) as f64;
                re[t] *= step;
                im[t] *= step;
            }
        }
    }
}

/// e^{i q_z z} of nodes (rows) and q_z, interleaved, and below it i times that.
fn right<T: Number>(places: &[[f64; 3]], heights: &[(usize, Complex64)], to: &mut [T]) {
    let n = heights.len();
    let kernels = Kernels::best();
    let (first, second) = to.split_at_mut(places.len() * 2 * n);
    let turns: Vec<f64> = heights.iter().map(|h| h.1.re / TAU).collect();
    let loss: Vec<f64> = heights.iter().map(|h| -h.1.im * LOG2_E).collect();
    first
        .par_chunks_mut(2 * n)
        .zip(second.par_chunks_mut(2 * n))
        .zip(places)
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

/// Bytes of the smallest tile: sums of all places at one q_z, and factors of one node.
pub(super) fn least(places: u64, real: u64, threads: u64) -> u64 {
    let sets = 3 * POWERS as u64;
    2 * real * (2 * places * sets) + 2 * real * (4 + 2 * threads * sets * PLACES as u64)
}

fn family<T: Number>(
    surface: &Surface,
    f: &Family,
    memory: u64,
    watch: &Watch,
) -> Vec<Vec<Complex64>> {
    let heights: Vec<(usize, Complex64)> = f
        .sheets
        .iter()
        .enumerate()
        .flat_map(|(n, s)| s.z.iter().map(move |z| (n, *z)))
        .collect();
    let nodes = &surface.nodes;
    let kinds = f.kinds();
    let sets = kinds * f.powers;
    let each = std::mem::size_of::<T>() as u64;
    let threads = rayon::current_num_threads() as u64;
    // The sums of all places times columns take half of the memory at most, the factors the rest.
    let rows = (f.base.len() * sets) as u64;
    let fit = (memory / 2 / each / (2 * rows).max(1)).max(1);
    let columns = heights.len().min(COLUMNS).min(fit as usize).max(1);
    let node = each * (4 * columns as u64 + 2 * threads * (sets * PLACES) as u64);
    let chunk = NODES.min((memory / 2 / node).max(1) as usize);
    let mut out: Vec<Vec<Complex64>> = f
        .sheets
        .iter()
        .map(|s| vec![Complex64::ZERO; s.len()])
        .collect();
    let mut starts = Vec::new();
    let mut before = 0;
    for s in f.sheets {
        starts.push(before);
        before += s.z.len();
    }
    for (part, some) in heights.chunks(columns).enumerate() {
        let n = some.len();
        let mut sums = vec![T::of(0.0); f.base.len() * sets * 2 * n];
        let mut factor = vec![T::of(0.0); chunk * 4 * n];
        for (places, strengths) in nodes.place.chunks(chunk).zip(nodes.strength.chunks(chunk)) {
            let k = places.len();
            let factor = &mut factor[..k * 4 * n];
            right(places, some, factor);
            sums.par_chunks_mut(PLACES * sets * 2 * n)
                .zip(f.base.par_chunks(PLACES).zip(f.along.par_chunks(PLACES)))
                .for_each_init(Vec::new, |first, (sums, (base, along))| {
                    if watch.stopped() {
                        return;
                    }
                    first.resize(base.len() * sets * 2 * k, T::of(0.0));
                    left(f, (base, along), (places, strengths), first);
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
            for (c, &(sheet, z)) in some.iter().enumerate() {
                let s = &f.sheets[sheet];
                let level = part * columns + c - starts[sheet];
                let eta = f.eta[sheet];
                for j in 0..rows {
                    let [x, y] = s.xy[begin + j];
                    let q = Q { x, y, z };
                    let to = &mut out[sheet][level * s.xy.len() + begin + j];
                    let at = |power: usize, kind: usize| {
                        let place = ((power * kinds + kind) * rows + j) * 2 * n + 2 * c;
                        Complex64::new(values[place].wide(), values[place + 1].wide())
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
