//! Settings with the tuned configs of this host and its devices, for programs: the command `gisaxs` is one.

use crate::gpu::Service;
use crate::mesh_form_factor::{Accelerator, Blocks, FINEST, Settings, Several};
use crate::wisdom;
use greenup_app::print::note;
use greenup_app::wisdom::{Stamp, stamp};
use greenup_app::{AppError, Result};
use greenup_device::cuda::Gpu;
use greenup_device::{DeviceSpec, Usable};
use greenup_setting::setting;
use std::sync::{Arc, Mutex, PoisonError};

/// The GPUs of one of the ranks of a host (its number among them, and theirs), each by itself; none for the CPU.
///
/// # Errors
/// A GPU and the cores cannot share the work; there is no such GPU, driver or compiler; or a file of tuned configs is
/// invalid.
pub fn gpus(device: &DeviceSpec, local: (usize, usize)) -> Result<Vec<Arc<dyn Accelerator>>> {
    Usable::SEVERAL.check(device)?;
    if !device.is_gpu() {
        return Ok(Vec::new());
    }
    let repeated = device.repeated();
    if !repeated.is_empty() {
        note(format!(
            "{}: GPU {repeated:?} occurs more than once and has as many shares; that tests, but does not speed up",
            setting("device").to(device)
        ));
    }
    let known = wisdom::read()?;
    let mut all: Vec<Arc<dyn Accelerator>> = Vec::new();
    for n in device.gpus(local, Gpu::count()) {
        let service = Service::open(n, |gpu| (known.direct(gpu), known.list(gpu)))?;
        all.push(Arc::new(service));
    }
    Ok(all)
}

/// The GPU, or several that share the work, as a service that many threads use at once; `None` for the CPU.
///
/// # Errors
/// As [`gpus`].
pub fn accelerator(
    device: &DeviceSpec,
    local: (usize, usize),
) -> Result<Option<Arc<dyn Accelerator>>> {
    Ok(Several::of(gpus(device, local)?))
}

/// Settings for an accuracy |F − F_exact| / V on the device of a rank (see [`accelerator`]).
///
/// # Errors
/// The accuracy or the device is invalid, or a file of tuned configs is.
pub fn settings(device: &DeviceSpec, local: (usize, usize), accuracy: f64) -> Result<Settings> {
    if !(FINEST..1.0).contains(&accuracy) {
        return Err(AppError::new(format!(
            "invalid accuracy {accuracy:e}: it must lie between {FINEST:e} and 1"
        )));
    }
    Ok(Settings {
        accuracy,
        blocks: blocks()?,
        on: accelerator(device, local)?,
        ..Settings::default()
    })
}

/// Configs of this CPU, read again when a file of wisdom has changed: reading takes longer than a small form factor.
fn blocks() -> Result<Blocks> {
    static KNOWN: Mutex<Option<(Stamp, Blocks)>> = Mutex::new(None);
    let now = stamp();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((then, blocks)) if *then == now => Ok(*blocks),
        _ => {
            let blocks = wisdom::read()?.blocks();
            *known = Some((now, blocks));
            Ok(blocks)
        }
    }
}
