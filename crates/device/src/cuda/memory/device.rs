//! Memory of a GPU.

use crate::cuda::{CudaError, Session, failed};
use crate::memory::bytes;
use cudarc::driver::{result, sys};

/// Memory of a GPU, freed when dropped.
pub struct Memory {
    at: sys::CUdeviceptr,
    bytes: usize,
    session: Session,
}

impl Session {
    /// Free memory of the GPU, bytes.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn free_bytes(&self) -> Result<usize, CudaError> {
        self.make_current()?;
        result::mem_get_info()
            .map(|m| m.0)
            .map_err(failed("the GPU does not say how much memory is free"))
    }

    /// Allocates memory; its contents are undefined.
    ///
    /// # Errors
    /// The GPU has no more memory; the message says how much is free.
    pub fn alloc(&self, bytes: usize) -> Result<Memory, CudaError> {
        self.make_current()?;
        // SAFETY: the context is current; nothing is read before it is written.
        let at = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(|e| {
            let free = result::mem_get_info().map_or(0, |m| m.0);
            let driver = failed("no memory on the GPU")(e);
            CudaError::OutOfMemory(format!("{driver}: {bytes} bytes asked for, {free} free"))
        })?;
        Ok(Memory {
            at,
            bytes,
            session: self.clone(),
        })
    }
}

impl Session {
    /// New memory that holds a copy of these bytes.
    ///
    /// # Errors
    /// The GPU has no more memory, or is lost.
    pub fn kept(&self, bytes: &[u8]) -> Result<Memory, CudaError> {
        let m = self.alloc(bytes.len())?;
        m.upload(bytes)?;
        Ok(m)
    }

    /// New memory that holds these numbers.
    ///
    /// # Errors
    /// As [`Self::kept`].
    pub fn doubles(&self, from: &[f64]) -> Result<Memory, CudaError> {
        self.kept(bytes(from))
    }

    /// New memory that holds these numbers of single precision.
    ///
    /// # Errors
    /// As [`Self::kept`].
    pub fn floats(&self, from: &[f32]) -> Result<Memory, CudaError> {
        self.kept(bytes(from))
    }

    /// New memory that holds these integers.
    ///
    /// # Errors
    /// As [`Self::kept`].
    pub fn words(&self, from: &[u32]) -> Result<Memory, CudaError> {
        self.kept(bytes(from))
    }
}

impl Memory {
    /// Its address on the GPU.
    pub fn address(&self) -> u64 {
        self.at
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Size, bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the size is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn within(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
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

    /// Copies from the host to an offset in bytes.
    ///
    /// # Errors
    /// As [`Self::upload`].
    ///
    /// # Panics
    /// As [`Self::upload`].
    pub fn upload_at(&self, offset: usize, from: &[u8]) -> Result<(), CudaError> {
        self.within(offset, from.len());
        self.session.synchronize()?;
        self.session.make_current()?;
        // SAFETY: the range lies within the allocation.
        unsafe { result::memcpy_htod_sync(self.at + offset as u64, from) }
            .map_err(failed("copying to the GPU failed"))
    }

    /// Fills the memory with copies of a block.
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
            .map_err(failed("copying on the GPU failed"))?;
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

    /// Copies to the host from an offset in bytes.
    ///
    /// # Errors
    /// As [`Self::download`].
    ///
    /// # Panics
    /// As [`Self::download`].
    pub fn download_from(&self, offset: usize, to: &mut [u8]) -> Result<(), CudaError> {
        self.within(offset, to.len());
        self.session.synchronize()?;
        self.session.make_current()?;
        // SAFETY: the range lies within the allocation.
        unsafe { result::memcpy_dtoh_sync(to, self.at + offset as u64) }
            .map_err(failed("copying from the GPU failed"))
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
            .map_err(failed("copying on the GPU failed"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = self.session.make_current();
        // SAFETY: allocated once, freed once.
        let _ = unsafe { result::free_sync(self.at) };
    }
}
