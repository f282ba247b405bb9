//! The nonuniform FFT on a tensor grid: nodes are spread onto a small grid of cells, which is transformed by a matrix
//! product.

use super::Device;
use super::gemm::Multiply;
use super::grid_of_threads as blocks;
use super::route::{Data, Route};
use crate::mesh_form_factor::{Axis, Extent, Surface, Window};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Module};

/// The nonuniform FFT on a tensor grid.
pub(super) struct Nufft {
    spread: Function,
    waves: Function,
    along: Function,
    multiply: Multiply,
    window: Window,
    y: Axis,
    z: Axis,
    rule: Memory,
    points: usize,
    cells: Memory,
    zeros: Memory,
    /// Factors of the q_y over the cells in y.
    phases: Memory,
}

impl Nufft {
    pub fn new(
        device: &Device,
        (surface, data): (&Surface, &Data),
        (extent, accuracy): (&Extent, f64),
        grid: &Module,
    ) -> Result<Self, CudaError> {
        let nodes = &surface.nodes;
        let window = Window::new(accuracy);
        let y = Axis::new(nodes.extent(1), extent.y, &window);
        let z = Axis::new(nodes.extent(2), extent.z, &window);
        let rule: Vec<f64> = window
            .quadrature()
            .iter()
            .flat_map(|(t, w)| [*t, *w])
            .collect();
        let cells = 48 * y.cells * z.cells;
        Ok(Self {
            spread: grid.function("spread")?,
            waves: grid.function("waves")?,
            along: grid.function("along")?,
            multiply: Multiply::new(device, data, z.cells, grid)?,
            points: rule.len() / 2,
            rule: device.session.doubles(&rule)?,
            cells: device.session.alloc(cells)?,
            zeros: device.session.doubles(&vec![0.0; cells / 8])?,
            phases: device.session.alloc(16 * y.cells * data.most)?,
            window,
            y,
            z,
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
                    Arg::Int(self.window.width as i32),
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
        let (y, z) = (&self.y, &self.z);
        let [cx, cy, cz] = data.centre;
        let none = Arg::At(0);
        self.cells.copy_from(&self.zeros)?;
        // SAFETY: arguments in the order that grid.cu gives; arrays have the sizes that it indexes, by
        // `new`.
        unsafe {
            self.spread.call(
                &blocks(data.count * self.window.width, 1),
                &[
                    data.count.into(),
                    (&data.nodes).into(),
                    g.qx.into(),
                    y.start.into(),
                    y.step.into(),
                    y.center.into(),
                    z.start.into(),
                    z.step.into(),
                    z.center.into(),
                    Arg::Int(self.window.width as i32),
                    self.window.beta.into(),
                    z.cells.into(),
                    (&self.cells).into(),
                ],
            )?;
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
                    (&self.cells).into(),
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
