//! What NVML's errors mean for a user, by their code.

use super::library::NvmlError;
use crate::sensors::external;

/// Numbers of `nvmlReturn_t`.
pub const NOT_SUPPORTED: u32 = 3;
pub const NO_PERMISSION: u32 = 4;
const LIBRARY_NOT_FOUND: u32 = 12;
const FUNCTION_NOT_FOUND: u32 = 13;

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
pub fn advice(e: &NvmlError) -> Advice {
    let known = |cause: &str, fix| Advice {
        cause: cause.to_owned(),
        fix: Some(fix),
    };
    let code = match e {
        NvmlError::Missing(_) => LIBRARY_NOT_FOUND,
        NvmlError::Function(_) => FUNCTION_NOT_FOUND,
        NvmlError::Code { code, .. } => *code,
    };
    // The numbers of `nvmlReturn_t`.
    match code {
        NOT_SUPPORTED | 22 => Advice {
            cause: NOT_OFFERED.to_owned(),
            fix: None,
        },
        FUNCTION_NOT_FOUND => Advice {
            cause: "not offered by this driver, which is too old".to_owned(),
            fix: None,
        },
        LIBRARY_NOT_FOUND => known(
            "NVIDIA's library libnvidia-ml.so.1 is not installed",
            "install the NVIDIA driver; none needed without an NVIDIA GPU",
        ),
        9 => known(
            "the NVIDIA driver is not loaded",
            "`sudo modprobe nvidia`, and see `dmesg`; in a container, start it with the GPU",
        ),
        NO_PERMISSION => known(
            "this user may not read it",
            "run as root, or let the administrator allow it; a container needs the capability `utility`",
        ),
        17 => known(
            "the operating system or its cgroup keeps the GPU from this process",
            "give the container or the batch job the GPU (`--gpus`, `--gres`)",
        ),
        18 => known(
            "the driver's library and the loaded driver have different versions",
            "the driver was updated: restart the machine, or load the new driver",
        ),
        15 => known(
            "the GPU fell off the bus",
            "see `dmesg` for an Xid error; restart the machine",
        ),
        16 => known(
            "the GPU must be reset",
            "`sudo nvidia-smi --gpu-reset`, with no program on it",
        ),
        8 => known(
            "the GPU's power cables are not attached",
            "attach them, and restart the machine",
        ),
        // An interrupt of the kernel, a corrupted infoROM.
        11 | 14 => Advice {
            cause: e.to_string(),
            fix: Some("see `dmesg`; the GPU or its board may be damaged"),
        },
        // A timeout, a GPU in use, no memory, no data.
        10 | 19 | 20 | 21 => Advice {
            cause: e.to_string(),
            fix: Some("try again; `nvidia-smi` shows who uses the GPU"),
        },
        999 => known("NVML error 999: unknown", "see `dmesg` and `nvidia-smi`"),
        _ => Advice {
            cause: e.to_string(),
            fix: Some("check the driver with `nvidia-smi`"),
        },
    }
}
