//! Complex matrix products as real ones, for which libraries are fastest.

use faer::linalg::matmul::matmul;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::Complex64;

/// out (m × 2n, interleaved) = [Re a, Im a] (m × 2k) times [b; ib] (2k × 2n, interleaved), row-major, on one thread.
pub(in crate::mesh_form_factor) fn gemm<T: RealField + Copy>(
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

/// out (m × n) += a (m × k) b (k × n), all real, row-major, on one thread.
pub(in crate::mesh_form_factor) fn real<T: RealField + Copy>(
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

/// The right factor of [`multiply`], k × n, packed once for many products.
pub(in crate::mesh_form_factor) struct Right {
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

/// Buffers for products, reused: newly mapped memory would cost more time than the products.
#[derive(Default)]
pub(in crate::mesh_form_factor) struct Scratch {
    left: Vec<f64>,
    out: Vec<f64>,
}

/// a (m × k) b (k × n), row-major, on one thread; the result has real and imaginary parts interleaved.
pub(in crate::mesh_form_factor) fn multiply<'a>(
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
