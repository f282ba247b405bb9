//! The product way: on a tensor grid e^{iq·r} is a row factor times a column factor, so that sums over
//! nodes are products of two matrices. Rows of a detector differ by a little; blocks of them share their
//! factors, with the difference as a Taylor series whose powers come out of the sum.

use super::direct::Precision;
use super::kernels::Kernels;
use super::sheet::Sheet;
use super::{Nodes, Surface, Watch};
use crate::Q;
use faer::linalg::matmul::matmul;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};

/// A complex product as a real one, which libraries do best: out (m × 2n, interleaved) = [Re a, Im a]
/// (m × 2k) times [b; ib] (2k × 2n, interleaved), rows contiguous, on one thread.
fn gemm<T: RealField + Copy>(
    (m, n, k): (usize, usize, usize),
    a: &[T],
    b: &[T],
    (out, how): (&mut [T], Accum),
    one: T,
) {
    matmul(
        MatMut::from_row_major_slice_mut(out, m, 2 * n),
        how,
        MatRef::from_row_major_slice(a, m, 2 * k),
        MatRef::from_row_major_slice(b, 2 * k, 2 * n),
        one,
        Par::Seq,
    );
}

/// The right factor of [`multiply`], k × n: made once for many products.
pub(super) struct Right {
    k: usize,
    n: usize,
    packed: Vec<f64>,
}

impl Right {
    pub fn new(k: usize, n: usize, b: &[Complex64]) -> Self {
        let mut packed = Vec::with_capacity(4 * k * n);
        packed.extend(b.iter().flat_map(|z| [z.re, z.im]));
        packed.extend(b.iter().flat_map(|z| [-z.im, z.re]));
        Self { k, n, packed }
    }
}

/// Room for products, used again and again: fresh pages would cost more than the products.
#[derive(Default)]
pub(super) struct Scratch {
    left: Vec<f64>,
    out: Vec<f64>,
}

/// a (m × k) b (k × n), rows contiguous, on one thread; real and imaginary parts in turn.
pub(super) fn multiply<'a>(
    m: usize,
    a: &[Complex64],
    b: &Right,
    scratch: &'a mut Scratch,
) -> &'a [[f64; 2]] {
    scratch.left.clear();
    for row in a.chunks(b.k.max(1)).take(m) {
        scratch.left.extend(row.iter().map(|z| z.re));
        scratch.left.extend(row.iter().map(|z| z.im));
    }
    scratch.out.resize(2 * m * b.n, 0.0);
    let out = &mut scratch.out[..2 * m * b.n];
    gemm(
        (m, b.n, b.k),
        &scratch.left,
        &b.packed,
        (out, Accum::Replace),
        1.0,
    );
    out.as_chunks().0
}

trait Number: RealField + Copy + Send + Sync {
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
const NODES: usize = 1024;
/// Columns (q_z of all its sheets) of one product.
const COLUMNS: usize = 1024;

/// Sheets whose places are those of the first, moved by η times a field of directions.
struct Family<'a> {
    sheets: &'a [Sheet],
    /// Of the first sheet and of the direction.
    base: Vec<[f64; 2]>,
    along: Vec<[f64; 2]>,
    /// η of each sheet, within ±1.
    eta: Vec<f64>,
    /// Powers of η kept.
    powers: usize,
}

impl Family<'_> {
    /// Sums of each power: q*·n over base and z, and over the direction where there is one.
    fn kinds(&self) -> usize {
        if self.sheets.len() > 1 { 3 } else { 2 }
    }
}

/// Most powers of a block of rows; with more, blocks are cut smaller.
const POWERS: usize = 3;

/// F of each sheet by matrix products. `memory` bounds the bytes of their factors.
pub(super) fn products(
    surface: &Surface,
    sheets: &[Sheet],
    precision: Precision,
    accuracy: f64,
    memory: u64,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let families = families(&surface.nodes, sheets, accuracy);
    let out: Vec<Vec<Vec<Complex64>>> = families
        .par_iter()
        .map(|f| match precision {
            Precision::Single => family::<f32>(surface, f, memory, watch),
            Precision::Double => family::<f64>(surface, f, memory, watch),
        })
        .collect();
    (!watch.stopped()).then(|| out.concat())
}

/// The longest runs of sheets that a few powers serve.
fn families<'a>(nodes: &Nodes, sheets: &'a [Sheet], accuracy: f64) -> Vec<Family<'a>> {
    let mut out = Vec::new();
    let mut rest = sheets;
    while !rest.is_empty() {
        let mut n = rest.len().min(128);
        let found = loop {
            if let Some(f) = together(nodes, &rest[..n], accuracy) {
                break f;
            }
            n = n.div_ceil(2);
        };
        rest = &rest[found.sheets.len()..];
        out.push(found);
    }
    out
}

/// These sheets as a family, if few enough powers do and they are one at all; one sheet always is.
fn together<'a>(nodes: &Nodes, sheets: &'a [Sheet], accuracy: f64) -> Option<Family<'a>> {
    let (first, last) = (&sheets[0].xy[..], &sheets[sheets.len() - 1].xy[..]);
    if sheets.len() == 1 {
        return Some(Family {
            sheets,
            base: first.to_vec(),
            along: vec![[0.0; 2]; first.len()],
            eta: vec![0.0],
            powers: 1,
        });
    }
    if first.len() != last.len() {
        return None;
    }
    let mid = |a: f64, b: f64| (0.5 * (a + b), 0.5 * (b - a));
    let (mut base, mut along) = (Vec::new(), Vec::new());
    let mut longest = 0.0_f64;
    for (a, b) in first.iter().zip(last) {
        let (x, y) = (mid(a[0], b[0]), mid(a[1], b[1]));
        base.push([x.0, y.0]);
        along.push([x.1, y.1]);
        longest = longest.max(x.1.hypot(y.1));
    }
    let mut eta = Vec::new();
    for s in sheets {
        if s.xy.len() != base.len() {
            return None;
        }
        // The η that serves the place with the longest way best, then all must agree.
        let (mut up, mut down) = (0.0, 0.0);
        for ((p, b), d) in s.xy.iter().zip(&base).zip(&along) {
            up += (p[0] - b[0]) * d[0] + (p[1] - b[1]) * d[1];
            down += d[0] * d[0] + d[1] * d[1];
        }
        let e = if down > 0.0 { up / down } else { 0.0 };
        let off =
            s.xy.iter()
                .zip(&base)
                .zip(&along)
                .map(|((p, b), d)| (p[0] - b[0] - e * d[0]).hypot(p[1] - b[1] - e * d[1]))
                .fold(0.0, f64::max);
        if off * nodes.reach > 0.1 * accuracy {
            return None;
        }
        eta.push(e);
    }
    let phase = longest * nodes.reach;
    let mut term = 1.0;
    for powers in 1..=POWERS {
        term *= phase / powers as f64;
        if term <= accuracy {
            return Some(Family {
                sheets,
                base,
                along,
                eta,
                powers,
            });
        }
    }
    None
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
