//! Settings as the `gisaxs` command chooses them, for other programs: tuned configs of this host, and a device by its name.

use crate::commands::device;
use crate::mesh_form_factor::{Accelerator, Blocks, FINEST, Settings};
use crate::wisdom;
use greenup_app::wisdom::{Stamp, stamp};
use greenup_app::{AppError, Result};
use greenup_device::{DeviceSpec, Usable};
use std::sync::{Arc, Mutex, PoisonError};

/// The CPU (`None`), a GPU, or several that share the work.
///
/// # Errors
/// A GPU and the cores cannot share it, or there is no such GPU, driver or compiler.
pub fn accelerator(device: &DeviceSpec) -> Result<Option<Arc<dyn Accelerator>>> {
    Usable::SEVERAL.check(device)?;
    device::service(device, (0, 1))
}

/// Settings for an accuracy |F − F_exact| / V on a device (see [`accelerator`]).
///
/// # Errors
/// The accuracy or the device is invalid, or a file of tuned configs is.
pub fn settings(device: &DeviceSpec, accuracy: f64) -> Result<Settings> {
    if !(FINEST..1.0).contains(&accuracy) {
        return Err(AppError::new(format!(
            "invalid accuracy {accuracy}: it must lie between {FINEST:e} and 1"
        )));
    }
    Ok(Settings {
        accuracy,
        blocks: blocks()?,
        on: accelerator(device)?,
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
