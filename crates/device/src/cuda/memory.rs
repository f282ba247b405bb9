//! Memory of a GPU.

use super::gpu::failed;
use super::{CudaError, Session};
use cudarc::driver::{result, sys};

/// Bytes on the GPU, freed at the end.
pub struct Memory {
    at: sys::CUdeviceptr,
    bytes: usize,
    session: Session,
}

impl Session {
    /// Bytes of the GPU that nobody uses.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn free_bytes(&self) -> Result<usize, CudaError> {
        self.make_current()?;
        result::mem_get_info()
            .map(|m| m.0)
            .map_err(failed("the GPU does not say how much memory is free"))
    }

    /// # Errors
    /// The GPU has no more memory; the message says how much is free.
    pub fn alloc(&self, bytes: usize) -> Result<Memory, CudaError> {
        self.make_current()?;
        // SAFETY: the context is current; nothing is read before it is written.
        let at = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(|e| {
            let CudaError::Driver { cause, .. } = failed("")(e) else {
                return failed("no memory on the GPU")(e);
            };
            let free = result::mem_get_info().map_or(0, |m| m.0);
            CudaError::Driver {
                what: "no memory on the GPU",
                cause: format!("{cause}: {bytes} bytes asked for, {free} free"),
            }
        })?;
        Ok(Memory {
            at,
            bytes,
            session: self.clone(),
        })
    }
}

impl Memory {
    /// Its address on the GPU.
    pub fn address(&self) -> u64 {
        self.at
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn within(&self, place: usize, bytes: usize) {
        let end = place.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "a copy beyond its memory"
        );
    }

    /// Copies from the host, after everything enqueued before.
    ///
    /// # Errors
    /// The GPU is lost, or a kernel before failed.
    ///
    /// # Panics
    /// `from` is longer than the memory.
    pub fn upload(&self, from: &[u8]) -> Result<(), CudaError> {
        self.upload_at(0, from)
    }

    /// Copies from the host to a place of it.
    ///
    /// # Errors
    /// As [`Self::upload`].
    ///
    /// # Panics
    /// As [`Self::upload`].
    pub fn upload_at(&self, place: usize, from: &[u8]) -> Result<(), CudaError> {
        self.within(place, from.len());
        self.session.synchronize()?;
        self.session.make_current()?;
        // SAFETY: the range lies within the allocation.
        unsafe { result::memcpy_htod_sync(self.at + place as u64, from) }
            .map_err(failed("nothing can be copied to the GPU"))
    }

    /// Fills all of it with a block again and again.
    ///
    /// # Errors
    /// As [`Self::upload`].
    pub fn upload_repeated(&self, block: &[u8]) -> Result<(), CudaError> {
        let mut done = block.len().min(self.bytes);
        self.upload(&block[..done])?;
        // What is there is doubled, on the GPU.
        while done > 0 && done < self.bytes {
            let next = done.min(self.bytes - done);
            // SAFETY: both ranges lie within the allocation and do not overlap.
            unsafe {
                result::memcpy_dtod_async(self.at + done as u64, self.at, next, self.session.raw())
            }
            .map_err(failed("nothing can be copied on the GPU"))?;
            done += next;
        }
        self.session.synchronize()
    }

    /// Copies to the host, after everything enqueued before.
    ///
    /// # Errors
    /// The GPU is lost, or a kernel before failed.
    ///
    /// # Panics
    /// `to` is longer than the memory.
    pub fn download(&self, to: &mut [u8]) -> Result<(), CudaError> {
        self.download_from(0, to)
    }

    /// Copies to the host from a place of it.
    ///
    /// # Errors
    /// As [`Self::download`].
    ///
    /// # Panics
    /// As [`Self::download`].
    pub fn download_from(&self, place: usize, to: &mut [u8]) -> Result<(), CudaError> {
        self.within(place, to.len());
        self.session.synchronize()?;
        self.session.make_current()?;
        // SAFETY: the range lies within the allocation.
        unsafe { result::memcpy_dtoh_sync(to, self.at + place as u64) }
            .map_err(failed("nothing can be copied from the GPU"))
    }

    /// Copies all of another memory of the same length, on the stream.
    ///
    /// # Errors
    /// The GPU is lost.
    ///
    /// # Panics
    /// The lengths differ.
    pub fn copy_from(&self, other: &Self) -> Result<(), CudaError> {
        assert_eq!(self.bytes, other.bytes, "a copy of another length");
        // SAFETY: both ranges are whole allocations of this length.
        unsafe { result::memcpy_dtod_async(self.at, other.at, self.bytes, self.session.raw()) }
            .map_err(failed("nothing can be copied on the GPU"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = self.session.make_current();
        // SAFETY: allocated once, freed once.
        let _ = unsafe { result::free_sync(self.at) };
    }
}
