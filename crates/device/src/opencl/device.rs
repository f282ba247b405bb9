//! Devices and their properties, as the implementations describe them.

use super::library::{Functions, functions};
use super::query::{DeviceHandle, found, number, property, text};
use super::{Address, Choice, OpenClError};
use opencl_sys as cl;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The processor of the host: kernels share the memory of the process that starts them.
    Cpu,
    /// A GPU.
    Gpu,
    /// An accelerator of another kind.
    Accelerator,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
            Self::Accelerator => "accelerator",
        })
    }
}

/// One device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Where it is.
    pub address: Address,
    /// Name of its platform.
    pub platform: String,
    /// Model.
    pub name: String,
    /// Version of OpenCL, with what the implementation adds.
    pub version: String,
    /// Version of the driver.
    pub driver: String,
    /// Kind.
    pub kind: DeviceKind,
    /// PCI address, which identifies a GPU in other libraries, where the implementation gives it: `00000000:01:00.0`.
    pub bus_id: Option<String>,
    facts: Vec<(&'static str, i64)>,
}

/// Properties that search spaces refer to, and their queries.
const FACTS: [(&str, cl::cl_device_info); 17] = [
    ("compute_units", cl::CL_DEVICE_MAX_COMPUTE_UNITS),
    ("max_work_group_size", cl::CL_DEVICE_MAX_WORK_GROUP_SIZE),
    ("local_bytes", cl::CL_DEVICE_LOCAL_MEM_SIZE),
    ("global_bytes", cl::CL_DEVICE_GLOBAL_MEM_SIZE),
    ("max_buffer_bytes", cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
    ("constant_bytes", cl::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE),
    ("cache_bytes", cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
    ("cache_line_bytes", cl::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
    ("clock_mhz", cl::CL_DEVICE_MAX_CLOCK_FREQUENCY),
    ("vector_width_f32", cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
    ("vector_width_f64", cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE),
    ("vector_width_i32", cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_INT),
    ("vector_width_i64", cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG),
    (
        "preferred_vector_width_f32",
        cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
    ),
    (
        "preferred_vector_width_f64",
        cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
    ),
    ("address_bits", cl::CL_DEVICE_ADDRESS_BITS),
    ("unified_memory", cl::CL_DEVICE_HOST_UNIFIED_MEMORY),
];

/// Names of CUDA for the same properties, so that one problem file serves both.
const OF_CUDA: [(&str, &str); 4] = [
    ("multiprocessors", "compute_units"),
    ("max_threads_per_block", "max_work_group_size"),
    ("shared_bytes_per_block", "local_bytes"),
    ("warp_size", "sub_group_size"),
];

/// Queries of NVIDIA: the number of threads of a warp, PCI bus, slot and domain.
const NVIDIA_WARP: cl::cl_device_info = 0x4003;
const NVIDIA_BUS: cl::cl_device_info = 0x4008;
const NVIDIA_SLOT: cl::cl_device_info = 0x4009;
const NVIDIA_DOMAIN: cl::cl_device_info = 0x400A;
/// Query of AMD: the width of a wavefront.
const AMD_WAVEFRONT: cl::cl_device_info = 0x4043;

impl Device {
    /// All devices of all platforms, in the order of the library.
    ///
    /// # Errors
    /// The library is missing, or no implementation is installed.
    pub fn all() -> Result<Vec<Self>, OpenClError> {
        let f = functions()?;
        Ok(found()?.iter().map(|d| Self::read(f, d)).collect())
    }

    /// The device that a user named.
    ///
    /// # Errors
    /// As [`Self::all`], or there is no such device.
    pub fn chosen(choice: &Choice) -> Result<Self, OpenClError> {
        let all = Self::all()?;
        let there = all
            .iter()
            .map(|d| format!("{} ({})", d.address, d.name))
            .collect();
        (all.into_iter().find(|d| choice.fits(d))).ok_or_else(|| OpenClError::NoDevice {
            named: choice.to_string(),
            there,
        })
    }

    fn read(f: &Functions, of: &DeviceHandle) -> Self {
        let info = |what: cl::cl_device_info| {
            property(|room, to, size| {
                // SAFETY: the device was given by the library; `to` has room for `room` bytes.
                unsafe { (f.device_info)(of.id, what, room, to, size) }
            })
        };
        let platform = |what| {
            text(property(|room, to, size| {
                // SAFETY: the platform was given by the library; `to` has room for `room` bytes.
                unsafe { (f.platform_info)(of.platform, what, room, to, size) }
            }))
        };
        let kinds = number(info(cl::CL_DEVICE_TYPE))
            .unwrap_or(0)
            .cast_unsigned();
        let kind = if kinds & cl::CL_DEVICE_TYPE_CPU != 0 {
            DeviceKind::Cpu
        } else if kinds & cl::CL_DEVICE_TYPE_GPU != 0 {
            DeviceKind::Gpu
        } else {
            DeviceKind::Accelerator
        };
        let mut facts: Vec<(&'static str, i64)> = (FACTS.iter())
            .filter_map(|(name, what)| Some((*name, number(info(*what))?)))
            .collect();
        let sizes = info(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES).unwrap_or_default();
        for (name, size) in ["max_local_x", "max_local_y", "max_local_z"]
            .into_iter()
            .zip(sizes.chunks_exact(size_of::<usize>()))
        {
            facts.extend(number(Some(size.to_vec())).map(|n| (name, n)));
        }
        let widths = [
            NVIDIA_WARP,
            AMD_WAVEFRONT,
            cl::CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
        ];
        let width = (widths.into_iter())
            .filter_map(|what| number(info(what)))
            .find(|n| *n > 0);
        facts.push(("sub_group_size", width.unwrap_or(1)));
        let double = facts.contains(&("vector_width_f64", 0));
        facts.push(("fp64", i64::from(!double)));
        Self {
            address: of.address,
            platform: platform(cl::CL_PLATFORM_NAME),
            name: text(info(cl::CL_DEVICE_NAME)),
            version: text(info(cl::CL_DEVICE_VERSION)),
            driver: text(info(cl::CL_DRIVER_VERSION)),
            kind,
            bus_id: bus_id(&info),
            facts,
        }
    }

    /// A property by its name; those with a name of CUDA too.
    pub fn fact(&self, name: &str) -> Option<i64> {
        let named = |name: &str| self.facts.iter().find(|(n, _)| *n == name).map(|f| f.1);
        named(name).or_else(|| {
            let (_, own) = OF_CUDA.iter().find(|(cuda, _)| *cuda == name)?;
            named(own)
        })
    }

    /// The properties that a search space may refer to as `device.NAME`.
    pub fn named(&self) -> Vec<(&'static str, i64)> {
        let of_cuda = (OF_CUDA.iter()).filter_map(|(name, own)| Some((*name, self.fact(own)?)));
        self.facts.iter().copied().chain(of_cuda).collect()
    }

    /// What decides, beside its model, how kernels are compiled: platform, version and driver.
    pub fn implementation(&self) -> String {
        format!(
            "{}, {}, driver {}",
            self.platform, self.version, self.driver
        )
    }
}

fn bus_id(info: &dyn Fn(cl::cl_device_info) -> Option<Vec<u8>>) -> Option<String> {
    /// The query of the extension cl_khr_pci_bus_info: domain, bus, device and function.
    const PCI: cl::cl_device_info = 0x410F;
    if let Some(all) = info(PCI).filter(|b| b.len() == 16) {
        let part = |i: usize| number(Some(all[4 * i..4 * i + 4].to_vec()));
        let (domain, bus, device) = (part(0)?, part(1)?, part(2)?);
        return Some(format!(
            "{domain:08x}:{bus:02x}:{device:02x}.{:x}",
            part(3)?
        ));
    }
    let (bus, slot) = (number(info(NVIDIA_BUS))?, number(info(NVIDIA_SLOT))?);
    let domain = number(info(NVIDIA_DOMAIN)).unwrap_or(0);
    // The slot holds the device and, in its last three bits, the function.
    Some(format!(
        "{domain:08x}:{bus:02x}:{:02x}.{:x}",
        slot >> 3,
        slot & 7
    ))
}

impl Choice {
    pub(super) fn fits(&self, d: &Device) -> bool {
        let platform = match self.platform.parse::<usize>() {
            Ok(number) => d.address.platform == number,
            Err(_) => d.platform.to_lowercase().contains(&self.platform),
        };
        platform && d.address.device == self.device
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn device(address: (usize, usize), platform: &str) -> Device {
        Device {
            address: Address {
                platform: address.0,
                device: address.1,
            },
            platform: platform.into(),
            name: "d".into(),
            version: "OpenCL 3.0".into(),
            driver: "1".into(),
            kind: DeviceKind::Cpu,
            bus_id: None,
            facts: vec![("compute_units", 4), ("sub_group_size", 8)],
        }
    }

    #[test]
    fn properties_have_the_names_of_cuda_too() {
        let d = device((0, 0), "p");
        assert_eq!(d.fact("multiprocessors"), Some(4));
        assert_eq!(d.fact("warp_size"), Some(8));
        assert_eq!(d.fact("max_threads_per_block"), None);
        assert!(d.named().contains(&("multiprocessors", 4)));
    }

    #[test]
    fn bus_addresses_are_written_as_nvml_does() {
        let nvidia = |what| {
            let n: u32 = match what {
                NVIDIA_BUS => 0x1b,
                NVIDIA_SLOT => 8,
                NVIDIA_DOMAIN => 1,
                _ => return None,
            };
            Some(n.to_ne_bytes().to_vec())
        };
        assert_eq!(bus_id(&nvidia).unwrap(), "00000001:1b:01.0");
        assert_eq!(bus_id(&|_| None), None);
    }
}
