//! The product way: on a tensor grid e^{iq·r} is a row factor times a column factor, so that sums over
//! nodes are products of two matrices. Rows of a detector differ by a little; blocks of them share their
//! factors, with the difference as a Taylor series whose powers come out of the sum.

use super::direct::Precision;
use super::moments::Moments;
use super::sheet::Sheet;
use super::{Nodes, Watch, finish};
use crate::Q;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::{Complex, Complex32, Complex64};
use rayon::prelude::*;

/// out (m × n) += or = a (m × k) b (k × n), rows contiguous, on one thread.
fn gemm<T: ComplexField>(
    (m, n, k): (usize, usize, usize),
    a: &[T],
    b: &[T],
    (out, how): (&mut [T], Accum),
    one: T,
) {
    matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        how,
        MatRef::from_row_major_slice(a, m, k),
        MatRef::from_row_major_slice(b, k, n),
        one,
        Par::Seq,
    );
}

/// out (m × n) = a (m × k) b (k × n), rows contiguous, on one thread.
pub(super) fn multiply(
    m: usize,
    n: usize,
    k: usize,
    a: &[Complex64],
    b: &[Complex64],
    out: &mut [Complex64],
) {
    gemm((m, n, k), a, b, (out, Accum::Replace), Complex64::ONE);
}

trait Number: ComplexField + Copy + Send + Sync {
    fn of(z: Complex64) -> Self;
    fn wide(self) -> Complex64;
    fn scaled(self, by: f64) -> Self;
}

impl Number for Complex64 {
    fn of(z: Complex64) -> Self {
        z
    }
    fn wide(self) -> Complex64 {
        self
    }
    fn scaled(self, by: f64) -> Self {
        self * by
    }
}

impl Number for Complex32 {
    fn of(z: Complex64) -> Self {
        Complex::new(z.re as f32, z.im as f32)
    }
    fn wide(self) -> Complex64 {
        Complex64::new(self.re.into(), self.im.into())
    }
    fn scaled(self, by: f64) -> Self {
        self * by as f32
    }
}

/// Places along the surface of one product.
const PLACES: usize = 64;
/// Nodes of one product: its factors stay in the second cache, and sums of single precision short.
const NODES: usize = 512;
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

/// Most powers of a block of rows; with more, blocks are cut smaller.
const POWERS: usize = 3;

/// F of each sheet by matrix products. `memory` bounds the bytes of their factors.
pub(super) fn products(
    nodes: &Nodes,
    sheets: &[Sheet],
    precision: Precision,
    accuracy: f64,
    memory: u64,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let families = families(nodes, sheets, accuracy);
    let moments = Moments::new(nodes);
    let out: Vec<Vec<Vec<Complex64>>> = families
        .par_iter()
        .map(|f| match precision {
            Precision::Single => family::<Complex32>(nodes, &moments, f, memory, watch),
            Precision::Double => family::<Complex64>(nodes, &moments, f, memory, watch),
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
    let (first, last) = (&sheets[0].xy, &sheets[sheets.len() - 1].xy);
    if sheets.len() == 1 {
        return Some(Family {
            sheets,
            base: first.clone(),
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

fn family<T: Number>(
    nodes: &Nodes,
    moments: &Moments,
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
    // Factors of a product: rows and columns times nodes.
    let each = std::mem::size_of::<T>() as u64;
    let threads = rayon::current_num_threads() as u64;
    let room = (memory / threads / each / (COLUMNS as u64 + 9 * PLACES as u64)).max(1);
    let chunk = NODES.min(room as usize);
    let columns = heights.len().min(COLUMNS);
    let sets = 3 * f.powers;
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
    for (part, some) in heights.chunks(columns.max(1)).enumerate() {
        let n = some.len();
        let values: Vec<Vec<Complex64>> = f
            .base
            .par_chunks(PLACES)
            .zip(f.along.par_chunks(PLACES))
            .map(|(base, along)| {
                let mut wide = vec![Complex64::ZERO; base.len() * sets * n];
                if watch.stopped() {
                    return wide;
                }
                let mut sum = vec![T::of(Complex64::ZERO); base.len() * sets * n];
                let mut left = vec![T::of(Complex64::ZERO); base.len() * sets * chunk];
                let mut right = vec![T::of(Complex64::ZERO); chunk * n];
                for (places, strengths) in
                    nodes.place.chunks(chunk).zip(nodes.strength.chunks(chunk))
                {
                    let k = places.len();
                    for (r, row) in places.iter().zip(right.chunks_mut(n)) {
                        for ((_, z), b) in some.iter().zip(row) {
                            *b = T::of(Complex64::from_polar((-z.im * r[2]).exp(), z.re * r[2]));
                        }
                    }
                    for (j, (p, d)) in base.iter().zip(along).enumerate() {
                        for (t, (r, s)) in places.iter().zip(strengths).enumerate() {
                            let wave = Complex64::from_polar(1.0, p[0] * r[0] + p[1] * r[1]);
                            let mut w = T::of(wave);
                            let step = d[0] * r[0] + d[1] * r[1];
                            for power in 0..f.powers {
                                for (m, s) in s.iter().enumerate() {
                                    left[((power * 3 + m) * base.len() + j) * k + t] = w.scaled(*s);
                                }
                                w = w.scaled(step / (power + 1) as f64);
                            }
                        }
                    }
                    let m = base.len() * sets;
                    gemm(
                        (m, n, k),
                        &left[..m * k],
                        &right[..k * n],
                        (&mut sum, Accum::Replace),
                        T::of(Complex64::ONE),
                    );
                    for (a, b) in wide.iter_mut().zip(&sum) {
                        *a += b.wide();
                    }
                }
                watch.tick((base.len() * n) as u64);
                wide
            })
            .collect();
        for (block, values) in values.iter().enumerate() {
            let begin = block * PLACES;
            let rows = PLACES.min(f.base.len() - begin);
            for (c, &(sheet, z)) in some.iter().enumerate() {
                let s = &f.sheets[sheet];
                let level = part * columns + c - starts[sheet];
                for j in 0..rows {
                    let [x, y] = s.xy[begin + j];
                    let q = Q { x, y, z };
                    let to = &mut out[sheet][level * s.xy.len() + begin + j];
                    *to = nodes.shift(&q)
                        * if moments.serve(&q) {
                            moments.at(&q)
                        } else {
                            let mut sums = [Complex64::ZERO; 3];
                            // (iη)^p
                            let mut scale = Complex64::ONE;
                            for power in 0..f.powers {
                                for (m, sum) in sums.iter_mut().enumerate() {
                                    *sum += scale * values[((power * 3 + m) * rows + j) * n + c];
                                }
                                scale *= Complex64::I * f.eta[sheet];
                            }
                            finish(&q, sums[0] * x + sums[1] * y + z.conj() * sums[2])
                        };
                }
            }
        }
    }
    out
}
