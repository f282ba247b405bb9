//! F on a tensor grid of q, computed on the GPU; the host provides nodes and q and reads F.

use super::direct::Direct;
use super::gemm::Gemm;
use super::gemm_f16x2::GemmF16x2;
use super::nufft::Nufft;
use super::route::{Data, Group, Route};
use super::spread;
use super::{Device, DirectConfig, GRID};
use crate::mesh_form_factor::{DeviceTimes, Method, Precision, QGrid, Request, Surface};
use crate::{GisaxsError, Q};
use greenup_device::cuda::{CudaError, Module};
use greenup_meter::observe::Silent;
use greenup_meter::{Measurement, Meter, Run};
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A computation ready to run: nodes and q are on the GPU, kernels are compiled.
pub(crate) struct OnGrid<'a> {
    device: &'a Device,
    surface: &'a Surface,
    grid: &'a QGrid,
    data: Data,
    route: Box<dyn Route>,
    setup_s: f64,
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
        let begin = Instant::now();
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
        device.forget_nodes();
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
            nodes: if nodes.len() == surface.nodes.len() {
                device.all_nodes(surface)?
            } else {
                Rc::new(spread::copied(device, &surface.nodes, nodes, None)?)
            },
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
            setup_s: begin.elapsed().as_secs_f64(),
        })
    }

    /// Enqueues one computation.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn enqueue(&self) -> Result<(), CudaError> {
        (0..self.data.groups.len()).try_for_each(|n| self.route.group(&self.data, n))
    }

    /// Computes F, nm³, in the order of the grid. Returns where the time went, with that of [`OnGrid::new`].
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn run(&self, out: &mut [Complex64]) -> Result<DeviceTimes, CudaError> {
        let kernels_s = self.timed(1, &mut || {
            // The system clears the pages of the result while the kernels run.
            out.par_chunks_mut(1 << 14)
                .for_each(|some| some.fill(Complex64::ZERO));
        })?;
        let begin = Instant::now();
        self.read(out)?;
        Ok(DeviceTimes {
            upload_s: self.setup_s,
            kernels_s,
            download_s: begin.elapsed().as_secs_f64(),
        })
    }

    /// Mean time of `times` runs on the GPU, s.
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn time(&self, times: usize) -> Result<f64, CudaError> {
        self.timed(times, &mut || {})
    }

    /// The same; the host does something else meanwhile.
    fn timed(&self, times: usize, meanwhile: &mut dyn FnMut()) -> Result<f64, CudaError> {
        let session = &self.device.session;
        let (begin, end) = (session.event()?, session.event()?);
        begin.record()?;
        for _ in 0..times.max(1) {
            self.enqueue()?;
        }
        end.record()?;
        meanwhile();
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
    fn read(&self, out: &mut [Complex64]) -> Result<(), CudaError> {
        let (positions, nz, pair) = (self.grid.xy.len(), self.data.nz, self.data.pair());
        let row = pair * positions;
        if row == 0 {
            return Ok(());
        }
        let groups: Vec<(usize, usize)> =
            (self.data.groups.iter().map(|g| (g.begin, g.len()))).collect();
        let (surface, grid, f) = (self.surface, self.grid, &self.data.f);
        let wide = self.data.wide;
        self.device.staged(row, |staging| {
            let most = staging.chunk() / row;
            staging.download(
                (nz, most),
                |rows, to| {
                    groups.iter().try_for_each(|(begin, len)| {
                        let from = begin * nz + rows.start * len;
                        let bytes = pair * len * rows.len();
                        to.download_at(pair * begin * rows.len(), f, pair * from, bytes)
                    })
                },
                |rows, bytes| {
                    let to = &mut out[rows.start * positions..rows.end * positions];
                    to.par_chunks_mut(positions)
                        .enumerate()
                        .for_each(|(k, to)| {
                            let z = grid.z[rows.start + k];
                            // Of the q of a row, that at q_x = q_y = 0 is nearest to 0.
                            let near = surface.near(&Q { x: 0.0, y: 0.0, z }).is_some();
                            for (begin, len) in &groups {
                                let at = pair * (begin * rows.len() + k * len);
                                let own = &mut to[*begin..begin + len];
                                numbers(&bytes[at..at + pair * len], wide, own);
                                if near {
                                    let at = &grid.xy[*begin..begin + len];
                                    for (f, [x, y]) in own.iter_mut().zip(at) {
                                        let q = Q { x: *x, y: *y, z };
                                        *f = surface.near(&q).unwrap_or(*f);
                                    }
                                }
                            }
                        });
                },
            )
        })
    }
}

/// Complex numbers of double precision (`wide`) or single precision.
fn numbers(bytes: &[u8], wide: bool, to: &mut [Complex64]) {
    if wide {
        let (all, _) = bytes.as_chunks::<16>();
        for (to, b) in to.iter_mut().zip(all) {
            let (parts, _) = b.as_chunks::<8>();
            let [re, im] = [parts[0], parts[1]].map(f64::from_le_bytes);
            *to = Complex64::new(re, im);
        }
    } else {
        let (all, _) = bytes.as_chunks::<8>();
        for (to, b) in to.iter_mut().zip(all) {
            let (parts, _) = b.as_chunks::<4>();
            let [re, im] = [parts[0], parts[1]].map(|b| f64::from(f32::from_le_bytes(b)));
            *to = Complex64::new(re, im);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_precisions_are_read() {
        let want = [Complex64::new(1.5, -2.0), Complex64::new(-0.0, 0.25)];
        let parts = || want.iter().flat_map(|f| [f.re, f.im]);
        let wide: Vec<u8> = parts().flat_map(f64::to_le_bytes).collect();
        let narrow: Vec<u8> = parts().flat_map(|x| (x as f32).to_le_bytes()).collect();
        for (bytes, is_wide) in [(wide, true), (narrow, false)] {
            let mut out = [Complex64::new(9.0, 9.0); 2];
            numbers(&bytes, is_wide, &mut out);
            assert_eq!(out.map(|f| f.re.to_bits()), want.map(|f| f.re.to_bits()));
            assert_eq!(out.map(|f| f.im.to_bits()), want.map(|f| f.im.to_bits()));
        }
    }
}
