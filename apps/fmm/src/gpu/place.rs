//! Where the passes run: a GPU, or what stands in for one in tests.

use greenup_device::cuda::{
    Arg, Compiler, CudaError, Function, Gpu as Found, Memory, Session, Shape, Source, cubins,
};
use std::cell::RefCell;

/// Memory of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub u64);

impl From<&At> for Arg {
    fn from(at: &At) -> Self {
        Self::At(at.0)
    }
}

/// Holds memory and launches kernels, one after the other.
pub trait Place {
    /// # Errors
    /// Not enough memory, or the place is lost.
    fn alloc(&self, bytes: usize) -> Result<At, CudaError>;

    /// # Errors
    /// The place is lost.
    fn upload(&self, to: At, from: &[u8]) -> Result<(), CudaError>;

    /// After all that was launched.
    ///
    /// # Errors
    /// The place is lost.
    fn download(&self, from: At, to: &mut [u8]) -> Result<(), CudaError>;

    /// # Safety
    /// The arguments are those that the kernel takes, and their memory is as large as it uses.
    ///
    /// # Errors
    /// The shape is impossible, or the place is lost.
    unsafe fn call(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &[Arg],
    ) -> Result<(), CudaError>;

    /// Waits for all launches.
    ///
    /// # Errors
    /// The place is lost.
    fn wait(&self) -> Result<(), CudaError>;
}

/// The kernels of the passes.
pub const KERNELS: [&str; 10] = [
    "near_points",
    "to_shells",
    "from_shells",
    "order_charges",
    "order_sums",
    "clear",
    "apply",
    "forward",
    "back",
    "products",
];

/// A CUDA GPU.
pub struct OnGpu {
    pub name: String,
    kernels: Vec<(&'static str, Function)>,
    memory: RefCell<Vec<Memory>>,
    /// After all that uses it.
    session: Session,
}

impl OnGpu {
    /// Takes a GPU by its number, with kernels of a source; those named in `roomy` may take so much shared memory.
    ///
    /// # Errors
    /// No driver, compiler or GPU.
    pub fn open(
        ordinal: usize,
        text: &str,
        (roomy, bytes): (&[&str], usize),
    ) -> Result<Self, CudaError> {
        let gpu = Found::numbered(ordinal)?;
        let session = Session::open(gpu.ordinal)?;
        let compiler = Compiler::new(cubins().as_deref())?;
        let compiled = compiler.compile(&Source {
            name: "fmm.cu",
            text,
            arch: &gpu.arch,
            options: &["--ftz=true".to_owned()],
        })?;
        let module = session.load(&compiled.cubin)?;
        let kernels = KERNELS
            .iter()
            .map(|&name| Ok((name, module.function(name)?)))
            .collect::<Result<Vec<_>, CudaError>>()?;
        for (_, k) in kernels.iter().filter(|(n, _)| roomy.contains(n)) {
            k.allow_shared(bytes as u32)?;
        }
        Ok(Self {
            name: gpu.name,
            kernels,
            memory: RefCell::new(Vec::new()),
            session,
        })
    }

    fn with<T>(
        &self,
        at: At,
        f: impl FnOnce(&Memory) -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        let all = self.memory.borrow();
        let found = all.iter().find(|m| m.address() == at.0);
        f(found.ok_or(CudaError::Driver {
            what: "no such memory",
            cause: format!("{:x}", at.0),
        })?)
    }
}

impl Place for OnGpu {
    fn alloc(&self, bytes: usize) -> Result<At, CudaError> {
        let m = self.session.alloc(bytes)?;
        let at = At(m.address());
        self.memory.borrow_mut().push(m);
        Ok(at)
    }

    fn upload(&self, to: At, from: &[u8]) -> Result<(), CudaError> {
        self.with(to, |m| m.upload(from))
    }

    fn download(&self, from: At, to: &mut [u8]) -> Result<(), CudaError> {
        self.with(from, |m| m.download(to))
    }

    unsafe fn call(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &[Arg],
    ) -> Result<(), CudaError> {
        let found = self.kernels.iter().find(|k| k.0 == kernel);
        let (_, f) = found.ok_or(CudaError::Driver {
            what: "no such kernel",
            cause: kernel.to_owned(),
        })?;
        // SAFETY: the caller's promise.
        unsafe { f.call(shape, arguments) }
    }

    fn wait(&self) -> Result<(), CudaError> {
        self.session.synchronize()
    }
}
