//! Pinned host memory, for asynchronous copies.

use crate::cuda::gpu::failed;
use crate::cuda::{CudaError, Memory, Session};
use cudarc::driver::result;
use std::ffi::c_void;

/// Pinned host memory, freed when dropped.
pub struct Pinned {
    at: *mut c_void,
    bytes: usize,
    /// Keeps the GPU's context, to which the memory belongs.
    session: Session,
}

impl Session {
    /// Allocates pinned host memory.
    ///
    /// # Errors
    /// The host has no more memory to pin.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned, CudaError> {
        self.make_current()?;
        // SAFETY: the context is current.
        let at = unsafe { result::malloc_host(bytes.max(1), 0) }
            .map_err(failed("no memory of the host for copies"))?;
        // SAFETY: the driver gave so many bytes.
        unsafe { at.cast::<u8>().write_bytes(0, bytes) };
        Ok(Pinned {
            at,
            bytes,
            session: self.clone(),
        })
    }
}

impl Pinned {
    /// All bytes, after every copy enqueued on the session.
    ///
    /// # Errors
    /// A kernel before failed, or the GPU is lost.
    pub fn bytes(&mut self) -> Result<&mut [u8], CudaError> {
        self.session.synchronize()?;
        // SAFETY: so many bytes, written at the start; no copy is under way, and none begins while they
        // are borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.bytes) })
    }

    /// Enqueues a copy of the first `bytes` to the GPU.
    ///
    /// # Errors
    /// The GPU is lost.
    ///
    /// # Panics
    /// One of the memories is shorter.
    pub fn upload(&mut self, to: &Memory, bytes: usize) -> Result<(), CudaError> {
        assert!(
            bytes <= self.bytes && bytes <= to.len(),
            "a copy beyond its memory"
        );
        // SAFETY: both ranges are within their allocations; the source stays until the stream was
        // waited for, by `bytes` or by the end of the session.
        unsafe {
            let from = std::slice::from_raw_parts(self.at.cast::<u8>(), bytes);
            result::memcpy_htod_async(to.address(), from, self.session.raw())
        }
        .map_err(failed("copying to the GPU failed"))
    }

    /// Enqueues a copy of the first `bytes` from the GPU.
    ///
    /// # Errors
    /// The GPU is lost.
    ///
    /// # Panics
    /// One of the memories is shorter.
    pub fn download(&mut self, from: &Memory, bytes: usize) -> Result<(), CudaError> {
        assert!(
            bytes <= self.bytes && bytes <= from.len(),
            "a copy beyond its memory"
        );
        // SAFETY: as of `upload`.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.at.cast::<u8>(), bytes);
            result::memcpy_dtoh_async(to, from.address(), self.session.raw())
        }
        .map_err(failed("copying from the GPU failed"))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A copy may be under way; if it failed, it is over too.
        let _ = self.session.synchronize();
        let _ = self.session.make_current();
        // SAFETY: allocated once, freed once.
        let _ = unsafe { result::free_host(self.at) };
    }
}
