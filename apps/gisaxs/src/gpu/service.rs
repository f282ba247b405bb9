//! A GPU shared by all threads: one thread owns it and runs the tasks of the others one after the other.

use super::direct_list::{self, Job, Kept, Tile, point};
use super::nufft_detector;
use super::tensor_grid::bytes;
use super::{Device, DirectConfig, ListConfig, OnGrid};
use crate::mesh_form_factor::{
    Accelerator, Extent, Method, Precision, QGrid, Surface, Watch, runs,
};
use greenup_device::cuda::CudaError;
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

type Task = Box<dyn FnOnce(&Device, &mut Kept) + Send>;

/// A GPU owned by a thread of its own; other threads send it tasks.
#[derive(Debug)]
pub struct Service {
    /// Name of the GPU.
    pub name: String,
    direct: DirectConfig,
    list: ListConfig,
    tasks: Mutex<Sender<Task>>,
}

/// A message to the waiting thread: tiles, then the end of the task.
enum News {
    Tile(Tile),
    End(Result<(), CudaError>),
}

impl Service {
    /// Opens a GPU by its number, from 0; `configs` gives the tuned configs for its name.
    ///
    /// # Errors
    /// There is no driver, no such GPU, or no compiler.
    pub fn open(
        ordinal: usize,
        configs: impl FnOnce(&str) -> (DirectConfig, ListConfig),
    ) -> Result<Self, crate::GisaxsError> {
        let (tasks, work) = channel::<Task>();
        let (answer, opened) = channel::<Result<String, CudaError>>();
        thread::spawn(move || match Device::open(ordinal) {
            Ok(device) => {
                let _ = answer.send(Ok(device.gpu.name.clone()));
                let mut kept = Kept::default();
                for task in work {
                    task(&device, &mut kept);
                }
            }
            Err(e) => {
                let _ = answer.send(Err(e));
            }
        });
        let name = opened
            .recv()
            .map_err(|_| crate::GisaxsError::DeviceLost)??;
        let (direct, list) = configs(&name);
        Ok(Self {
            name,
            direct,
            list,
            tasks: Mutex::new(tasks),
        })
    }

    fn put(&self, task: Task) -> Result<(), crate::GisaxsError> {
        let tasks = self
            .tasks
            .lock()
            .map_err(|_| crate::GisaxsError::DeviceLost)?;
        tasks.send(task).map_err(|_| crate::GisaxsError::DeviceLost)
    }

    /// F on a tensor grid.
    fn grid(
        &self,
        surface: &Arc<Surface>,
        (grid, extent): (&QGrid, &Extent),
        how: (Method, Precision, f64),
    ) -> Result<Vec<Complex64>, crate::GisaxsError> {
        let (surface, grid, config) = (Arc::clone(surface), grid.clone(), self.direct);
        let extent = *extent;
        let (answer, result) = channel::<Result<_, CudaError>>();
        self.put(Box::new(move |device, _| {
            let run = || {
                Ok(
                    OnGrid::new(device, &surface, (&grid, &extent), how, config)?
                        .run(1)?
                        .values,
                )
            };
            let _ = answer.send(run());
        }))?;
        let values = result.recv().map_err(|_| crate::GisaxsError::DeviceLost)?;
        Ok(values?)
    }

    /// F on many grids by the nonuniform FFT.
    fn band(
        &self,
        surface: &Arc<Surface>,
        (grids, extent): (&[QGrid], &Extent),
        (accuracy, memory): (f64, u64),
    ) -> Result<Vec<Vec<Complex64>>, crate::GisaxsError> {
        let (surface, grids, extent) = (Arc::clone(surface), grids.to_vec(), *extent);
        let (answer, result) = channel();
        self.put(Box::new(move |device, _| {
            let _ = answer.send(nufft_detector::run(
                device,
                &surface,
                (&grids, &extent),
                accuracy,
                memory,
            ));
        }))?;
        let values = result.recv().map_err(|_| crate::GisaxsError::DeviceLost)?;
        Ok(values?)
    }

    /// F at any q by direct sums, in tiles; `None` if stopped.
    fn list(
        &self,
        surface: &Arc<Surface>,
        grids: &[QGrid],
        (precision, memory): (Precision, u64),
        watch: &Watch,
    ) -> Result<Option<Vec<Complex64>>, crate::GisaxsError> {
        let job = Job {
            surface: Arc::clone(surface),
            grids: Arc::new(grids.to_vec()),
            precision,
            memory,
        };
        let grids = Arc::clone(&job.grids);
        // At most as many tiles wait as are in flight.
        let (news, heard) = sync_channel(self.list.buffers);
        let config = self.list;
        self.put(Box::new(move |device, kept| {
            let ended = direct_list::run((device, kept), &job, &config, &mut |tile| {
                news.send(News::Tile(tile)).is_ok()
            });
            let _ = news.send(News::End(ended));
        }))?;
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
                News::End(Ok(())) => return Ok(Some(out)),
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
        Err(crate::GisaxsError::DeviceLost)
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
    ) -> Result<Method, crate::GisaxsError> {
        match asked {
            None if grid || transforms => Ok(Method::Nufft),
            None => Ok(Method::Direct),
            Some(Method::Exact) => {
                Err("the exact method runs on the CPU only: use --device cpu".into())
            }
            Some(Method::Gemm) if !grid => Err(
                "the GPU runs GEMM for tensor grids only: use --method nufft or direct, or --device cpu".into(),
            ),
            Some(Method::Nufft) if !grid && !transforms => {
                Err("q_x spans too much for the nonuniform FFT: use --method direct".into())
            }
            Some(method) => Ok(method),
        }
    }

    fn grids(
        &self,
        surface: &Arc<Surface>,
        (grids, extent): (&[QGrid], &Extent),
        (method, precision, accuracy): (Method, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, crate::GisaxsError> {
        if watch.stopped() {
            return Ok(None);
        }
        // Tuned for single precision on grids; everything else sums lists.
        let on_grid =
            runs(grids).is_some() && (method != Method::Direct || precision == Precision::F32);
        if let ([grid], true) = (grids, on_grid) {
            let needed = bytes(surface, grid, method, precision);
            if needed > memory {
                return Err(format!(
                    "the memory given, {memory} bytes, is too small: {needed} are needed on the GPU"
                )
                .into());
            }
            let values = self.grid(surface, (grid, extent), (method, precision, accuracy))?;
            watch.tick(values.len() as u64);
            return Ok(Some(vec![values]));
        }
        if method == Method::Nufft {
            let values = self.band(surface, (grids, extent), (accuracy, memory))?;
            watch.tick(values.iter().map(|v| v.len() as u64).sum());
            return Ok(Some(values));
        }
        let Some(values) = self.list(surface, grids, (precision, memory), watch)? else {
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
}
