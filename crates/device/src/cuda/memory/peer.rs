//! Memory of other GPUs that kernels of a GPU use, and a flag of the host that they read.

use crate::cuda::{CudaError, Memory, Session, failed};
use cudarc::driver::{result, sys};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The right of a GPU to use the memory of another one, as long as this exists.
pub struct PeerAccess {
    device: sys::CUdevice,
}

impl Drop for PeerAccess {
    fn drop(&mut self) {
        // SAFETY: retained in `peer_access`, given back once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

impl Session {
    /// Lets kernels of this GPU use all memory of GPU `ordinal` that this process allocates there; `None` if the two GPUs
    /// are the same, or have no connection for it.
    ///
    /// # Errors
    /// There is no such GPU, or one of them is lost.
    pub fn peer_access(&self, ordinal: i32) -> Result<Option<PeerAccess>, CudaError> {
        let peer = result::device::get(ordinal).map_err(failed("there is no such GPU"))?;
        if peer == self.device() {
            return Ok(None);
        }
        let mut can = 0;
        // SAFETY: both devices were given by the driver.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.device(), peer) }
            .result()
            .map_err(failed("the connection of two GPUs is unknown"))?;
        if can == 0 {
            return Ok(None);
        }
        // SAFETY: the device was given by the driver; `access` gives the context back.
        let context = unsafe { result::primary_ctx::retain(peer) }
            .map_err(failed("the GPU cannot be opened"))?;
        let access = PeerAccess { device: peer };
        self.make_current()?;
        // SAFETY: the context is alive.
        match unsafe { sys::cuCtxEnablePeerAccess(context, 0) } {
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {
                Ok(Some(access))
            }
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
            | sys::CUresult::CUDA_ERROR_TOO_MANY_PEERS => Ok(None),
            e => Err(failed("access to another GPU cannot be enabled")(
                result::DriverError(e),
            )),
        }
    }
}

/// A name of memory of a GPU for other processes of the host.
pub type Handle = [u64; 8];

/// Memory of another process, on this GPU or another one, that kernels of this GPU use.
pub struct PeerMemory {
    at: sys::CUdeviceptr,
    session: Session,
}

impl PeerMemory {
    /// Its address.
    pub fn address(&self) -> u64 {
        self.at
    }
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        let _ = self.session.make_current();
        // SAFETY: opened once, closed once.
        let _ = unsafe { sys::cuIpcCloseMemHandle(self.at) };
    }
}

impl Memory {
    /// Its name for other processes. The memory must be an allocation of its own: a multiple of 2 MiB.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn handle(&self) -> Result<Handle, CudaError> {
        self.session().make_current()?;
        let mut raw = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the address is that of an allocation.
        unsafe { sys::cuIpcGetMemHandle(&raw mut raw, self.address()) }
            .result()
            .map_err(failed(
                "memory of the GPU cannot be shared with other processes",
            ))?;
        // SAFETY: both are 64 bytes of any pattern.
        Ok(unsafe { std::mem::transmute::<[std::ffi::c_char; 64], Handle>(raw.reserved) })
    }
}

impl Session {
    /// Opens memory of another process.
    ///
    /// # Errors
    /// The process has ended, or the GPUs have no connection.
    pub fn open_handle(&self, handle: Handle) -> Result<PeerMemory, CudaError> {
        self.make_current()?;
        // SAFETY: both are 64 bytes of any pattern.
        let reserved = unsafe { std::mem::transmute::<Handle, [std::ffi::c_char; 64]>(handle) };
        let mut at = 0;
        let lazy = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        // SAFETY: the context is current; the driver checks the handle.
        unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut at, sys::CUipcMemHandle { reserved }, lazy) }
            .result()
            .map_err(failed("memory of another process cannot be opened"))?;
        Ok(PeerMemory {
            at,
            session: self.clone(),
        })
    }
}

/// A page of the host, as the driver maps whole pages.
#[repr(C, align(4096))]
struct Page {
    word: AtomicU32,
}

/// A flag that threads set and kernels read.
#[derive(Clone)]
pub struct Flag(Arc<Page>);

impl Default for Flag {
    fn default() -> Self {
        Self(Arc::new(Page {
            word: AtomicU32::new(0),
        }))
    }
}

impl Flag {
    /// Sets the flag.
    pub fn set(&self) {
        self.0.word.store(1, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.word.load(Ordering::SeqCst) != 0
    }

    /// A number for [`Self::take`] in another thread of this process.
    pub fn give(&self) -> u64 {
        Arc::into_raw(Arc::clone(&self.0)) as u64
    }

    /// The flag that [`Self::give`] gave.
    ///
    /// # Safety
    /// The number is of this process, and is taken once.
    pub unsafe fn take(number: u64) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { Arc::from_raw(number as *const Page) })
    }
}

/// A flag at an address that kernels of a GPU read.
pub struct MappedFlag {
    flag: Flag,
    at: sys::CUdeviceptr,
    session: Session,
}

impl Session {
    /// Maps a flag for kernels of this GPU. Each flag is mapped once at a time.
    ///
    /// # Errors
    /// The driver cannot map memory of the host.
    pub fn map_flag(&self, flag: &Flag) -> Result<MappedFlag, CudaError> {
        let what = "memory of the host cannot be mapped for the GPU";
        let page = Arc::as_ptr(&flag.0).cast_mut().cast();
        self.make_current()?;
        // SAFETY: the page lives as long as the mapping, which `MappedFlag` ends.
        unsafe {
            sys::cuMemHostRegister_v2(page, size_of::<Page>(), sys::CU_MEMHOSTREGISTER_DEVICEMAP)
        }
        .result()
        .map_err(failed(what))?;
        let mut mapped = MappedFlag {
            flag: flag.clone(),
            at: 0,
            session: self.clone(),
        };
        // SAFETY: the page was registered.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut mapped.at, page, 0) }
            .result()
            .map_err(failed(what))?;
        Ok(mapped)
    }
}

impl MappedFlag {
    /// Its address for kernels, of 32 bits.
    pub fn address(&self) -> u64 {
        self.at
    }
}

impl Drop for MappedFlag {
    fn drop(&mut self) {
        // A kernel may still read it.
        let _ = self.session.synchronize();
        let _ = self.session.make_current();
        // SAFETY: registered once, unregistered once.
        let _ = unsafe { sys::cuMemHostUnregister(Arc::as_ptr(&self.flag.0).cast_mut().cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_goes_to_another_thread() {
        let flag = Flag::default();
        let number = flag.give();
        let thread = std::thread::spawn(move || {
            // SAFETY: given above, taken once.
            let other = unsafe { Flag::take(number) };
            other.set();
        });
        thread.join().unwrap();
        assert!(flag.is_set());
        assert_eq!(Arc::strong_count(&flag.0), 1);
        assert_eq!(Arc::as_ptr(&flag.0) as usize % 4096, 0);
        assert_eq!(size_of::<Page>(), 4096);
    }
}
