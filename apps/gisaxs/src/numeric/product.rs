//! Complex matrix products, rows contiguous.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::{Complex, Complex64};

/// out (m × n) = a (m × k) b (k × n), on one thread.
pub(super) fn multiply(m: usize, n: usize, k: usize, a: &[Complex64], b: &[Complex64], out: &mut [Complex64]) {
    matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(a, m, k),
        MatRef::from_row_major_slice(b, k, n),
        Complex64::ONE,
        Par::Seq,
    );
}

/// The same in single precision, added to `out`.
pub(super) fn add_product(
    m: usize,
    n: usize,
    k: usize,
    a: &[Complex<f32>],
    b: &[Complex<f32>],
    out: &mut [Complex<f32>],
) {
    matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        Accum::Add,
        MatRef::from_row_major_slice(a, m, k),
        MatRef::from_row_major_slice(b, k, n),
        Complex::<f32>::ONE,
        Par::Seq,
    );
}
