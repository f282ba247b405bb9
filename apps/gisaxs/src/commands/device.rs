//! The device that `--device` names.

use greenup_app::Result;
use greenup_app::args::DeviceArg;
use greenup_gisaxs::gpu::{Device, Service};
use greenup_gisaxs::mesh_form_factor::Accelerator;
use greenup_gisaxs::wisdom;
use std::sync::Arc;

/// The GPU as a service that many threads use at once; `None` for the CPU.
pub fn service(arg: DeviceArg) -> Result<Option<Arc<dyn Accelerator>>> {
    let Some(n) = arg.device.gpu() else {
        return Ok(None);
    };
    let known = wisdom::read()?;
    let service = Service::open(n, |gpu| (known.direct(gpu), known.list(gpu)))?;
    Ok(Some(Arc::new(service)))
}

/// The GPU; `None` for the CPU.
pub fn open(arg: DeviceArg) -> Result<Option<Device>> {
    Ok(arg.device.gpu().map(Device::open).transpose()?)
}
