//! Platforms and their devices, as the implementations describe them.

use super::library::{Functions, functions};
use super::{OpenClError, check};
use opencl_sys as cl;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::str::FromStr;

/// Numbers of a platform and of a device in it, in the order in which the library lists them; as text `0.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Number of the platform.
    pub platform: usize,
    /// Number of the device among those of its platform.
    pub device: usize,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.platform, self.device)
    }
}

/// A device as a user names it: a platform by number or by a part of its name, then the device's number, as in `0`, `0.1`,
/// `nvidia` or `portable.0`. The empty text is the first device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    platform: String,
    device: usize,
}

impl FromStr for Choice {
    type Err = OpenClError;

    fn from_str(text: &str) -> Result<Self, OpenClError> {
        let invalid = || OpenClError::NoDevice {
            named: text.to_owned(),
            there: vec!["those that PLATFORM or PLATFORM.DEVICE names".to_owned()],
        };
        let (platform, device) = match text.rsplit_once('.') {
            Some((platform, device)) => (platform, device.parse().map_err(|_| invalid())?),
            None => (text, 0),
        };
        Ok(Self {
            platform: platform.to_lowercase(),
            device,
        })
    }
}

impl Choice {
    fn fits(&self, d: &Device) -> bool {
        let platform = match self.platform.parse::<usize>() {
            Ok(number) => d.address.platform == number,
            Err(_) => d.platform.to_lowercase().contains(&self.platform),
        };
        platform && d.address.device == self.device
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.platform, self.device)
    }
}

/// Kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The processor of the host: kernels share the memory of the process that starts them.
    Cpu,
    /// A GPU.
    Gpu,
    /// An accelerator of another kind.
    Accelerator,
}

impl fmt::Display for Kind {
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
    pub kind: Kind,
    /// PCI address, which identifies a GPU in other libraries, where the implementation gives it: `00000000:01:00.0`.
    pub bus_id: Option<String>,
    facts: Vec<(&'static str, i64)>,
}

/// A platform's or device's handle with the numbers that lead to it.
pub(super) struct Found {
    pub(super) address: Address,
    pub(super) id: cl::cl_device_id,
    platform: cl::cl_platform_id,
}

/// All devices of all platforms.
pub(super) fn found() -> Result<Vec<Found>, OpenClError> {
    let f = functions()?;
    let mut out = Vec::new();
    for (platform, id) in platforms(f)?.into_iter().enumerate() {
        for (device, handle) in devices(f, id)?.into_iter().enumerate() {
            out.push(Found {
                address: Address { platform, device },
                id: handle,
                platform: id,
            });
        }
    }
    Ok(out)
}

fn platforms(f: &Functions) -> Result<Vec<cl::cl_platform_id>, OpenClError> {
    /// The loader's answer where no implementation is installed.
    const NO_PLATFORM: i32 = -1001;
    let mut n = 0;
    // SAFETY: asks for the number only.
    let status = unsafe { (f.platform_ids)(0, null_mut(), &raw mut n) };
    if status == NO_PLATFORM || (status == cl::CL_SUCCESS && n == 0) {
        return Err(OpenClError::NoPlatform);
    }
    check("platforms cannot be counted", status)?;
    let mut ids = vec![null_mut(); n as usize];
    // SAFETY: the list has room for `n` platforms.
    let status = unsafe { (f.platform_ids)(n, ids.as_mut_ptr(), null_mut()) };
    check("platforms cannot be listed", status)?;
    Ok(ids)
}

fn devices(
    f: &Functions,
    platform: cl::cl_platform_id,
) -> Result<Vec<cl::cl_device_id>, OpenClError> {
    let mut n = 0;
    // SAFETY: asks for the number only.
    let status =
        unsafe { (f.device_ids)(platform, cl::CL_DEVICE_TYPE_ALL, 0, null_mut(), &raw mut n) };
    if status == cl::CL_DEVICE_NOT_FOUND || n == 0 {
        return Ok(Vec::new());
    }
    check("devices cannot be counted", status)?;
    let mut ids = vec![null_mut(); n as usize];
    // SAFETY: the list has room for `n` devices.
    let status = unsafe {
        (f.device_ids)(
            platform,
            cl::CL_DEVICE_TYPE_ALL,
            n,
            ids.as_mut_ptr(),
            null_mut(),
        )
    };
    check("devices cannot be listed", status)?;
    Ok(ids)
}

/// Bytes of a property, by a function that takes the room for it and tells its size.
pub(super) fn property(ask: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Option<Vec<u8>> {
    let mut bytes = 0;
    if ask(0, null_mut(), &raw mut bytes) != cl::CL_SUCCESS || bytes > 1 << 24 {
        return None;
    }
    let mut out = vec![0; bytes];
    (ask(bytes, out.as_mut_ptr().cast(), null_mut()) == cl::CL_SUCCESS).then_some(out)
}

/// Text without its end and the spaces around it.
pub(super) fn text(bytes: Option<Vec<u8>>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// A whole number of 4 or 8 bytes.
pub(super) fn number(bytes: Option<Vec<u8>>) -> Option<i64> {
    let bytes = bytes?;
    if let Ok(b) = bytes.as_slice().try_into() {
        return i64::try_from(u64::from_ne_bytes(b)).ok();
    }
    let b = bytes.as_slice().try_into().ok()?;
    Some(i64::from(u32::from_ne_bytes(b)))
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

    fn read(f: &Functions, of: &Found) -> Self {
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
            Kind::Cpu
        } else if kinds & cl::CL_DEVICE_TYPE_GPU != 0 {
            Kind::Gpu
        } else {
            Kind::Accelerator
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

#[cfg(test)]
mod tests {
    use super::*;

    fn device(address: (usize, usize), platform: &str) -> Device {
        Device {
            address: Address {
                platform: address.0,
                device: address.1,
            },
            platform: platform.into(),
            name: "d".into(),
            version: "OpenCL 3.0".into(),
            driver: "1".into(),
            kind: Kind::Cpu,
            bus_id: None,
            facts: vec![("compute_units", 4), ("sub_group_size", 8)],
        }
    }

    #[test]
    fn devices_are_named_by_numbers_or_by_a_part_of_the_platforms_name() {
        let of = |text: &str| text.parse::<Choice>().unwrap();
        let pocl = device((0, 0), "Portable Computing Language");
        let nvidia = device((1, 1), "NVIDIA CUDA");
        assert!(of("").fits(&pocl) && !of("").fits(&nvidia));
        assert!(of("0").fits(&pocl) && of("0.0").fits(&pocl) && of("portable").fits(&pocl));
        assert!(of("1.1").fits(&nvidia) && of("nvidia.1").fits(&nvidia));
        assert!(!of("nvidia").fits(&nvidia) && !of("1").fits(&pocl));
        for bad in ["0.x", "0.", "0.-1"] {
            assert!(bad.parse::<Choice>().is_err(), "{bad}");
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
    fn answers_of_the_library_are_read() {
        assert_eq!(number(Some(7_u32.to_ne_bytes().to_vec())), Some(7));
        assert_eq!(number(Some(7_u64.to_ne_bytes().to_vec())), Some(7));
        assert_eq!(number(Some(vec![1, 2])), None);
        assert_eq!(text(Some(b" a b \0c".to_vec())), "a b");
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
