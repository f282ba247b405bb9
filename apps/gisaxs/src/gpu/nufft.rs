//! The nonuniform FFT on a tensor grid: nodes are spread onto a small grid of cells, which is transformed by a matrix
//! product.

use super::Device;
use super::gemm::Multiply;
use super::grid_of_threads as blocks;
use super::route::{Data, Route};
use super::spread;
use crate::mesh_form_factor::{Axis, Cells};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Module};
use std::sync::Arc;

/// The nonuniform FFT on a tensor grid.
pub(super) struct Nufft {
    spread: Function,
    waves: Function,
    along: Function,
    multiply: Multiply,
    cells: Arc<Cells>,
    rule: Memory,
    points: usize,
    /// The integers of each cell: those of all groups, if they were given, else of one group.
    sums: Memory,
    given: bool,
    zeros: Memory,
    /// Factors of the q_y over the cells in y.
    phases: Memory,
}

impl Nufft {
    /// `given`: the nodes, spread; without it the nodes on the GPU are spread for each group.
    pub fn new(
        device: &Device,
        data: &Data,
        (cells, given): (Arc<Cells>, Option<&[i64]>),
        grid: &Module,
    ) -> Result<Self, CudaError> {
        let rule: Vec<f64> = cells
            .window
            .quadrature()
            .iter()
            .flat_map(|(t, w)| [*t, *w])
            .collect();
        let each = 8 * cells.each();
        let (sums, zeros) = match given {
            Some(given) => (spread::upload(device, given)?, device.session.alloc(0)?),
            None => (
                device.session.alloc(each)?,
                device.session.kept(&vec![0; each])?,
            ),
        };
        Ok(Self {
            spread: grid.function("spread")?,
            waves: grid.function("waves")?,
            along: grid.function("along")?,
            multiply: Multiply::new(device, data, cells.z.cells, grid)?,
            points: rule.len() / 2,
            rule: device.session.doubles(&rule)?,
            sums,
            given: given.is_some(),
            zeros,
            phases: device.session.alloc(16 * cells.y.cells * data.most)?,
            cells,
        })
    }

    /// Enqueues the factors of q over the cells of an axis, in double precision (`wide`) or as factors of the product
    /// (`narrow`).
    ///
    /// # Safety
    /// One of `wide` and `narrow` must be memory for `count` times the number of cells; the other is 0.
    unsafe fn phases(
        &self,
        (count, q, complex): (usize, &Memory, bool),
        axis: &Axis,
        shift: f64,
        (wide, narrow): (Arg, Arg),
    ) -> Result<(), CudaError> {
        // SAFETY: arguments in the order that grid.cu gives; the caller's promise.
        unsafe {
            self.waves.call(
                &blocks(count, 8),
                &[
                    count.into(),
                    q.into(),
                    Arg::Int(complex.into()),
                    axis.center.into(),
                    axis.start.into(),
                    axis.step.into(),
                    Arg::Int(self.cells.window.width as i32),
                    Arg::Int(self.points as i32),
                    (&self.rule).into(),
                    shift.into(),
                    axis.cells.into(),
                    wide,
                    narrow,
                ],
            )
        }
    }
}

impl Route for Nufft {
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError> {
        let g = &data.groups[n];
        let ny = g.len();
        let (y, z) = (&self.cells.y, &self.cells.z);
        let [cx, cy, cz] = data.centre;
        let none = Arg::At(0);
        let own = if self.given {
            Arg::At(self.sums.address() + (8 * n * self.cells.each()) as u64)
        } else {
            (&self.sums).into()
        };
        // SAFETY: arguments in the order that grid.cu gives; arrays have the sizes that it indexes, by
        // `new`.
        unsafe {
            if !self.given {
                self.sums.copy_from(&self.zeros)?;
                let nodes = (data.count, &*data.nodes);
                spread::enqueue(&self.spread, nodes, (&self.cells, g.qx), own)?;
            }
            if n == 0 {
                let to = (none, (&self.multiply.columns).into());
                self.phases((data.nz, &data.qz, true), z, cz, to)?;
            }
            self.phases((ny, &g.qy, false), y, cy, ((&self.phases).into(), none))?;
            self.along.call(
                &blocks(ny, z.cells),
                &[
                    y.cells.into(),
                    z.cells.into(),
                    own,
                    self.cells.unit.into(),
                    ny.into(),
                    (&g.qy).into(),
                    g.qx.into(),
                    cx.into(),
                    (&self.phases).into(),
                    (&self.multiply.rows[0]).into(),
                    (&self.multiply.rows[1]).into(),
                ],
            )?;
            self.multiply.enqueue(data, g, z.cells, [0.0; 3])
        }
    }
}
