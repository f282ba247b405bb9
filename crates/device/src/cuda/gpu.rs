//! The GPUs of this host, as the driver describes them.

use super::{Compiled, CudaError, Session, failed, libraries};
use cudarc::driver::{result, sys};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Write as _;
use sys::CUdevice_attribute_enum as A;

/// One GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Number in the order of the driver.
    pub ordinal: i32,
    /// Model.
    pub name: String,
    /// PCI address, which identifies it in other libraries: `00000000:01:00.0`.
    pub bus_id: String,
    /// Identifier that stays with the GPU, as `nvidia-smi -L` shows it; empty where the driver gives none.
    #[serde(default)]
    pub uuid: String,
    /// Architecture, such as `sm_90`.
    pub arch: String,
    /// Number of multiprocessors.
    pub multiprocessors: i64,
    /// Memory, bytes.
    pub memory_bytes: usize,
    /// Maximum clock of the multiprocessors, Hz.
    pub clock_hz: f64,
    /// Maximum clock of the memory, Hz.
    pub memory_clock_hz: f64,
    #[serde(deserialize_with = "known_facts")]
    facts: Vec<(&'static str, i64)>,
}

/// Reads properties by name; those that this version does not know are left out.
fn known_facts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(&'static str, i64)>, D::Error> {
    let read = Vec::<(String, i64)>::deserialize(from)?;
    let value = |name: &str| read.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
    Ok(FACTS
        .iter()
        .filter_map(|(name, _)| Some((*name, value(name)?)))
        .collect())
}

fn bus_id(device: sys::CUdevice) -> Result<String, result::DriverError> {
    let mut text = [0_u8; 32];
    // SAFETY: the buffer has the length it is said to have; the driver ends it with a zero.
    unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device) }.result()?;
    let end = text.iter().position(|&c| c == 0).unwrap_or(text.len());
    Ok(String::from_utf8_lossy(&text[..end]).into_owned())
}

/// As `GPU-01234567-89ab-cdef-0123-456789abcdef`.
fn uuid_text(bytes: &[u8]) -> String {
    let mut out = String::from("GPU-");
    for (i, b) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{b:02x}");
    }
    out
}

fn uuid(device: sys::CUdevice) -> String {
    let bytes = result::device::get_uuid(device).map(|u| u.bytes.map(|b| b.to_ne_bytes()[0]));
    bytes.map_or_else(|_| String::new(), |b| uuid_text(&b))
}

/// Properties that search spaces refer to, and their attributes in the driver.
const FACTS: [(&str, A); 11] = [
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
    (
        "compute_capability_major",
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    ),
];

/// Those of an H200, from driver 580.
const H200: [i64; 11] = [
    132, 32, 1024, 2048, 32, 65_536, 65_536, 232_448, 233_472, 62_914_560, 9,
];

impl Gpu {
    /// A recorded GPU, for planning without one: `h200`.
    pub fn known(name: &str) -> Option<Self> {
        (name.eq_ignore_ascii_case("h200")).then(|| Self {
            ordinal: 0,
            name: "NVIDIA H200".into(),
            bus_id: String::new(),
            uuid: String::new(),
            arch: "sm_90".into(),
            multiprocessors: H200[0],
            memory_bytes: 150_109_880_320,
            clock_hz: 1.98e9,
            memory_clock_hz: 3.201e9,
            facts: FACTS.iter().map(|f| f.0).zip(H200).collect(),
        })
    }

    /// All visible GPUs; may be empty.
    ///
    /// # Errors
    /// No driver, or it does not start.
    pub fn all() -> Result<Vec<Self>, CudaError> {
        libraries::driver()?;
        match result::init() {
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => return Ok(Vec::new()),
            r => r.map_err(failed("the CUDA driver does not start"))?,
        }
        let n = result::device::get_count().map_err(failed("GPUs cannot be counted"))?;
        (0..n)
            .map(|ordinal| {
                Self::read(ordinal).map_err(failed("the driver does not describe a GPU"))
            })
            .collect()
    }

    /// Number of GPUs of this host; 0 without a driver: opening the first one says what is missing.
    pub fn count() -> usize {
        Self::all().map_or(0, |all| all.len())
    }

    /// The GPU of this number.
    ///
    /// # Errors
    /// As [`Self::all`], or there is no such GPU.
    pub fn numbered(ordinal: usize) -> Result<Self, CudaError> {
        Self::all()?
            .into_iter()
            .nth(ordinal)
            .ok_or_else(|| CudaError::Driver {
                what: "there is no such GPU",
                cause: ordinal.to_string(),
            })
    }

    fn read(ordinal: i32) -> Result<Self, result::DriverError> {
        let device = result::device::get(ordinal)?;
        // SAFETY: the device was given by the driver.
        let get = |a| unsafe { result::device::get_attribute(device, a) }.map(i64::from);
        let facts = FACTS
            .into_iter()
            .map(|(name, a)| Ok((name, get(a)?)))
            .collect::<Result<Vec<_>, result::DriverError>>()?;
        let major = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Self {
            ordinal,
            name: result::device::get_name(device)?,
            bus_id: bus_id(device)?,
            uuid: uuid(device),
            arch: format!("sm_{major}{minor}"),
            multiprocessors: facts[0].1,
            // SAFETY: the device was given by the driver.
            memory_bytes: unsafe { result::device::total_mem(device) }?,
            clock_hz: 1e3 * get(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? as f64,
            memory_clock_hz: 1e3 * get(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)? as f64,
            facts,
        })
    }

    /// The properties that a search space may refer to as `device.NAME`.
    pub fn named(&self) -> &[(&'static str, i64)] {
        &self.facts
    }

    /// Resident blocks per multiprocessor of each kernel, with this number of threads per block and dynamic shared memory,
    /// bytes; 0 if the driver refuses them.
    ///
    /// # Errors
    /// The cubin is for another GPU, or the GPU is lost.
    pub fn blocks(
        &self,
        compiled: &Compiled,
        threads: u32,
        dynamic_bytes: u32,
    ) -> Result<Vec<u32>, CudaError> {
        let module = Session::open(self.ordinal)?.load(&compiled.cubin)?;
        compiled
            .kernels
            .iter()
            .map(|k| {
                let f = module.function(&k.name)?;
                if f.allow_shared(dynamic_bytes).is_err() {
                    return Ok(0);
                }
                Ok(f.blocks(threads, dynamic_bytes).unwrap_or(0))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_the_drivers_tools() {
        let bytes: Vec<u8> = (0..16).map(|i| 0x11 * i).collect();
        let expected = "GPU-00112233-4455-6677-8899-aabbccddeeff";
        assert_eq!(uuid_text(&bytes), expected);
    }
}
