//! The GPUs of this host, as the driver describes them.

use super::{Compiled, CudaError, libraries};
use cudarc::driver::{CudaContext, result, sys};
use cudarc::nvrtc::Ptx;
use serde::Serialize;

/// One GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gpu {
    pub ordinal: i32,
    pub name: String,
    /// `sm_90` and the like.
    pub arch: String,
    pub multiprocessors: i64,
    pub memory_bytes: usize,
    /// Highest clocks, Hz.
    pub clock_hz: f64,
    pub memory_clock_hz: f64,
    facts: Vec<(&'static str, i64)>,
}

fn failed(what: &'static str) -> impl Fn(result::DriverError) -> CudaError {
    move |e| CudaError::Driver {
        what,
        cause: e.error_string().map_or_else(
            |_| format!("{:?}", e.0),
            |s| s.to_string_lossy().into_owned(),
        ),
    }
}

impl Gpu {
    /// All GPUs that the driver shows; none where it shows none.
    ///
    /// # Errors
    /// No driver, or it does not start.
    pub fn all() -> Result<Vec<Self>, CudaError> {
        libraries::driver()?;
        match result::init() {
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => return Ok(Vec::new()),
            r => r.map_err(failed("the CUDA driver does not start"))?,
        }
        let n = result::device::get_count().map_err(failed("no count of GPUs"))?;
        (0..n)
            .map(|ordinal| {
                Self::read(ordinal).map_err(failed("the driver does not describe a GPU"))
            })
            .collect()
    }

    fn read(ordinal: i32) -> Result<Self, result::DriverError> {
        use sys::CUdevice_attribute_enum as A;
        let device = result::device::get(ordinal)?;
        // SAFETY: the device was given by the driver.
        let get = |a| unsafe { result::device::get_attribute(device, a) }.map(i64::from);
        let facts = [
            (
                "multiprocessors",
                A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            ),
            ("warp_size", A::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            (
                "max_threads_per_block",
                A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            ),
            (
                "max_threads_per_multiprocessor",
                A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            ),
            (
                "max_blocks_per_multiprocessor",
                A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
            ),
            (
                "max_registers_per_block",
                A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
            ),
            (
                "registers_per_multiprocessor",
                A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
            ),
            (
                "shared_bytes_per_block",
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            ),
            (
                "shared_bytes_per_multiprocessor",
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            ),
            ("l2_bytes", A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        ]
        .into_iter()
        .map(|(name, a)| Ok((name, get(a)?)))
        .collect::<Result<Vec<_>, result::DriverError>>()?;
        let major = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Self {
            ordinal,
            name: result::device::get_name(device)?,
            arch: format!("sm_{major}{minor}"),
            multiprocessors: facts[0].1,
            // SAFETY: the device was given by the driver.
            memory_bytes: unsafe { result::device::total_mem(device) }?,
            clock_hz: 1e3 * get(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? as f64,
            memory_clock_hz: 1e3 * get(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)? as f64,
            facts,
        })
    }

    /// The facts that a search space may refer to as `device.NAME`.
    pub fn named(&self) -> &[(&'static str, i64)] {
        &self.facts
    }

    /// Blocks of each kernel that the driver fits on a multiprocessor, with so many threads and so
    /// much dynamic shared memory; 0 where it refuses them.
    ///
    /// # Errors
    /// The cubin is for another GPU, or the GPU is lost.
    pub fn blocks(
        &self,
        compiled: &Compiled,
        threads: u32,
        dynamic_bytes: u32,
    ) -> Result<Vec<u32>, CudaError> {
        let wrong = failed("the compiled kernels cannot be loaded");
        let ordinal = usize::try_from(self.ordinal).unwrap_or(0);
        let context = CudaContext::new(ordinal).map_err(&wrong)?;
        let module = context
            .load_module(Ptx::from_binary(compiled.cubin.clone()))
            .map_err(&wrong)?;
        compiled
            .kernels
            .iter()
            .map(|k| {
                let f = module.load_function(&k.name).map_err(&wrong)?;
                let more =
                    sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                let asked = i32::try_from(dynamic_bytes).unwrap_or(i32::MAX);
                if f.set_attribute(more, asked).is_err() {
                    return Ok(0);
                }
                Ok(f.occupancy_max_active_blocks_per_multiprocessor(
                    threads,
                    dynamic_bytes as usize,
                    None,
                )
                .unwrap_or(0))
            })
            .collect()
    }
}
