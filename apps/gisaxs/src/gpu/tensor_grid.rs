//! F on a tensor grid of q, computed on the GPU; the host provides nodes and q and reads F.

use super::direct::Direct;
use super::gemm::Gemm;
use super::gemm_f16x2::GemmF16x2;
use super::nufft::Nufft;
use super::route::{Data, Group, Route};
use super::{Device, DirectConfig, GRID};
use crate::mesh_form_factor::{Extent, Method, Precision, QGrid, Surface};
use greenup_device::cuda::{CudaError, Module};
use num_complex::Complex64;

/// A computation ready to run: nodes and q are on the GPU, kernels are compiled.
pub(crate) struct OnGrid<'a> {
    device: &'a Device,
    surface: &'a Surface,
    grid: &'a QGrid,
    data: Data,
    route: Box<dyn Route>,
}

/// F and the time of the computation.
pub(crate) struct Ran {
    /// F, nm³, in the order of the grid.
    pub values: Vec<Complex64>,
    /// Time of one run on the GPU without transfers, s.
    pub device_s: f64,
}

/// Memory on the GPU that a method needs for a grid, bytes.
pub(super) fn bytes(surface: &Surface, grid: &QGrid, method: Method, precision: Precision) -> u64 {
    let real: u64 = if precision == Precision::F64 { 8 } else { 4 };
    let (nodes, nz) = (surface.nodes.len() as u64, grid.z.len() as u64);
    let most = grid.runs().map(|r| r.1).max().unwrap_or(0) as u64;
    let own = match method {
        Method::Direct => 32 * nodes + 16 * most * nz,
        Method::Nufft => 4 * real * most * nz,
        _ if precision == Precision::F16x2 => 24 * most * nz + (8 * nz + 12 * most) * 8192,
        Method::Gemm | Method::Exact => 2 * real * (nodes * (2 * most + nz) + 2 * most * nz),
    };
    48 * nodes + 2 * real * grid.len() as u64 + own
}

impl<'a> OnGrid<'a> {
    /// Compiles the kernels of a method and copies nodes and q to the GPU.
    ///
    /// # Errors
    /// There is not enough memory, a kernel does not compile, or the GPU does not support the method or the precision
    /// at these q.
    pub fn new(
        device: &'a Device,
        surface: &'a Surface,
        (grid, extent): (&'a QGrid, &Extent),
        (method, precision, accuracy): (Method, Precision, f64),
        config: DirectConfig,
    ) -> Result<Self, CudaError> {
        let nodes = &surface.nodes;
        let groups = grid
            .runs()
            .map(|(begin, n)| {
                let values: Vec<f64> = grid.xy[begin..begin + n].iter().map(|p| p[1]).collect();
                Ok(Group {
                    qx: grid.xy[begin][0],
                    qy: device.session.doubles(&values)?,
                    values,
                    begin,
                })
            })
            .collect::<Result<Vec<_>, CudaError>>()?;
        let wide = precision == Precision::F64 && method != Method::Direct;
        let flat: Vec<f64> = nodes
            .position
            .iter()
            .zip(&nodes.strength)
            .flat_map(|(r, s)| [r[0], r[1], r[2], s[0], s[1], s[2]])
            .collect();
        let qz: Vec<f64> = grid.z.iter().flat_map(|z| [z.re, z.im]).collect();
        let data = Data {
            most: groups.iter().map(Group::len).max().unwrap_or(0),
            groups,
            qz: device.session.doubles(&qz)?,
            nz: grid.z.len(),
            nodes: device.session.doubles(&flat)?,
            count: nodes.len(),
            centre: nodes.centre,
            f: device
                .session
                .alloc(if wide { 16 } else { 8 } * grid.len())?,
            wide,
        };
        let bits = if wide { 64 } else { 32 };
        let module = || -> Result<Module, CudaError> {
            device.module("grid.cu", GRID, &[format!("-DBITS={bits}")])
        };
        let route: Box<dyn Route> = match (method, precision) {
            (Method::Direct, _) => Box::new(Direct::new(
                device,
                (surface, grid, &data),
                config,
                &module()?,
            )?),
            (Method::Nufft, _) => Box::new(Nufft::new(
                device,
                (surface, &data),
                (extent, accuracy),
                &module()?,
            )?),
            (_, Precision::F16x2) => Box::new(GemmF16x2::new(device, (surface, &data), extent)?),
            (Method::Gemm | Method::Exact, _) => Box::new(Gemm::new(device, &data, &module()?)?),
        };
        Ok(Self {
            device,
            surface,
            grid,
            data,
            route,
        })
    }

    /// Enqueues one computation.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn enqueue(&self) -> Result<(), CudaError> {
        (0..self.data.groups.len()).try_for_each(|n| self.route.group(&self.data, n))
    }

    /// Runs the computation `times` times, and reads F.
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn run(&self, times: usize) -> Result<Ran, CudaError> {
        let device_s = self.time(times)?;
        Ok(Ran {
            values: self.values()?,
            device_s,
        })
    }

    /// Mean time of `times` runs on the GPU, s.
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn time(&self, times: usize) -> Result<f64, CudaError> {
        let session = &self.device.session;
        let (begin, end) = (session.event()?, session.event()?);
        begin.record()?;
        for _ in 0..times.max(1) {
            self.enqueue()?;
        }
        end.record()?;
        end.wait()?;
        Ok(end.since(&begin)? / times.max(1) as f64)
    }

    /// F in the order of the grid; near q = 0 by moments, on the host.
    fn values(&self) -> Result<Vec<Complex64>, CudaError> {
        let mut bytes = vec![0; self.data.f.len()];
        self.data.f.download(&mut bytes)?;
        let numbers: Vec<f64> = if self.data.wide {
            let (all, _) = bytes.as_chunks::<8>();
            all.iter().map(|b| f64::from_le_bytes(*b)).collect()
        } else {
            let (all, _) = bytes.as_chunks::<4>();
            all.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
        };
        let (pairs, _) = numbers.as_chunks::<2>();
        let (positions, nz) = (self.grid.xy.len(), self.data.nz);
        let mut out = vec![Complex64::ZERO; self.grid.len()];
        for g in &self.data.groups {
            for k in 0..nz {
                for j in 0..g.len() {
                    let [re, im] = pairs[g.begin * nz + k * g.len() + j];
                    let at = k * positions + g.begin + j;
                    let q = self.grid.q(at);
                    out[at] = self.surface.near(&q).unwrap_or(Complex64::new(re, im));
                }
            }
        }
        Ok(out)
    }
}
