//! What NVML's errors mean for a user, by their code.

use crate::sensors::external;
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use std::ffi::CStr;

/// Cause and fix of an error; `None` for the fix of what this GPU or driver does not offer at all.
pub struct Advice {
    pub cause: String,
    pub fix: Option<&'static str>,
}

/// The GPU has no such sensor.
pub const NOT_OFFERED: &str = "not offered by this GPU";

/// What to do where a GPU offers no sensor at all.
pub fn no_sensor() -> String {
    format!(
        "GPUs from Volta on count their energy, but no vGPU and no MIG instance does: measure on the whole GPU, or by {}",
        external::suggestion()
    )
}

/// Cause and fix.
pub fn advice(nvml: Option<&Nvml>, e: &NvmlError) -> Advice {
    let known = |cause: &str, fix| Advice {
        cause: cause.to_owned(),
        fix: Some(fix),
    };
    match e {
        NvmlError::NotSupported | NvmlError::VgpuEccNotSupported => Advice {
            cause: NOT_OFFERED.to_owned(),
            fix: None,
        },
        NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) => Advice {
            cause: "not offered by this driver, which is too old".to_owned(),
            fix: None,
        },
        NvmlError::LibloadingError(_) | NvmlError::LibraryNotFound => known(
            "NVIDIA's library libnvidia-ml.so.1 is not installed",
            "install the NVIDIA driver; none needed without an NVIDIA GPU",
        ),
        NvmlError::DriverNotLoaded => known(
            "the NVIDIA driver is not loaded",
            "`sudo modprobe nvidia`, and see `dmesg`; in a container, start it with the GPU",
        ),
        NvmlError::NoPermission => known(
            "this user may not read it",
            "run as root, or let the administrator allow it; a container needs the capability `utility`",
        ),
        NvmlError::OperatingSystem => known(
            "the operating system or its cgroup keeps the GPU from this process",
            "give the container or the batch job the GPU (`--gpus`, `--gres`)",
        ),
        NvmlError::LibRmVersionMismatch => known(
            "the driver's library and the loaded driver have different versions",
            "the driver was updated: restart the machine, or load the new driver",
        ),
        NvmlError::GpuLost => known(
            "the GPU fell off the bus",
            "see `dmesg` for an Xid error; restart the machine",
        ),
        NvmlError::ResetRequired => known(
            "the GPU must be reset",
            "`sudo nvidia-smi --gpu-reset`, with no program on it",
        ),
        NvmlError::InsufficientPower => known(
            "the GPU's power cables are not attached",
            "attach them, and restart the machine",
        ),
        NvmlError::IrqIssue | NvmlError::CorruptedInfoROM => Advice {
            cause: e.to_string(),
            fix: Some("see `dmesg`; the GPU or its board may be damaged"),
        },
        NvmlError::Timeout
        | NvmlError::InUse
        | NvmlError::NoData
        | NvmlError::InsufficientMemory => Advice {
            cause: e.to_string(),
            fix: Some("try again; `nvidia-smi` shows who uses the GPU"),
        },
        NvmlError::Unknown => known("NVML error 999: unknown", "see `dmesg` and `nvidia-smi`"),
        NvmlError::UnexpectedVariant(code) => Advice {
            cause: format!("NVML error {code}: {}", text(nvml, *code)),
            fix: Some("see `nvidia-smi`; a newer Greenup may know this error"),
        },
        other => Advice {
            cause: other.to_string(),
            fix: Some("check the driver with `nvidia-smi`"),
        },
    }
}

/// The library's own words.
fn text(nvml: Option<&Nvml>, code: u32) -> String {
    let call = nvml.and_then(|n| n.lib().nvmlErrorString.as_ref().ok());
    call.map_or_else(
        || "unknown".to_owned(),
        |call| {
            // SAFETY: the function takes any code, and returns a text that lives as long as the library.
            let text = unsafe { call(code) };
            if text.is_null() {
                return "unknown".to_owned();
            }
            // SAFETY: not null, and it ends with a zero byte.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        },
    )
}
