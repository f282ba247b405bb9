//! Form factors computed by a device other than this CPU.

use super::nufft::{Layout, qx_of};
use super::{Cells, Extent, Method, Precision, QGrid, Surface, Watch, runs, zeros};
use crate::GisaxsError;
use greenup_device::cuda::{CudaError, Gpu};
use greenup_meter::{Measurement, Meter};
use num_complex::Complex64;
use serde::Serialize;
use std::fmt::Debug;
use std::ops::{AddAssign, Range};
use std::sync::Arc;

/// The form factor of a surface, as a device computes it. Nothing in it depends on which part of the q a device has, so
/// that digits do not depend on how q are shared.
#[derive(Clone, Debug)]
pub struct Request {
    /// The surface.
    pub surface: Arc<Surface>,
    /// The extent of all q of the work, of which a device may have a part.
    pub extent: Extent,
    /// Whether the q are a tensor grid, for which there are kernels of their own.
    pub tensor: bool,
    /// Method.
    pub method: Method,
    /// Precision of the direct and GEMM methods, and of the last products of the transform.
    pub precision: Precision,
    /// Accuracy relative to the volume.
    pub accuracy: f64,
    /// Memory on each device, bytes.
    pub memory: u64,
    /// The cells of the nonuniform FFT, if that is the method.
    pub(crate) cells: Option<Arc<Cells>>,
}

impl Request {
    /// The form factor of a surface at all q of some grids.
    pub fn new(
        surface: Arc<Surface>,
        grids: &[QGrid],
        (method, precision, accuracy): (Method, Precision, f64),
        memory: u64,
    ) -> Self {
        let extent = Extent::of(grids);
        let tensor = runs(grids).is_some();
        let nodes = &surface.nodes;
        let cells = (method == Method::Nufft).then(|| match grids {
            [grid] if tensor => Cells::tensor(nodes, &extent, accuracy, qx_of(grid)),
            _ => Cells::band(nodes, &Layout::new(nodes, &extent, accuracy)),
        });
        Self {
            extent,
            tensor,
            method,
            precision,
            accuracy,
            memory,
            cells: cells.map(Arc::new),
            surface,
        }
    }

    /// The cells of the nonuniform FFT.
    pub(crate) fn cells(&self) -> Result<&Arc<Cells>, CudaError> {
        self.cells.as_ref().ok_or_else(|| CudaError::Driver {
            what: "there are no cells",
            cause: format!("the method is {}", self.method.name()),
        })
    }
}

/// Where the time of a device went, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DeviceTimes {
    /// Nodes and q to the device, where kernels wait for them.
    pub upload_s: f64,
    /// Kernels; of direct sums over lists of q also the copies, which overlap them.
    pub kernels_s: f64,
    /// F from the device, and its conversion, where nothing overlaps them.
    pub download_s: f64,
}

impl DeviceTimes {
    /// Kernels only.
    pub fn of_kernels(kernels_s: f64) -> Self {
        Self {
            kernels_s,
            ..Self::default()
        }
    }

    /// All together, s.
    pub fn sum(&self) -> f64 {
        self.upload_s + self.kernels_s + self.download_s
    }
}

impl AddAssign for DeviceTimes {
    fn add_assign(&mut self, other: Self) {
        self.upload_s += other.upload_s;
        self.kernels_s += other.kernels_s;
        self.download_s += other.download_s;
    }
}

/// Makes the meter of a GPU; the error says why there is none.
pub type MakeMeter = dyn Fn(&Gpu) -> Result<Meter, String> + Send + Sync;

/// All nodes on the cells of the nonuniform FFT, as [`Accelerator::spread`] gives them, if they are known.
pub type Sums<'a> = Option<&'a Arc<Vec<i64>>>;

/// F on each of some grids, nm³; `None` if stopped.
pub type Values = Result<Option<Vec<Vec<Complex64>>>, GisaxsError>;

/// F on one tensor grid by [`Accelerator::heights`].
pub(crate) fn whole_grid(
    device: &dyn Accelerator,
    request: &Request,
    grid: &QGrid,
    sums: Sums<'_>,
    watch: &Watch,
) -> Values {
    let mut out = zeros(grid.len());
    let all = (grid, 0..grid.z.len());
    let ran = device.heights(request, all, sums, &mut out, watch)?;
    Ok(ran.then_some(vec![out]))
}

/// A device that computes form factors of meshes.
pub trait Accelerator: Debug + Send + Sync {
    /// Name of the device.
    fn name(&self) -> &str;

    /// The devices that it consists of; none if it is one.
    fn parts(&self) -> &[Arc<dyn Accelerator>] {
        &[]
    }

    /// The method that the device uses, by default or as `asked`, on a tensor grid (`grid`) or on other q;
    /// `transforms`: whether the nonuniform FFT supports those.
    ///
    /// # Errors
    /// The device does not have the method asked for.
    fn method(
        &self,
        asked: Option<Method>,
        grid: bool,
        transforms: bool,
    ) -> Result<Method, GisaxsError>;

    /// Number of q_z of a tensor grid that stay together when it is cut: with other cuts, digits would differ.
    fn grain(&self, request: &Request) -> usize;

    /// The nodes in a range, spread onto the cells of the nonuniform FFT, in integers: `[q_x][y][m][z][re, im]`. Sums of
    /// ranges are the sum of all, whatever their order.
    ///
    /// # Errors
    /// The method is another, or the device fails.
    fn spread(&self, request: &Request, nodes: Range<usize>) -> Result<Vec<i64>, GisaxsError>;

    /// F on each grid, nm³; `None` if stopped. `sums`: all nodes as [`Accelerator::spread`] gives them; without them the
    /// nonuniform FFT spreads them itself.
    ///
    /// # Errors
    /// The device fails, or the memory is too small.
    fn grids(&self, request: &Request, grids: &[QGrid], sums: Sums<'_>, watch: &Watch) -> Values;

    /// F at some q_z of a tensor grid, nm³, to `out`: `[q_z][position]`. Returns whether it was computed, else it was
    /// stopped.
    ///
    /// # Errors
    /// As [`Accelerator::grids`].
    fn heights(
        &self,
        request: &Request,
        (grid, range): (&QGrid, Range<usize>),
        sums: Sums<'_>,
        out: &mut [Complex64],
        watch: &Watch,
    ) -> Result<bool, GisaxsError> {
        let Some(values) = self.grids(request, &[grid.at_heights(range)], sums, watch)? else {
            return Ok(false);
        };
        let mut rest = out;
        for v in &values {
            let (own, after) = rest.split_at_mut(v.len());
            own.copy_from_slice(v);
            rest = after;
        }
        Ok(true)
    }

    /// Where the time of each device went since the last call.
    fn take_times(&self) -> Vec<DeviceTimes>;

    /// Repeats the kernels for a part of a tensor grid and a range of nodes to spread, on all devices at the same time,
    /// and measures each.
    ///
    /// # Errors
    /// The q are no tensor grid, there is no meter, or the device fails.
    fn measure(
        &self,
        request: &Request,
        grid: &QGrid,
        nodes: Range<usize>,
        meter: &Arc<MakeMeter>,
    ) -> Result<Vec<Measurement>, GisaxsError>;
}
