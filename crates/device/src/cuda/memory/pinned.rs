//! Pinned host memory, for asynchronous copies.

use crate::cuda::{CudaError, Memory, Session, failed};
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
            .map_err(failed("no memory of the host for copies"))
            .map_err(|e| CudaError::OutOfMemory(e.to_string()))?;
        // SAFETY: the driver gave so many bytes.
        unsafe { at.cast::<u8>().write_bytes(0, bytes) };
        Ok(Pinned {
            at,
            bytes,
            session: self.clone(),
        })
    }
}

/// Whether a range lies within the memory of a GPU.
fn fits(memory: &Memory, offset: usize, bytes: usize) -> bool {
    offset
        .checked_add(bytes)
        .is_some_and(|end| end <= memory.len())
}

impl Pinned {
    /// Size, bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the size is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

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
        self.upload_at(to, 0, bytes)
    }

    /// Enqueues a copy of the first `bytes` to an offset, in bytes, on the GPU.
    ///
    /// # Errors
    /// The GPU is lost.
    ///
    /// # Panics
    /// One of the memories is shorter.
    pub fn upload_at(&mut self, to: &Memory, offset: usize, bytes: usize) -> Result<(), CudaError> {
        assert!(
            bytes <= self.bytes && fits(to, offset, bytes),
            "a copy beyond its memory"
        );
        // SAFETY: both ranges are within their allocations; the source stays until the stream was
        // waited for, by `bytes` or by the end of the session.
        unsafe {
            let from = std::slice::from_raw_parts(self.at.cast::<u8>(), bytes);
            result::memcpy_htod_async(to.address() + offset as u64, from, self.session.raw())
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
        self.download_at(0, from, 0, bytes)
    }

    /// Enqueues a copy of `bytes` at an offset on the GPU to byte `at`.
    ///
    /// # Errors
    /// The GPU is lost.
    ///
    /// # Panics
    /// One of the memories is shorter.
    pub fn download_at(
        &mut self,
        at: usize,
        from: &Memory,
        offset: usize,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let end = at.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes) && fits(from, offset, bytes),
            "a copy beyond its memory"
        );
        // SAFETY: as of `upload`.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.at.cast::<u8>().add(at), bytes);
            result::memcpy_dtoh_async(to, from.address() + offset as u64, self.session.raw())
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
