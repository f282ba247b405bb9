//! Sums on a tensor grid as a product of two matrices of complex numbers, on ordinary arithmetic units.

use super::Device;
use super::grid::{Data, Group, Route};
use super::launch::{Arg, launch, sheet as blocks};
use greenup_device::cuda::{CudaError, Function, Memory, Module, Shape};

/// Multiplies the factors and makes F of it.
pub(super) struct Multiply {
    product: Function,
    /// Factors of the places, for both sums: [term][q_y].
    pub rows: [Memory; 2],
    /// Factors of the heights: [term][q_z].
    pub columns: Memory,
    sums: Memory,
}

impl Multiply {
    /// For so many terms.
    pub fn new(
        device: &Device,
        data: &Data,
        terms: usize,
        grid: &Module,
    ) -> Result<Self, CudaError> {
        let memory = |n: usize| device.session.alloc(data.pair() * n);
        Ok(Self {
            product: grid.function("product")?,
            rows: [memory(terms * data.most)?, memory(terms * data.most)?],
            columns: memory(terms * data.nz)?,
            sums: memory(2 * data.most * data.nz)?,
        })
    }

    /// F of a group from its factors, in which the shift is not.
    ///
    /// # Safety
    /// The factors hold so many terms.
    pub unsafe fn enqueue(
        &self,
        data: &Data,
        g: &Group,
        terms: usize,
        shift: [f64; 3],
    ) -> Result<(), CudaError> {
        let (ny, nz) = (g.len(), data.nz);
        let tiles = Shape {
            grid: [ny.div_ceil(64) as u32, nz.div_ceil(64) as u32, 1],
            block: [16, 16, 1],
            shared: 0,
        };
        let [x, y, z] = shift.map(Arg::from);
        // SAFETY: arguments in the order that grid.cu gives; arrays have the sizes that it indexes, by
        // `new` and the caller's promise.
        unsafe {
            launch(
                &self.product,
                &tiles,
                &[
                    terms.into(),
                    ny.into(),
                    (&self.rows[0]).into(),
                    (&self.rows[1]).into(),
                    nz.into(),
                    (&self.columns).into(),
                    (&g.qy).into(),
                    (&data.qz).into(),
                    g.qx.into(),
                    x,
                    y,
                    z,
                    (&self.sums).into(),
                    data.out(g),
                ],
            )
        }
    }
}

pub(super) struct Product {
    rows: Function,
    columns: Function,
    multiply: Multiply,
}

impl Product {
    pub fn new(device: &Device, data: &Data, grid: &Module) -> Result<Self, CudaError> {
        Ok(Self {
            rows: grid.function("rows")?,
            columns: grid.function("columns")?,
            multiply: Multiply::new(device, data, data.count, grid)?,
        })
    }
}

impl Route for Product {
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError> {
        let g = &data.groups[n];
        let (ny, nz, count) = (g.len(), data.nz, data.count);
        // SAFETY: as of `Multiply::enqueue`.
        unsafe {
            launch(
                &self.rows,
                &blocks(ny, count),
                &[
                    count.into(),
                    (&data.nodes).into(),
                    ny.into(),
                    (&g.qy).into(),
                    g.qx.into(),
                    (&self.multiply.rows[0]).into(),
                    (&self.multiply.rows[1]).into(),
                ],
            )?;
            if n == 0 {
                launch(
                    &self.columns,
                    &blocks(nz, count),
                    &[
                        count.into(),
                        (&data.nodes).into(),
                        nz.into(),
                        (&data.qz).into(),
                        (&self.multiply.columns).into(),
                    ],
                )?;
            }
            self.multiply.enqueue(data, g, count, data.centre)
        }
    }
}
