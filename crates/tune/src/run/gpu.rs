//! Kernels that run on a GPU, and the arguments there.

use super::data::Arguments;
use super::host::HostKernel;
use super::job::Built;
use crate::problem::Launch;
use greenup_device::cuda::{CudaError, Event, Function, Graph, Memory, Session};
use greenup_meter::Run;
use std::collections::VecDeque;
use std::ffi::c_void;

type OnGpu<T> = Result<T, CudaError>;

/// The arguments on a GPU: each array with its guards, and what it holds before a run.
pub struct Mirror {
    pub session: Session,
    arrays: Vec<Option<Array>>,
}

struct Array {
    now: Memory,
    /// Kept on the GPU where runs change it.
    before: Option<Memory>,
    /// Bytes of the guard in front.
    guard: usize,
}

impl Mirror {
    /// Copies everything as it is now.
    pub fn new(ordinal: i32, arguments: &Arguments) -> OnGpu<Self> {
        let session = Session::open(ordinal)?;
        let mut arrays = Vec::new();
        for a in arguments.arrays() {
            arrays.push(match a {
                None => None,
                Some(a) => {
                    let now = session.alloc(a.bytes.len())?;
                    now.upload(a.bytes)?;
                    let before = if a.changes {
                        let before = session.alloc(a.bytes.len())?;
                        before.upload(a.bytes)?;
                        Some(before)
                    } else {
                        None
                    };
                    Some(Array {
                        now,
                        before,
                        guard: a.guard,
                    })
                }
            });
        }
        Ok(Self { session, arrays })
    }

    /// Restores what runs change.
    pub fn reset(&self) -> OnGpu<()> {
        for a in self.arrays.iter().flatten() {
            if let Some(before) = &a.before {
                a.now.copy_from(before)?;
            }
        }
        Ok(())
    }

    /// Brings all arrays and their guards to the host.
    pub fn fetch(&self, arguments: &mut Arguments) -> OnGpu<()> {
        for (a, to) in self.arrays.iter().zip(arguments.whole_blocks()) {
            if let Some(a) = a {
                a.now.download(to)?;
            }
        }
        Ok(())
    }

    /// Address of each array; 0 for a scalar.
    fn addresses(&self) -> Vec<u64> {
        self.arrays
            .iter()
            .map(|a| a.as_ref().map_or(0, |a| a.now.address() + a.guard as u64))
            .collect()
    }
}

/// A kernel on a GPU, with its arguments bound.
pub struct GpuKernel {
    session: Session,
    what: What,
    /// Where each argument's value lies; arrays point into `addresses`.
    values: Vec<*mut c_void>,
    /// Boxed, so that it stays where `values` point to.
    _addresses: Box<[u64]>,
    /// Recorded runs, where one is so short that launching would show.
    graph: Option<(Graph, i64)>,
}

enum What {
    Kernels(Vec<(Function, Launch)>),
    /// Host code that enqueues.
    Host(HostKernel),
}

/// Runs shorter than this are recorded and repeated in groups, s.
const SHORT_S: f64 = 2e-4;
/// Length of a batch between two events, s.
const BATCH_S: f64 = 0.02;

impl GpuKernel {
    /// Loads a kernel and binds the arguments.
    pub fn load(built: &Built, mirror: &Mirror, arguments: &mut Arguments) -> OnGpu<Self> {
        let session = mirror.session.clone();
        let mut addresses = mirror.addresses().into_boxed_slice();
        let scalars = arguments.pointers();
        let (what, values) = match built {
            Built::Cubin { file, launches } => {
                let io = |e: std::io::Error| CudaError::Io {
                    path: file.display().to_string(),
                    cause: format!("cannot be read: {e}"),
                };
                let module = session.load(&std::fs::read(file).map_err(io)?)?;
                let mut kernels = Vec::new();
                for l in launches {
                    let f = module.function(&l.kernel)?;
                    if l.shape.shared > 0 {
                        f.allow_shared(l.shape.shared)?;
                    }
                    kernels.push((f, l.clone()));
                }
                let values = addresses
                    .iter_mut()
                    .zip(scalars)
                    .map(|(a, s)| {
                        if *a == 0 {
                            s.cast()
                        } else {
                            std::ptr::from_mut(a).cast()
                        }
                    })
                    .collect();
                (What::Kernels(kernels), values)
            }
            Built::Library(path) => {
                let host = HostKernel::load(path).map_err(|cause| CudaError::Driver {
                    what: "a library cannot be loaded",
                    cause,
                })?;
                let mut values: Vec<*mut c_void> = addresses
                    .iter()
                    .zip(scalars)
                    .map(|(&a, s)| {
                        if a == 0 {
                            s.cast()
                        } else {
                            a as usize as *mut c_void
                        }
                    })
                    .collect();
                values.push(session.stream());
                (What::Host(host), values)
            }
        };
        Ok(Self {
            session,
            what,
            values,
            _addresses: addresses,
            graph: None,
        })
    }

