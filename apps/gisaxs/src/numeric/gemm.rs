//! Complex matrix products as real ones, which libraries do best.

use faer::linalg::matmul::matmul;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::Complex64;

/// out (m × 2n, interleaved) = [Re a, Im a]
/// (m × 2k) times [b; ib] (2k × 2n, interleaved), rows contiguous, on one thread.
pub(super) fn gemm<T: RealField + Copy>(
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

/// out (m × n) += a (m × k) b (k × n), all real, rows contiguous, on one thread.
pub(super) fn real<T: RealField + Copy>(
    (m, n, k): (usize, usize, usize),
    a: &[T],
    b: &[T],
    out: &mut [T],
    one: T,
) {
    matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        Accum::Add,
        MatRef::from_row_major_slice(a, m, k),
        MatRef::from_row_major_slice(b, k, n),
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
