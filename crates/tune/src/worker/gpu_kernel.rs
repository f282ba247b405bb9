//! Kernels that run on a GPU.

use crate::problem::{Launch, Map, TextureOf};
use crate::worker::host_kernel::HostKernel;
use crate::worker::inputs::arguments::Arguments;
use crate::worker::inputs::block::CANARY;
use crate::worker::protocol::Built;
use greenup_device::cuda::{CudaError, Function, Repeater, Session, TensorMap, Texture};
use greenup_meter::Run;
use std::ffi::c_void;

type OnGpu<T> = Result<T, CudaError>;

/// The arguments on a GPU.
type Mirror = super::mirror::Mirror<Session>;

/// Address of each array; 0 for a scalar.
fn addresses(mirror: &Mirror) -> Vec<u64> {
    (mirror.arrays())
        .map(|a| a.map_or(0, |a| a.now.address() + CANARY as u64))
        .collect()
}

/// A kernel on a GPU, with its arguments bound.
pub struct GpuKernel {
    session: Session,
    what: What,
    /// What kernels take behind the arguments, as written.
    written: Views,
    bound: Bound,
    repeater: Repeater,
}

enum What {
    Kernels(Vec<(Function, Launch)>),
    /// Host code that enqueues.
    Host(HostKernel),
}

/// Views of arrays that kernels take behind the arguments: boxes for the copy engine, and textures.
#[derive(Clone, Default)]
struct Views {
    maps: Vec<Map>,
    textures: Vec<TextureOf>,
}

/// Where the arguments lie.
struct Bound {
    /// Where each argument's value lies; arrays point into `addresses`.
    values: Vec<*mut c_void>,
    /// Boxed, so that it stays where `values` point to.
    _addresses: Box<[u64]>,
    /// Likewise.
    _maps: Box<[TensorMap]>,
    /// Likewise; `values` point to their objects.
    _objects: Box<[u64]>,
    _textures: Vec<Texture>,
}

impl Bound {
    fn kernels(written: &Views, mirror: &Mirror, arguments: &mut Arguments) -> OnGpu<Self> {
        let mut addresses = addresses(mirror).into_boxed_slice();
        let mut maps: Box<[TensorMap]> = (written.maps.iter())
            .map(|m| {
                let address = addresses.get(m.argument).copied().unwrap_or(0);
                TensorMap::new(&m.shape, address)
            })
            .collect::<OnGpu<_>>()?;
        let textures: Vec<Texture> = (written.textures.iter())
            .map(|t| {
                let address = addresses.get(t.argument).copied().unwrap_or(0);
                let array = mirror.arrays().nth(t.argument).flatten();
                let bytes = array.map_or(0, |a| a.bytes);
                Texture::new(&mirror.session, address, bytes, t.texel)
            })
            .collect::<OnGpu<_>>()?;
        let mut objects: Box<[u64]> = textures.iter().map(Texture::object).collect();
        let values = addresses
            .iter_mut()
            .zip(arguments.pointers())
            .enumerate()
            .filter(|(i, _)| arguments.passed(*i))
            .map(|(_, (a, s))| {
                if *a == 0 {
                    s.cast()
                } else {
                    std::ptr::from_mut(a).cast()
                }
            })
            .chain(maps.iter_mut().map(|m| std::ptr::from_mut(m).cast()))
            .chain(objects.iter_mut().map(|o| std::ptr::from_mut(o).cast()))
            .collect();
        Ok(Self {
            values,
            _addresses: addresses,
            _maps: maps,
            _objects: objects,
            _textures: textures,
        })
    }

    /// Host code takes the addresses themselves, and the stream.
    fn host(mirror: &Mirror, arguments: &mut Arguments) -> Self {
        let addresses = addresses(mirror).into_boxed_slice();
        let mut values: Vec<*mut c_void> = addresses
            .iter()
            .zip(arguments.pointers())
            .map(|(&a, s)| {
                if a == 0 {
                    s.cast()
                } else {
                    a as usize as *mut c_void
                }
            })
            .collect();
        values.push(mirror.session.stream());
        Self {
            values,
            _addresses: addresses,
            _maps: Box::default(),
            _objects: Box::default(),
            _textures: Vec::new(),
        }
    }
}

impl GpuKernel {
    /// Loads a kernel and binds the arguments.
    pub fn load(built: &Built, mirror: &Mirror, arguments: &mut Arguments) -> OnGpu<Self> {
        let session = mirror.session.clone();
        let (what, written, bound) = match built {
            Built::Cubin {
                file,
                launches,
                maps,
                textures,
            } => {
                let io = |e: std::io::Error| CudaError::Io {
                    path: file.display().to_string(),
                    cause: format!("cannot be read: {e}"),
                };
                let module = session.load(&std::fs::read(file).map_err(io)?)?;
                for (symbol, bytes) in arguments.symbols() {
                    module.set_global(symbol, bytes)?;
                }
                let mut kernels = Vec::new();
                for l in launches {
                    let f = module.function(&l.kernel)?;
                    if l.shape.shared > 0 {
                        f.allow_shared(l.shape.shared)?;
                    }
                    kernels.push((f, l.clone()));
                }
                let views = Views {
                    maps: maps.clone(),
                    textures: textures.clone(),
                };
                let bound = Bound::kernels(&views, mirror, arguments)?;
                (What::Kernels(kernels), views, bound)
            }
            Built::Library(path) => {
                let host = HostKernel::load(path).map_err(|cause| CudaError::Driver {
                    what: "a library cannot be loaded",
                    cause: cause.to_string(),
                })?;
                let bound = Bound::host(mirror, arguments);
                (What::Host(host), Views::default(), bound)
            }
            Built::Command(_) | Built::OpenCl { .. } => {
                return Err(CudaError::Driver {
                    what: "this is no kernel in CUDA",
                    cause: "it runs elsewhere".to_owned(),
                });
            }
        };
        Ok(Self {
            session,
            what,
            written,
            bound,
            repeater: Repeater::default(),
        })
    }

    /// Binds the arguments of another mirror. The kernel stays loaded, with what it remembers.
    pub fn rebind(&mut self, mirror: &Mirror, arguments: &mut Arguments) -> OnGpu<()> {
        self.bound = match self.what {
            What::Kernels(_) => Bound::kernels(&self.written, mirror, arguments)?,
            What::Host(_) => Bound::host(mirror, arguments),
        };
        // Recorded runs have the addresses of before.
        self.repeater = Repeater::default();
        Ok(())
    }

    /// Runs `n` times; returns the seconds on the GPU.
    pub fn run(&mut self, n: i64) -> OnGpu<f64> {
        let (what, values) = (&self.what, &mut self.bound.values);
        let one = &mut || enqueue(what, values);
        // SAFETY: the worker keeps what the kernel is bound to; bound anew, the recorded runs are forgotten.
        unsafe { self.repeater.run(&self.session, n, one) }
    }

    /// Repeats for about some seconds without a gap; puts the mean of each batch into `times`.
    pub fn window(&mut self, seconds: f64, times: &mut Vec<f64>) -> OnGpu<Run> {
        let (what, values) = (&self.what, &mut self.bound.values);
        let one = &mut || enqueue(what, values);
        // SAFETY: as in `run`.
        let done = unsafe { self.repeater.window(&self.session, seconds, one, times) }?;
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
