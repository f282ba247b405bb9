//! Buffers of a device. Where it shares the memory of the host, they are mapped instead of copied.

use super::{OpenClError, Session, check};
use opencl_sys as cl;
use std::ptr::{null, null_mut};

/// A buffer.
pub struct Memory {
    raw: cl::cl_mem,
    bytes: usize,
    session: Session,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made once, released once; the device keeps it while something enqueued uses it.
        unsafe { (self.session.functions().release_memory)(self.raw) };
    }
}

impl Session {
    /// Allocates a buffer.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn alloc(&self, bytes: usize) -> Result<Memory, OpenClError> {
        Memory::new(self, bytes)
    }
}

impl Memory {
    pub(super) fn new(session: &Session, bytes: usize) -> Result<Self, OpenClError> {
        let mut status = 0;
        // SAFETY: the context is alive; without a host pointer the device allocates.
        let raw = unsafe {
            (session.functions().create_buffer)(
                session.context(),
                cl::CL_MEM_READ_WRITE,
                bytes,
                null_mut(),
                &raw mut status,
            )
        };
        check("no memory for a buffer", status)?;
        Ok(Self {
            raw,
            bytes,
            session: session.clone(),
        })
    }

    /// A part of it as a buffer of its own: `bytes` from `at`, a multiple of 4096.
    ///
    /// # Errors
    /// The device wants another alignment.
    pub fn part(&self, at: usize, bytes: usize) -> Result<Self, OpenClError> {
        let region = cl::cl_buffer_region {
            origin: at,
            size: bytes,
        };
        let mut status = 0;
        // SAFETY: the buffer is alive, and the library keeps it as long as the part; the region is read during the call.
        let raw = unsafe {
            (self.session.functions().create_sub_buffer)(
                self.raw,
                cl::CL_MEM_READ_WRITE,
                cl::CL_BUFFER_CREATE_TYPE_REGION,
                (&raw const region).cast(),
                &raw mut status,
            )
        };
        check("a part of a buffer", status)?;
        Ok(Self {
            raw,
            bytes,
            session: self.session.clone(),
        })
    }

    /// Where its handle is, which arguments of kernels are.
    pub(super) fn handle(&self) -> *const cl::cl_mem {
        &raw const self.raw
    }

    /// Size, bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has no bytes, which no device allows.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Maps a range, gives its address to `with`, and unmaps it.
    fn mapped(
        &self,
        at: usize,
        bytes: usize,
        flags: cl::cl_map_flags,
        with: &mut dyn FnMut(*mut u8),
    ) -> Result<(), OpenClError> {
        let (f, queue) = (self.session.functions(), self.session.queue());
        let mut status = 0;
        // SAFETY: the range lies within the buffer; the call returns when it is mapped.
        let address = unsafe {
            (f.map)(
                queue,
                self.raw,
                cl::CL_TRUE,
                flags,
                at,
                bytes,
                0,
                null(),
                null_mut(),
                &raw mut status,
            )
        };
        check("a buffer cannot be mapped", status)?;
        with(address.cast());
        // SAFETY: mapped above.
        let status = unsafe { (f.unmap)(queue, self.raw, address, 0, null(), null_mut()) };
        check("a buffer cannot be unmapped", status)?;
        self.session.finish()
    }

    /// Copies from the host.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Panics
    /// The range exceeds the buffer.
    pub fn upload_at(&self, at: usize, from: &[u8]) -> Result<(), OpenClError> {
        self.check_range(at, from.len());
        if from.is_empty() {
            return Ok(());
        }
        if self.session.unified() {
            return self.mapped(at, from.len(), cl::CL_MAP_WRITE, &mut |to| {
                // SAFETY: the mapped range has the length of `from` and is the device's own memory.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
            });
        }
        // SAFETY: the range lies within the buffer; the call returns when it is copied.
        let status = unsafe {
            (self.session.functions().write)(
                self.session.queue(),
                self.raw,
                cl::CL_TRUE,
                at,
                from.len(),
                from.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        check("a buffer cannot be written", status)
    }

    fn check_range(&self, at: usize, bytes: usize) {
        assert!(at + bytes <= self.bytes, "a range outside of the buffer");
    }

    /// Copies to the host.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Panics
    /// The range exceeds the buffer.
    pub fn download_from(&self, at: usize, to: &mut [u8]) -> Result<(), OpenClError> {
        self.check_range(at, to.len());
        if to.is_empty() {
            return Ok(());
        }
        let (bytes, to) = (to.len(), to.as_mut_ptr());
        if self.session.unified() {
            return self.mapped(at, bytes, cl::CL_MAP_READ, &mut |from| {
                // SAFETY: the mapped range has the length of `to` and is the device's own memory.
                unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
            });
        }
        // SAFETY: the range lies within the buffer; `to` has so many bytes; the call returns when it is copied.
        let status = unsafe {
            (self.session.functions().read)(
                self.session.queue(),
                self.raw,
                cl::CL_TRUE,
                at,
                bytes,
                to.cast(),
                0,
                null(),
                null_mut(),
            )
        };
        check("a buffer cannot be read", status)
    }

    /// Copies another buffer of the same size.
    ///
    /// # Errors
    /// The device failed.
    pub fn copy_from(&self, from: &Self) -> Result<(), OpenClError> {
        let bytes = self.bytes.min(from.bytes);
        // SAFETY: both buffers are alive and have so many bytes.
        let status = unsafe {
            (self.session.functions().copy)(
                self.session.queue(),
                from.raw,
                self.raw,
                0,
                0,
                bytes,
                0,
                null(),
                null_mut(),
            )
        };
        check("a buffer cannot be copied", status)?;
        self.session.finish()
    }
}
