//! Loaded kernels and their launches.

use super::{CudaError, Session, failed};
use cudarc::driver::{DriverError, result, sys};
use serde::{Deserialize, Serialize};
use std::ffi::{CString, c_void};
use std::rc::Rc;

/// A loaded cubin.
#[derive(Clone)]
pub struct Module(Rc<Inner>);

struct Inner {
    raw: sys::CUmodule,
    session: Session,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.session.make_current();
        // SAFETY: loaded once, unloaded once.
        let _ = unsafe { result::module::unload(self.raw) };
    }
}

/// A launch function of the driver: function, grid, block, shared memory, stream, arguments.
type Launch = unsafe fn(
    sys::CUfunction,
    (u32, u32, u32),
    (u32, u32, u32),
    u32,
    sys::CUstream,
    &mut [*mut c_void],
) -> Result<(), DriverError>;

/// Launch configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, bytes.
    pub shared: u32,
}

impl Shape {
    /// One dimension of each, without dynamic shared memory.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
        }
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().fold(1, |n: u32, &b| n.saturating_mul(b))
    }
}

/// A kernel of a loaded cubin.
#[derive(Clone)]
pub struct Function {
    raw: sys::CUfunction,
    module: Module,
}

impl Session {
    /// Loads a cubin.
    ///
    /// # Errors
    /// It is for another GPU, or there is no memory for it.
    pub fn load(&self, cubin: &[u8]) -> Result<Module, CudaError> {
        Module::load(self, cubin)
    }
}

impl Module {
    pub(super) fn load(session: &Session, cubin: &[u8]) -> Result<Self, CudaError> {
        session.make_current()?;
        // SAFETY: the image is a whole cubin; the driver copies what it needs.
        let raw = unsafe { result::module::load_data(cubin.as_ptr().cast()) }
            .map_err(failed("the compiled kernels cannot be loaded"))?;
        Ok(Self(Rc::new(Inner {
            raw,
            session: session.clone(),
        })))
    }

    /// Copies to a global variable of the module, such as constant memory, from its start.
    ///
    /// # Errors
    /// There is no such variable, or it is smaller.
    pub fn set_global(&self, name: &str, bytes: &[u8]) -> Result<(), CudaError> {
        let wrong = |what: &'static str| CudaError::Driver {
            what,
            cause: name.to_owned(),
        };
        let missing = || wrong("the kernels have no global variable of this name");
        let c = CString::new(name).map_err(|_| missing())?;
        self.0.session.synchronize()?;
        self.0.session.make_current()?;
        // SAFETY: the module is loaded.
        let (at, size) =
            unsafe { result::module::get_global(self.0.raw, c) }.map_err(|_| missing())?;
        if bytes.len() > size {
            return Err(wrong(
                "the array is larger than this variable of the kernels",
            ));
        }
        // SAFETY: the range lies within the variable.
        unsafe { result::memcpy_htod_sync(at, bytes) }.map_err(failed("copying to the GPU failed"))
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// There is no such kernel.
    pub fn function(&self, name: &str) -> Result<Function, CudaError> {
        let missing = || CudaError::Driver {
            what: "there is no such kernel",
            cause: name.to_owned(),
        };
        let c = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the module is loaded.
        let raw = unsafe { result::module::get_function(self.0.raw, c) }.map_err(|_| missing())?;
        Ok(Function {
            raw,
            module: self.clone(),
        })
    }
}

impl Function {
    /// Permits dynamic shared memory above the default limit of 48 KiB per block.
    ///
    /// # Errors
    /// More than the GPU has.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), CudaError> {
        let asked = i32::try_from(bytes).unwrap_or(i32::MAX);
        let attribute =
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to a loaded module.
        unsafe { result::function::set_function_attribute(self.raw, attribute, asked) }
            .map_err(failed("too much dynamic shared memory"))
    }

    /// Resident blocks per multiprocessor.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn blocks(&self, threads: u32, dynamic_bytes: u32) -> Result<u32, CudaError> {
        // SAFETY: the function belongs to a loaded module.
        unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                self.raw,
                i32::try_from(threads).unwrap_or(i32::MAX),
                dynamic_bytes as usize,
            )
        }
        .map(|n| u32::try_from(n).unwrap_or(0))
        .map_err(failed("the occupancy is unknown"))
    }

    /// Enqueues a kernel.
    ///
    /// # Safety
    /// `arguments` point to values of the types that the kernel takes, in their order, and what
    /// those values point to is memory of this GPU that the kernel may use.
    ///
    /// # Errors
    /// The shape is impossible, or the GPU is lost.
    pub unsafe fn launch(
        &self,
        shape: &Shape,
        arguments: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let wrong = "the kernel cannot be launched";
        // SAFETY: promised by the caller.
        unsafe { self.enqueue(result::launch_kernel, shape, arguments, wrong) }
    }

    /// Enqueues a kernel whose blocks may wait for each other; the driver refuses it if they cannot all run at the same
    /// time.
    ///
    /// # Safety
    /// As [`Self::launch`].
    ///
    /// # Errors
    /// As [`Self::launch`], or the GPU cannot run all blocks at the same time.
    pub unsafe fn launch_cooperative(
        &self,
        shape: &Shape,
        arguments: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let wrong = "the cooperative kernel cannot be launched";
        // SAFETY: promised by the caller.
        unsafe { self.enqueue(result::launch_cooperative_kernel, shape, arguments, wrong) }
    }

    /// # Safety
    /// As [`Self::launch`].
    unsafe fn enqueue(
        &self,
        how: Launch,
        shape: &Shape,
        arguments: &mut [*mut c_void],
        wrong: &'static str,
    ) -> Result<(), CudaError> {
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let session = &self.module.0.session;
        session.make_current()?;
        // SAFETY: promised by the caller; function and stream are alive.
        unsafe {
            how(
                self.raw,
                (gx, gy, gz),
                (bx, by, bz),
                shape.shared,
                session.raw(),
                arguments,
            )
        }
        .map_err(failed(wrong))
    }
}