    /// Puts one run on the stream.
    fn enqueue(&mut self) -> OnGpu<()> {
        enqueue(&self.what, &mut self.values)
    }

    fn enqueue_all(&mut self, n: i64) -> OnGpu<()> {
        let mut left = n;
        if let Some((graph, size)) = &self.graph {
            while left >= *size {
                graph.launch()?;
                left -= size;
            }
        }
        for _ in 0..left {
            self.enqueue()?;
        }
        Ok(())
    }

    /// Runs `n` times; returns the seconds on the GPU.
    pub fn run(&mut self, n: i64) -> OnGpu<f64> {
        let (start, end) = (self.session.event()?, self.session.event()?);
        start.record()?;
        self.enqueue_all(n)?;
        end.record()?;
        end.wait()?;
        end.since(&start)
    }

    /// Repeats for about some seconds without a gap; puts the mean of each batch into `times`.
    pub fn window(&mut self, seconds: f64, once: &mut f64, times: &mut Vec<f64>) -> OnGpu<Run> {
        if *once <= 0.0 {
            *once = self.run(1)?;
        }
        if *once < SHORT_S && self.graph.is_none() {
            *once = self.run(20)? / 20.0;
            let size = ((1e-3 / once.max(1e-7)) as i64).clamp(2, 512);
            let (what, values) = (&self.what, &mut self.values);
            let graph = self.session.graph(&mut || {
                for _ in 0..size {
                    enqueue(what, values)?;
                }
                Ok(())
            });
            // Host code that cannot be recorded is enqueued one by one.
            self.graph = graph.ok().map(|g| (g, size));
        }
        let mut size = ((BATCH_S.min(seconds / 4.0) / once.max(1e-7)).round() as i64).max(1);
        if let Some((_, group)) = &self.graph {
            size = (size / group).max(1) * group;
        }
        let first = self.session.event()?;
        first.record()?;
        // Two batches are on their way while one is waited for.
        let mut waiting: VecDeque<Event> = VecDeque::new();
        let mut last: Option<Event> = None;
        let (mut total, mut batches, mut enqueued) = (0.0, 0_i64, 0_i64);
        loop {
            let expected = total + *once * (size * (enqueued - batches)) as f64;
            if expected < 0.98 * seconds || enqueued == 0 {
                self.enqueue_all(size)?;
                let e = self.session.event()?;
                e.record()?;
                waiting.push_back(e);
                enqueued += 1;
                if waiting.len() < 3 {
                    continue;
                }
            }
            let Some(e) = waiting.pop_front() else { break };
            e.wait()?;
            times.push(e.since(last.as_ref().unwrap_or(&first))? / size as f64);
            total = e.since(&first)?;
            batches += 1;
            *once = total / (batches * size) as f64;
            last = Some(e);
        }
        Ok(Run {
            iterations: (batches * size) as f64,
            seconds: total,
        })
    }
}

fn enqueue(what: &What, values: &mut [*mut c_void]) -> OnGpu<()> {
    match what {
        What::Kernels(kernels) => {
            for (f, l) in kernels {
                // SAFETY: the values are those of the problem's arguments, in their order; that
                // the kernel takes them so is the problem's word, as with any C function.
                unsafe { f.launch(&l.shape, values)? };
            }
            Ok(())
        }
        What::Host(kernel) => {
            // The wrapper takes pointers to bytes.
            let mut pointers: Vec<*mut u8> = values.iter().map(|p| p.cast()).collect();
            kernel.call(&mut pointers, 1);
            Ok(())
        }
    }
}
