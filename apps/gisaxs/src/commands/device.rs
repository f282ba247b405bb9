//! The device that `--device` names.

use greenup_app::args::{DeviceSet, DeviceSetArg};
use greenup_app::print::note;
use greenup_app::{AppError, Result};
use greenup_device::cuda::Gpu;
use greenup_gisaxs::gpu::{Device, Service};
use greenup_gisaxs::mesh_form_factor::{Accelerator, Several};
use greenup_gisaxs::wisdom;
use greenup_setting::setting;
use std::sync::Arc;

/// The GPU, or several that share the work, as a service that many threads use at once; `None` for the CPU. `ranks`: the
/// number of this rank among those of its host, and theirs.
pub fn service(arg: &DeviceSetArg, ranks: (usize, usize)) -> Result<Option<Arc<dyn Accelerator>>> {
    Ok(Several::of(all(arg, ranks)?))
}

/// The GPUs of a rank, each by itself; none for the CPU.
pub fn all(arg: &DeviceSetArg, ranks: (usize, usize)) -> Result<Vec<Arc<dyn Accelerator>>> {
    if arg.device == DeviceSet::Cpu {
        return Ok(Vec::new());
    }
    // Without a driver, opening the first GPU says what is missing.
    let count = Gpu::all().map_or(0, |all| all.len());
    let repeated = arg.device.repeated();
    if !repeated.is_empty() {
        note(format!(
            "{}: GPU {repeated:?} occurs more than once and has as many shares; that tests, but does not speed up",
            setting("device").to(&arg.device)
        ));
    }
    let known = wisdom::read()?;
    let mut all: Vec<Arc<dyn Accelerator>> = Vec::new();
    for n in arg.device.gpus(ranks, count) {
        let service = Service::open(n, |gpu| (known.direct(gpu), known.list(gpu)))?;
        all.push(Arc::new(service));
    }
    Ok(all)
}

/// The only GPU; `None` for the CPU.
pub fn open(arg: &DeviceSetArg) -> Result<Option<Device>> {
    let gpu = match &arg.device {
        DeviceSet::Cpu => return Ok(None),
        DeviceSet::Gpu => 0,
        DeviceSet::Gpus(list) if list.len() == 1 => list[0],
        several => {
            return Err(
                AppError::new(format!("--device {several}: cases run on one GPU"))
                    .hint("name one, or add --scaling to compare numbers of GPUs"),
            );
        }
    };
    Ok(Some(Device::open(gpu)?))
}
