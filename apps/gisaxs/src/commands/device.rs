//! The device that `--device` names.

use greenup_app::print::note;
use greenup_app::{AppError, Result};
use greenup_device::cuda::Gpu;
use greenup_device::{DeviceSpec, Usable};
use greenup_gisaxs::gpu::{Device, Service};
use greenup_gisaxs::mesh_form_factor::{Accelerator, Several};
use greenup_gisaxs::wisdom;
use std::sync::Arc;

/// The GPU, or several that share the work, as a service that many threads use at once; `None` for the CPU. `ranks`: the
/// number of this rank among those of its host, and theirs.
pub fn service(device: &DeviceSpec, ranks: (usize, usize)) -> Result<Option<Arc<dyn Accelerator>>> {
    Ok(Several::of(all(device, ranks)?))
}

/// The GPUs of a rank, each by itself; none for the CPU.
pub fn all(device: &DeviceSpec, ranks: (usize, usize)) -> Result<Vec<Arc<dyn Accelerator>>> {
    if !device.is_gpu() {
        return Ok(Vec::new());
    }
    let repeated = device.repeated();
    if !repeated.is_empty() {
        note(format!(
            "--device {device}: GPU {repeated:?} occurs more than once and has as many shares; that tests, but does not speed up"
        ));
    }
    let known = wisdom::read()?;
    let mut all: Vec<Arc<dyn Accelerator>> = Vec::new();
    for n in device.gpus(ranks, Gpu::count()) {
        let service = Service::open(n, |gpu| (known.direct(gpu), known.list(gpu)))?;
        all.push(Arc::new(service));
    }
    Ok(all)
}

/// The only GPU; `None` for the CPU.
pub fn open(device: &DeviceSpec) -> Result<Option<Device>> {
    if Usable::ONE.check(device).is_err() {
        return Err(
            AppError::new(format!("--device {device}: cases run on one GPU"))
                .hint("name one, or add --scaling to compare numbers of GPUs"),
        );
    }
    Ok(device.gpu().map(Device::open).transpose()?)
}
