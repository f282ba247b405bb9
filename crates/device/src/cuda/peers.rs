//! Copies between the memories of two GPUs of a host.

use super::gpu::failed;
use super::{CudaError, Session};
use cudarc::driver::{result, sys};

type Result<T> = std::result::Result<T, CudaError>;

impl Session {
    /// Whether this GPU can use the memory of another directly. Without that, copies go through the host.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn reaches(&self, other: &Self) -> Result<bool> {
        let mut yes = 0;
        // SAFETY: both devices were given by the driver.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut yes, self.device(), other.device()) }
            .result()
            .map_err(failed(
                "the driver does not tell whether GPUs reach each other",
            ))?;
        Ok(yes != 0)
    }

    /// Lets this GPU use the memory of another directly; once is enough.
    ///
    /// # Errors
    /// It cannot.
    pub fn reach(&self, other: &Self) -> Result<()> {
        self.make_current()?;
        // SAFETY: the context of the other GPU is held by its session.
        let r = unsafe { sys::cuCtxEnablePeerAccess(other.context(), 0) };
        match r {
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            r => r.result().map_err(failed("a GPU cannot reach another")),
        }
    }

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
