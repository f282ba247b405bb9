//! A GPU shared by all threads: one thread owns it and runs the tasks of the others one after the other.

use super::direct_list::{self, Job, Kept, Tile, point};
use super::nufft_detector;
use super::spread;
use super::tensor_grid::bytes;
use super::worker::{Lost, Worker};
use super::{Device, DirectConfig, ListConfig, OnGrid};
use crate::GisaxsError;
use crate::mesh_form_factor::{
    Accelerator, DeviceTimes, MakeMeter, Method, Precision, QGrid, Request, Sums, Values, Watch,
    whole_grid,
};
use greenup_device::cuda::{CudaError, Gpu};
use greenup_meter::Measurement;
use greenup_setting::{Style, setting, style};
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

/// What the thread of a GPU owns.
type Opened = (Device, Kept);

impl From<Lost> for GisaxsError {
    fn from(_: Lost) -> Self {
        Self::DeviceLost
    }
}

/// A GPU owned by a thread of its own; other threads send it tasks.
#[derive(Debug)]
pub struct Service {
    /// Name of the GPU.
    pub name: String,
    direct: DirectConfig,
    list: ListConfig,
    worker: Worker<Opened>,
    /// Where the time went since it was asked for.
    times: Mutex<DeviceTimes>,
}

/// A message to the waiting thread: tiles, then the end of the task with the time on the device, s.
enum News {
    Tile(Tile),
    End(Result<f64, CudaError>),
}

impl Service {
    /// Opens a GPU by its number, from 0; `configs` gives its tuned configs.
    ///
    /// # Errors
    /// There is no driver, no such GPU, or no compiler.
    pub fn open(
        ordinal: usize,
        configs: impl FnOnce(&Gpu) -> (DirectConfig, ListConfig),
    ) -> Result<Self, GisaxsError> {
        let open = move || {
            let device = Device::open(ordinal)?;
            let gpu = device.gpu.clone();
            Ok(((device, Kept::default()), gpu))
        };
        let (worker, gpu) = Worker::start(open)
            .map_err(|e: Option<CudaError>| e.map_or(GisaxsError::DeviceLost, Into::into))?;
        let (direct, list) = configs(&gpu);
        Ok(Self {
            name: gpu.name,
            direct,
            // Otherwise the digits of a q would depend on its place in a list, and that on how devices share the q.
            list: ListConfig { by_hand: 0, ..list },
            worker,
            times: Mutex::default(),
        })
    }

    fn check_memory(&self, request: &Request, grid: &QGrid) -> Result<(), GisaxsError> {
        let needed = bytes(&request.surface, grid, request.method, request.precision);
        let memory = request.memory;
        if needed > memory {
            let fix = match style() {
                Style::Flags => {
                    let nufft = setting("method").to("nufft");
                    format!("give {}, or use {nufft}", setting("memory"))
                }
                // Functions of other languages take neither.
                Style::Keywords => "ask for fewer q".to_owned(),
            };
            return Err(format!(
                "the memory given, {memory} bytes, is too small: {needed} are needed on the GPU; {fix}"
            )
            .into());
        }
        Ok(())
    }

    /// Runs a task on the thread of the GPU and waits for its result. The task may borrow.
    fn on_device<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Device) -> Result<T, GisaxsError> + Send,
    ) -> Result<T, GisaxsError> {
        self.worker.run(|(device, _)| work(device))?
    }

    fn add_times(&self, times: DeviceTimes) {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner) += times;
    }

    /// F on many grids by the nonuniform FFT.
    fn band(
        &self,
        request: &Request,
        grids: &[QGrid],
        sums: Sums<'_>,
    ) -> Result<Vec<Vec<Complex64>>, GisaxsError> {
        let (values, device_s) = self.on_device(|device| {
            let sums = sums.map(|s| &s[..]);
            Ok(nufft_detector::run(device, request, grids, sums)?)
        })?;
        self.add_times(DeviceTimes::of_kernels(device_s));
        Ok(values)
    }

    /// F at any q by direct sums, in tiles; `None` if stopped.
    fn list(
        &self,
        request: &Request,
        grids: &[QGrid],
        watch: &Watch,
    ) -> Result<Option<Vec<Complex64>>, GisaxsError> {
        let surface = &request.surface;
        let job = Job {
            request: request.clone(),
            grids: Arc::new(grids.to_vec()),
        };
        let grids = Arc::clone(&job.grids);
        // At most as many tiles wait as are in flight.
        let (news, heard) = sync_channel(self.list.buffers);
        let config = self.list;
        self.worker.put(move |(device, kept)| {
            let ended = direct_list::run((device, kept), &job, &config, &mut |tile| {
                news.send(News::Tile(tile)).is_ok()
            });
            let _ = news.send(News::End(ended));
        })?;
        let mut begins = Vec::new();
        let mut count = 0;
        for s in grids.iter() {
            begins.push(count);
            count += s.len();
        }
        let mut out = vec![Complex64::ZERO; count];
        // Only used if there are several tiles of nodes.
        let mut partial: Vec<[f64; 4]> = Vec::new();
        for n in heard {
            let mut tile = match n {
                News::Tile(tile) => tile,
                News::End(Ok(device_s)) => {
                    self.add_times(DeviceTimes::of_kernels(device_s));
                    return Ok(Some(out));
                }
                News::End(Err(e)) => return Err(e.into()),
            };
            if watch.stopped() {
                return Ok(None);
            }
            if tile.more && partial.is_empty() {
                partial.resize(count, [0.0; 4]);
            }
            if !partial.is_empty() {
                for (sum, to) in tile.sums.iter_mut().zip(&mut partial[tile.points.clone()]) {
                    for m in 0..4 {
                        to[m] += sum[m];
                    }
                    *sum = *to;
                }
            }
            if tile.more {
                continue;
            }
            let first = tile.points.start;
            out[tile.points.clone()]
                .par_iter_mut()
                .zip(&tile.sums)
                .enumerate()
                .for_each(|(i, (f, [a, b, c, d]))| {
                    let q = point(&grids, &begins, first + i);
                    // In the first sum, q along the surface is in units of 2π.
                    let along = Complex64::new(*a, *b) * std::f64::consts::TAU;
                    let up = Complex64::new(*c, *d);
                    *f = surface.value(&q, || along + q.z.conj() * up);
                });
            watch.tick(tile.points.len() as u64);
        }
        Err(GisaxsError::DeviceLost)
    }
}

