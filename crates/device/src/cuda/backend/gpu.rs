//! A CUDA GPU as a backend.

use super::{Backend, unknown_kernel, unknown_memory};
use crate::cuda::{
    Arguments, Compiler, CudaError, Function, Gpu, Memory, Session, Shape, Source, cubins,
};
use std::cell::RefCell;

/// A CUDA GPU with kernels of one source.
pub struct GpuBackend {
    gpu: Gpu,
    kernels: Vec<(&'static str, Function)>,
    memory: RefCell<Vec<Memory>>,
    /// Dropped last.
    session: Session,
}

impl GpuBackend {
    /// Opens a GPU by its number and compiles a source for it, with these options of NVRTC. `kernels` are those to be
    /// launched, each with its dynamic shared memory, bytes.
    ///
    /// # Errors
    /// No driver, compiler or GPU; the source does not compile.
    pub fn open(
        ordinal: usize,
        name: &str,
        text: &str,
        options: &[String],
        kernels: &[(&'static str, usize)],
    ) -> Result<Self, CudaError> {
        let gpu = Gpu::numbered(ordinal)?;
        let session = Session::open(gpu.ordinal)?;
        let compiler = Compiler::new(cubins().as_deref())?;
        let compiled = compiler.compile(&Source {
            name,
            text,
            arch: &gpu.arch,
            options,
        })?;
        let module = session.load(&compiled.cubin)?;
        let kernels = kernels
            .iter()
            .map(|&(name, shared)| {
                let f = module.function(name)?;
                if shared > 0 {
                    f.allow_shared(shared as u32)?;
                }
                Ok((name, f))
            })
            .collect::<Result<Vec<_>, CudaError>>()?;
        Ok(Self {
            gpu,
            kernels,
            memory: RefCell::new(Vec::new()),
            session,
        })
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn with<T>(
        &self,
        address: u64,
        f: impl FnOnce(&Memory) -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        let all = self.memory.borrow();
        let found = all.iter().find(|m| m.address() == address);
        f(found.ok_or_else(|| unknown_memory(address))?)
    }

    fn function(&self, name: &str) -> Result<&Function, CudaError> {
        let found = self.kernels.iter().find(|k| k.0 == name);
        found.map(|k| &k.1).ok_or_else(|| unknown_kernel(name))
    }
}

impl Backend for GpuBackend {
    fn alloc_bytes(&self, bytes: usize) -> Result<u64, CudaError> {
        let m = self.session.alloc(bytes)?;
        let address = m.address();
        self.memory.borrow_mut().push(m);
        Ok(address)
    }

    fn upload_bytes(&self, to: u64, from: &[u8]) -> Result<(), CudaError> {
        self.with(to, |m| m.upload(from))
    }

    fn download_bytes(&self, from: u64, to: &mut [u8]) -> Result<(), CudaError> {
        self.with(from, |m| m.download(to))
    }

    unsafe fn launch<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        let f = self.function(kernel)?;
        // SAFETY: the caller's promise.
        unsafe { f.call_with(shape, arguments) }
    }

    unsafe fn launch_cooperative<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        let f = self.function(kernel)?;
        // SAFETY: the caller's promise.
        unsafe { f.call_cooperative_with(shape, arguments) }
    }

    fn wait(&self) -> Result<(), CudaError> {
        self.session.synchronize()
    }
}
