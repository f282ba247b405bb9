//! Sums on a tensor grid as a product of two complex matrices, without tensor cores.

use super::Device;
use super::grid_of_threads as blocks;
use super::route::{Data, Group, Route};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Module, Shape};

/// Multiplies the factors and computes F.
pub(super) struct Multiply {
    product: Function,
    /// Factors of the positions for both sums: [term][q_y].
    pub rows: [Memory; 2],
    /// Factors of the q_z: [term][q_z].
    pub columns: Memory,
    sums: Memory,
}

impl Multiply {
    /// Allocates memory for products over `terms` terms.
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

    /// Enqueues F of a group from its factors, times e^{iq·shift}.
    ///
    /// # Safety
    /// The factors must hold `terms` terms.
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
            self.product.call(
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

/// The GEMM method on a tensor grid.
pub(super) struct Gemm {
    rows: Function,
    columns: Function,
    multiply: Multiply,
}

impl Gemm {
    pub fn new(device: &Device, data: &Data, grid: &Module) -> Result<Self, CudaError> {
        Ok(Self {
            rows: grid.function("rows")?,
            columns: grid.function("columns")?,
            multiply: Multiply::new(device, data, data.count, grid)?,
        })
    }
}

impl Route for Gemm {
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError> {
        let g = &data.groups[n];
        let (ny, nz, count) = (g.len(), data.nz, data.count);
        // SAFETY: as of `Multiply::enqueue`.
        unsafe {
            self.rows.call(
                &blocks(ny, count),
                &[
                    count.into(),
                    (&*data.nodes).into(),
                    ny.into(),
                    (&g.qy).into(),
                    g.qx.into(),
                    (&self.multiply.rows[0]).into(),
                    (&self.multiply.rows[1]).into(),
                ],
            )?;
            if n == 0 {
                self.columns.call(
                    &blocks(nz, count),
                    &[
                        count.into(),
                        (&*data.nodes).into(),
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
