//! Matrices in panels of rows, the input of `matrix.c`.

use crate::precision::{Kernels, Real};
use faer::Mat;
use greenup_device::Buffer;

/// A matrix in panels.
pub(crate) struct Packed<R: Real> {
    pub rows: usize,
    pub columns: usize,
    numbers: Buffer<R>,
}

impl<R: Real> Packed<R> {
    pub fn of(m: &Mat<f64>, panel: usize) -> Self {
        let (rows, columns) = (m.nrows(), m.ncols());
        let numbers = Buffer::from_fn(rows.div_ceil(panel) * panel * columns, |i| {
            let (block, rest) = (i / (panel * columns), i % (panel * columns));
            let (row, column) = (block * panel + rest % panel, rest / panel);
            R::of(if row < rows { m[(row, column)] } else { 0.0 })
        });
        Self {
            rows,
            columns,
            numbers,
        }
    }

    /// Row by row, without padding.
    pub fn dense(&self, panel: usize) -> Vec<R> {
        let n = self.numbers.as_slice();
        (0..self.rows * self.columns)
            .map(|i| {
                let (row, column) = (i / self.columns, i % self.columns);
                n[(row / panel) * panel * self.columns + column * panel + row % panel]
            })
            .collect()
    }

    /// y (+)= A x for many x.
    ///
    /// # Safety
    /// Each x points to [`Self::columns`] values, each y to [`Self::rows`] values that no other thread uses.
    pub unsafe fn apply(&self, kernels: &Kernels<R>, x: &[*const R], y: &[*mut R], add: bool) {
        debug_assert_eq!(x.len(), y.len());
        // SAFETY: the caller's promise; the panels are as large as rows and columns say.
        unsafe {
            (kernels.apply)(
                self.rows as _,
                self.columns as _,
                self.numbers.as_slice().as_ptr(),
                x.len() as _,
                x.as_ptr(),
                y.as_ptr(),
                i32::from(add),
            );
        }
    }
}
