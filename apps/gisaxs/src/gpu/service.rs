//! A GPU for everybody: one thread holds it and works through what others ask for, in turn.

use super::band;
use super::grid::bytes;
use super::list::{self, Job, Kept, Tile, point};
use super::{Device, DirectConfig, ListConfig, OnGrid, words};
use crate::numeric::{Accelerator, Precision, Sheet, Surface, Watch, Way, runs};
use greenup_device::cuda::CudaError;
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

type Task = Box<dyn FnOnce(&Device, &mut Kept) + Send>;

/// A GPU held by a thread of its own.
#[derive(Debug)]
pub struct Service {
    pub name: String,
    direct: DirectConfig,
    list: ListConfig,
    tasks: Mutex<Sender<Task>>,
}

/// What reaches whoever waits: tiles, then how it ended.
enum News {
    Tile(Tile),
    End(Result<(), CudaError>),
}

const LOST: &str = "the GPU is lost";

impl Service {
    /// Takes a GPU by its number.
    ///
    /// # Errors
    /// No driver, no such GPU, or no compiler.
    pub fn open(
        ordinal: usize,
        configs: impl FnOnce(&str) -> (DirectConfig, ListConfig),
    ) -> Result<Self, String> {
        let (tasks, work) = channel::<Task>();
        let (answer, opened) = channel();
        thread::spawn(move || match Device::open(ordinal) {
            Ok(device) => {
                let _ = answer.send(Ok(device.gpu.name.clone()));
                let mut kept = Kept::default();
                for task in work {
                    task(&device, &mut kept);
                }
            }
            Err(e) => {
                let _ = answer.send(Err(words(&e)));
            }
        });
        let name = opened.recv().map_err(|_| LOST.to_owned())??;
        let (direct, list) = configs(&name);
        Ok(Self {
            name,
            direct,
            list,
            tasks: Mutex::new(tasks),
        })
    }

    fn put(&self, task: Task) -> Result<(), String> {
        let tasks = self.tasks.lock().map_err(|_| LOST.to_owned())?;
        tasks.send(task).map_err(|_| LOST.to_owned())
    }

    /// A tensor grid, whole.
    fn grid(
        &self,
        surface: &Arc<Surface>,
        sheet: &Sheet,
        how: (Way, Precision, f64),
    ) -> Result<Vec<Complex64>, String> {
        let (surface, sheet, config) = (Arc::clone(surface), sheet.clone(), self.direct);
        let (answer, result) = channel();
        self.put(Box::new(move |device, _| {
            let run = || {
                Ok(OnGrid::new(device, &surface, &sheet, how, config)?
                    .run(1)?
                    .values)
            };
            let _ = answer.send(run());
        }))?;
        let values = result.recv().map_err(|_| LOST.to_owned())?;
        values.map_err(|e: CudaError| words(&e))
    }

    /// Many sheets by the nonuniform transform.
    fn band(
        &self,
        surface: &Arc<Surface>,
        sheets: &[Sheet],
        (accuracy, memory): (f64, u64),
    ) -> Result<Vec<Vec<Complex64>>, String> {
        let (surface, sheets) = (Arc::clone(surface), sheets.to_vec());
        let (answer, result) = channel();
        self.put(Box::new(move |device, _| {
            let _ = answer.send(band::run(device, &surface, &sheets, accuracy, memory));
        }))?;
        let values = result.recv().map_err(|_| LOST.to_owned())?;
        values.map_err(|e: CudaError| words(&e))
    }

    /// Any q, in tiles; `None` when stopped.
    fn list(
        &self,
        surface: &Arc<Surface>,
        sheets: &[Sheet],
        (precision, memory): (Precision, u64),
        watch: &Watch,
    ) -> Result<Option<Vec<Complex64>>, String> {
        let job = Job {
            surface: Arc::clone(surface),
            sheets: Arc::new(sheets.to_vec()),
            precision,
            memory,
        };
        let sheets = Arc::clone(&job.sheets);
        // No more tiles wait than are under way.
        let (news, heard) = sync_channel(self.list.buffers);
        let config = self.list;
        self.put(Box::new(move |device, kept| {
            let ended = list::run((device, kept), &job, &config, &mut |tile| {
                news.send(News::Tile(tile)).is_ok()
            });
            let _ = news.send(News::End(ended));
        }))?;
        let mut begins = Vec::new();
        let mut count = 0;
        for s in sheets.iter() {
            begins.push(count);
            count += s.len();
        }
        let mut out = vec![Complex64::ZERO; count];
        // Only where nodes come in several tiles.
        let mut partial: Vec<[f64; 4]> = Vec::new();
        for n in heard {
            let mut tile = match n {
                News::Tile(tile) => tile,
                News::End(Ok(())) => return Ok(Some(out)),
                News::End(Err(e)) => return Err(words(&e)),
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
                    let q = point(&sheets, &begins, first + i);
                    // q along the surface is in turns in the first sum.
                    let along = Complex64::new(*a, *b) * std::f64::consts::TAU;
                    let up = Complex64::new(*c, *d);
                    *f = surface.value(&q, || along + q.z.conj() * up);
                });
            watch.tick(tile.points.len() as u64);
        }
        Err(LOST.into())
    }
}

impl Accelerator for Service {
    fn name(&self) -> &str {
        &self.name
    }

    fn way(&self, asked: Option<Way>, grid: bool, transforms: bool) -> Result<Way, String> {
        match asked {
            None if grid || transforms => Ok(Way::Nufft),
            None => Ok(Way::Direct),
            Some(Way::Exact) => {
                Err("transforms of whole triangles run on the CPU: take --device cpu".into())
            }
            Some(Way::Product) if !grid => Err(
                "products run on the GPU for tensor grids alone: take --way nufft or direct, or --device cpu".into(),
            ),
            Some(Way::Nufft) if !grid && !transforms => {
                Err("q_x spans too much for the nonuniform transform: take --way direct".into())
            }
            Some(way) => Ok(way),
        }
    }

    fn sheets(
        &self,
        surface: &Arc<Surface>,
        sheets: &[Sheet],
        (way, precision, accuracy): (Way, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, String> {
        if watch.stopped() {
            return Ok(None);
        }
        // Tuned for single precision on grids; everything else sums lists.
        let on_grid =
            runs(sheets).is_some() && (way != Way::Direct || precision == Precision::Single);
        if let ([sheet], true) = (sheets, on_grid) {
            let needed = bytes(surface, sheet, way, precision);
            if needed > memory {
                return Err(format!(
                    "the memory given, {memory} bytes, is too small: {needed} are needed on the GPU"
                ));
            }
            let values = self.grid(surface, sheet, (way, precision, accuracy))?;
            watch.tick(values.len() as u64);
            return Ok(Some(vec![values]));
        }
        if way == Way::Nufft {
            let values = self.band(surface, sheets, (accuracy, memory))?;
            watch.tick(values.iter().map(|v| v.len() as u64).sum());
            return Ok(Some(values));
        }
        let Some(values) = self.list(surface, sheets, (precision, memory), watch)? else {
            return Ok(None);
        };
        let mut rest = &values[..];
        Ok(Some(
            sheets
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
