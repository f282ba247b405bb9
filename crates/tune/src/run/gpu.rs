//! Kernels that run on a GPU, and the arguments there.

use super::data::Arguments;
use super::host::HostKernel;
use super::job::Built;
use crate::problem::Launch;
use greenup_device::cuda::{CudaError, Function, Memory, Repeater, Session, TensorMap};
use greenup_meter::Run;
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
    /// Likewise.
    _maps: Box<[TensorMap]>,
    repeater: Repeater,
}

enum What {
    Kernels(Vec<(Function, Launch)>),
    /// Host code that enqueues.
    Host(HostKernel),
}

impl GpuKernel {
    /// Loads a kernel and binds the arguments.
    pub fn load(built: &Built, mirror: &Mirror, arguments: &mut Arguments) -> OnGpu<Self> {
        let session = mirror.session.clone();
        let mut addresses = mirror.addresses().into_boxed_slice();
        let scalars = arguments.pointers();
        let mut maps: Box<[TensorMap]> = Box::default();
        let (what, values) = match built {
            Built::Cubin {
                file,
                launches,
                maps: written,
            } => {
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
                maps = written
                    .iter()
                    .map(|m| {
                        let address = addresses.get(m.argument).copied().unwrap_or(0);
                        TensorMap::new(&m.shape, address)
                    })
                    .collect::<OnGpu<_>>()?;
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
                    .chain(maps.iter_mut().map(|m| std::ptr::from_mut(m).cast()))
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
            _maps: maps,
            repeater: Repeater::default(),
        })
    }

    /// Runs `n` times; returns the seconds on the GPU.
    pub fn run(&mut self, n: i64) -> OnGpu<f64> {
        let (what, values) = (&self.what, &mut self.values);
        self.repeater
            .run(&self.session, n, &mut || enqueue(what, values))
    }

    /// Repeats for about some seconds without a gap; puts the mean of each batch into `times`.
    pub fn window(&mut self, seconds: f64, times: &mut Vec<f64>) -> OnGpu<Run> {
        let (what, values) = (&self.what, &mut self.values);
        let done =
            self.repeater
                .window(&self.session, seconds, &mut || enqueue(what, values), times)?;
        Ok(Run {
            iterations: done.runs as f64,
            seconds: done.seconds,
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
