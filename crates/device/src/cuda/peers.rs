//! Copies between the memories of two GPUs of a host.

use super::{CudaError, Session, failed};
use cudarc::driver::{result, sys};

type Result<T> = std::result::Result<T, CudaError>;

impl Session {
    /// Enqueues a copy from memory of this GPU to memory of another, on the stream of this one.
    ///
    /// # Safety
    /// Both addresses are of memory of at least so many bytes on their GPUs, which lives until the copy has ended.
    ///
    /// # Errors
    /// The copy cannot be enqueued.
    pub unsafe fn copy_to_peer(
        &self,
        from: u64,
        (other, to): (&Self, u64),
        bytes: usize,
    ) -> Result<()> {
        self.make_current()?;
        // SAFETY: promised by the caller; contexts and stream are held by the sessions.
        unsafe {
            sys::cuMemcpyPeerAsync(to, other.context(), from, self.context(), bytes, self.raw())
        }
        .result()
        .map_err(|e: result::DriverError| failed("a copy between GPUs cannot be enqueued")(e))
    }
}
