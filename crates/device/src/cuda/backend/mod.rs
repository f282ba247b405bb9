//! Backends that run kernels: a GPU, or an emulator on the host for tests.
//!
//! | module | contents |
//! |---|---|
//! | `gpu` | a CUDA GPU |
//! | `emulator` | the same source text, compiled for the host: one fiber per thread |
//! | `program` | the same, in a separate process with its own `main` |

mod emulator;
mod gpu;
mod program;

pub use emulator::Emulator;
pub use gpu::GpuBackend;
pub use program::on_fibers;

use super::{Arguments, CudaError, Pointer, Shape};
use crate::memory::{Plain, bytes, bytes_mut};

/// A C++ header under which SIMT kernels compile for the host and run there, one fiber per CUDA thread.
pub const SHIM: &str = include_str!("shim.hpp");

/// A device with loaded kernels: allocates memory, copies, and runs kernels one after the other.
///
/// Backends implement the functions on bytes; users call those on values.
pub trait Backend {
    /// Allocates memory, which lives as long as the backend; returns its address. Its contents are undefined.
    ///
    /// # Errors
    /// Not enough memory, or the device is lost.
    fn alloc_bytes(&self, bytes: usize) -> Result<u64, CudaError>;

    /// Copies from the host to the beginning of an allocation, after all kernels enqueued before.
    ///
    /// # Errors
    /// There is no such allocation, the device is lost, or a kernel before failed.
    ///
    /// # Panics
    /// The allocation is shorter.
    fn upload_bytes(&self, to: u64, from: &[u8]) -> Result<(), CudaError>;

    /// Copies to the host from the beginning of an allocation, after all kernels enqueued before.
    ///
    /// # Errors
    /// As [`Self::upload_bytes`].
    ///
    /// # Panics
    /// The allocation is shorter.
    fn download_bytes(&self, from: u64, to: &mut [u8]) -> Result<(), CudaError>;

    /// Enqueues a kernel.
    ///
    /// # Safety
    /// The kernel takes this structure, and its pointers are to this backend's memory, as large as the kernel uses.
    ///
    /// # Errors
    /// There is no such kernel, the shape is impossible, or the device is lost.
    unsafe fn launch<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError>;

    /// Enqueues a kernel whose blocks wait for each other.
    ///
    /// # Safety
    /// As [`Self::launch`].
    ///
    /// # Errors
    /// As [`Self::launch`], or the device cannot run all blocks at the same time.
    unsafe fn launch_cooperative<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError>;

    /// Waits for all kernels.
    ///
    /// # Errors
    /// A kernel failed, or the device is lost.
    fn wait(&self) -> Result<(), CudaError>;

    /// Allocates memory for values, which are undefined.
    ///
    /// # Errors
    /// As [`Self::alloc_bytes`].
    fn alloc<T: Plain>(&self, count: usize) -> Result<Pointer<T>, CudaError> {
        // An empty allocation has no address.
        let bytes = (count * size_of::<T>()).max(16);
        Ok(Pointer::new(self.alloc_bytes(bytes)?))
    }

    /// Allocates memory with these values.
    ///
    /// # Errors
    /// As [`Self::alloc_bytes`].
    fn alloc_with<T: Plain>(&self, values: &[T]) -> Result<Pointer<T>, CudaError> {
        let new = self.alloc(values.len())?;
        self.upload(new, values)?;
        Ok(new)
    }

    /// Copies values from the host.
    ///
    /// # Errors
    /// As [`Self::upload_bytes`].
    ///
    /// # Panics
    /// The allocation is shorter.
    fn upload<T: Plain>(&self, to: Pointer<T>, from: &[T]) -> Result<(), CudaError> {
        if from.is_empty() {
            Ok(())
        } else {
            self.upload_bytes(to.address(), bytes(from))
        }
    }

    /// Copies values to the host.
    ///
    /// # Errors
    /// As [`Self::upload_bytes`].
    ///
    /// # Panics
    /// The allocation is shorter.
    fn download<T: Plain>(&self, from: Pointer<T>, to: &mut [T]) -> Result<(), CudaError> {
        if to.is_empty() {
            Ok(())
        } else {
            self.download_bytes(from.address(), bytes_mut(to))
        }
    }
}

fn unknown_memory(address: u64) -> CudaError {
    CudaError::Driver {
        what: "no such memory",
        cause: format!("{address:#x}"),
    }
}

fn unknown_kernel(name: &str) -> CudaError {
    CudaError::Driver {
        what: "no such kernel",
        cause: name.to_owned(),
    }
}