impl Accelerator for Service {
    fn name(&self) -> &str {
        &self.name
    }

    fn method(
        &self,
        asked: Option<Method>,
        grid: bool,
        transforms: bool,
    ) -> Result<Method, GisaxsError> {
        let cpu = || setting("device").to("cpu");
        let method = |name: &str| setting("method").to(name);
        match asked {
            None if grid || transforms => Ok(Method::Nufft),
            None => Ok(Method::Direct),
            Some(Method::Exact) => {
                Err(format!("the exact method runs on the CPU only: use {}", cpu()).into())
            }
            Some(Method::Gemm) if !grid => Err(format!(
                "the GPU runs GEMM for tensor grids only: use {} or direct, or {}",
                method("nufft"),
                cpu()
            )
            .into()),
            Some(Method::Nufft) if !grid && !transforms => {
                let direct = method("direct");
                Err(format!("q_x spans too much for the nonuniform FFT: use {direct}").into())
            }
            Some(method) => Ok(method),
        }
    }

    fn grain(&self, request: &Request) -> usize {
        match request.method {
            // Some q of a thread take polynomials for sines: whole blocks stay together.
            Method::Direct => (self.direct.dim_z * self.direct.per_z) as usize,
            _ => 1,
        }
    }

    fn spread(&self, request: &Request, nodes: Range<usize>) -> Result<Vec<i64>, GisaxsError> {
        let (sums, device_s) = self.on_device(|device| {
            let cells = request.cells()?;
            Ok(spread::run(device, &request.surface.nodes, nodes, cells)?)
        })?;
        self.add_times(DeviceTimes::of_kernels(device_s));
        Ok(sums)
    }

    fn grids(&self, request: &Request, grids: &[QGrid], sums: Sums<'_>, watch: &Watch) -> Values {
        if watch.stopped() {
            return Ok(None);
        }
        if let ([grid], true) = (grids, on_grid(request)) {
            return whole_grid(self, request, grid, sums, watch);
        }
        if request.method == Method::Nufft {
            let values = self.band(request, grids, sums)?;
            watch.tick(values.iter().map(|v| v.len() as u64).sum());
            return Ok(Some(values));
        }
        let Some(values) = self.list(request, grids, watch)? else {
            return Ok(None);
        };
        let mut rest = &values[..];
        Ok(Some(
            grids
                .iter()
                .map(|s| {
                    let (own, after) = rest.split_at(s.len());
                    rest = after;
                    own.to_vec()
                })
                .collect(),
        ))
    }

    fn heights(
        &self,
        request: &Request,
        (grid, range): (&QGrid, Range<usize>),
        sums: Sums<'_>,
        out: &mut [Complex64],
        watch: &Watch,
    ) -> Result<bool, GisaxsError> {
        if watch.stopped() {
            return Ok(false);
        }
        let grid = grid.at_heights(range);
        if !on_grid(request) {
            let Some(values) = self.list(request, &[grid], watch)? else {
                return Ok(false);
            };
            out.copy_from_slice(&values);
            return Ok(true);
        }
        self.check_memory(request, &grid)?;
        let points = grid.len() as u64;
        let times = self.on_device(|device| {
            let all = (0..request.surface.nodes.len(), sums.map(|s| &s[..]));
            Ok(OnGrid::new(device, request, &grid, all, self.direct)?.run(out)?)
        })?;
        self.add_times(times);
        watch.tick(points);
        Ok(true)
    }

    fn take_times(&self) -> Vec<DeviceTimes> {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        vec![std::mem::take(&mut *times)]
    }

    fn measure(
        &self,
        request: &Request,
        grid: &QGrid,
        nodes: Range<usize>,
        meter: &Arc<MakeMeter>,
    ) -> Result<Vec<Measurement>, GisaxsError> {
        if !on_grid(request) {
            let grid = setting("grid");
            return Err(format!("only tensor grids are measured: use {grid}").into());
        }
        self.check_memory(request, grid)?;
        let measured = self.on_device(|device| {
            let ready = OnGrid::new(device, request, grid, (nodes, None), self.direct)?;
            ready.measure(&mut meter(&device.gpu)?)
        })?;
        Ok(vec![measured])
    }
}

/// Whether the kernels for tensor grids serve. Those of direct sums are tuned for single precision; everything else sums
/// lists.
fn on_grid(request: &Request) -> bool {
    request.tensor && (request.method != Method::Direct || request.precision == Precision::F32)
}
