//! F on a tensor grid of q, computed on the GPU; the host provides nodes and q and reads F.

use super::direct::Direct;
use super::gemm::Gemm;
use super::gemm_f16x2::GemmF16x2;
use super::nufft::Nufft;
use super::route::{Data, Group, Route};
use super::spread::flat;
use super::{Device, DirectConfig, GRID};
use crate::GisaxsError;
use crate::mesh_form_factor::{Method, Precision, QGrid, Request, Surface};
use greenup_device::cuda::{CudaError, Module};
use greenup_meter::observe::Silent;
use greenup_meter::{Measurement, Meter, Run};
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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
    /// Compiles the kernels of a method and copies nodes and q to the GPU. `sums`: all nodes, spread onto the cells of
    /// the nonuniform FFT; without them that method spreads `nodes`, a range of them.
    ///
    /// # Errors
    /// There is not enough memory, a kernel does not compile, or the GPU does not support the method or the precision
    /// at these q.
    pub fn new(
        device: &'a Device,
        request: &'a Request,
        grid: &'a QGrid,
        (nodes, sums): (Range<usize>, Option<&[i64]>),
        config: DirectConfig,
    ) -> Result<Self, CudaError> {
        let Request {
            surface,
            extent,
            method,
            precision,
            ..
        } = request;
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
        let wide = *precision == Precision::F64 && *method != Method::Direct;
        // All but the transform sum over all nodes, and direct sums have their own layout.
        let nodes = match method {
            Method::Direct => 0..0,
            Method::Nufft if sums.is_some() => 0..0,
            Method::Nufft => nodes,
            Method::Gemm | Method::Exact => 0..surface.nodes.len(),
        };
        let qz: Vec<f64> = grid.z.iter().flat_map(|z| [z.re, z.im]).collect();
        let data = Data {
            most: groups.iter().map(Group::len).max().unwrap_or(0),
            groups,
            qz: device.session.doubles(&qz)?,
            nz: grid.z.len(),
            count: nodes.len(),
            nodes: device.session.doubles(&flat(&surface.nodes, nodes, None))?,
            centre: surface.nodes.centre,
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
                (config, extent.im_qz > 0.0),
                &module()?,
            )?),
            (Method::Nufft, _) => {
                let cells = Arc::clone(request.cells()?);
                Box::new(Nufft::new(device, &data, (cells, sums), &module()?)?)
            }
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

    /// Time and energy of a run on the GPU, repeated.
    ///
    /// # Errors
    /// A kernel or the sensor failed.
    pub fn measure(&self, meter: &mut Meter) -> Result<Measurement, GisaxsError> {
        let mut once = self.time(1)?;
        if once < 0.1 {
            // The first run is slower.
            once = self.time(2)?;
        }
        let measured = meter.measure(&Silent, &mut |seconds: f64| {
            // Launches are short compared with the shortest run, and never wait for the host.
            let n = (seconds / once).ceil().max(1.0);
            let ran = self.time(n as usize)?;
            Ok::<Run, GisaxsError>(Run {
                iterations: n,
                seconds: ran * n,
            })
        })?;
        measured.ok_or(GisaxsError::Interrupted)
    }

    /// F in the order of the grid; near q = 0 by moments, on the host.
    fn values(&self) -> Result<Vec<Complex64>, CudaError> {
        let mut bytes = vec![0; self.data.f.len()];
        self.data.f.download(&mut bytes)?;
        let numbers: Vec<f64> = if self.data.wide {
            let (all, _) = bytes.as_chunks::<8>();
            all.par_iter().map(|b| f64::from_le_bytes(*b)).collect()
        } else {
            let (all, _) = bytes.as_chunks::<4>();
            all.par_iter()
                .map(|b| f32::from_le_bytes(*b).into())
                .collect()
        };
        let (pairs, _) = numbers.as_chunks::<2>();
        let (positions, nz) = (self.grid.xy.len(), self.data.nz);
        let mut out = vec![Complex64::ZERO; self.grid.len()];
        let groups: Vec<(usize, usize)> =
            (self.data.groups.iter().map(|g| (g.begin, g.len()))).collect();
        let (surface, grid) = (self.surface, self.grid);
        out.par_chunks_mut(positions.max(1))
            .enumerate()
            .for_each(|(k, row)| {
                for (begin, len) in &groups {
                    for j in 0..*len {
                        let [re, im] = pairs[begin * nz + k * len + j];
                        let q = grid.q(k * positions + begin + j);
                        row[begin + j] = surface.near(&q).unwrap_or(Complex64::new(re, im));
                    }
                }
            });
        Ok(out)
    }
}
