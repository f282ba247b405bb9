//! What `device.NAME` means in a space.

use crate::args::OPENCL;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, sensors};
use greenup_device::opencl::{Choice, Device, OpenClError};
use greenup_space::Facts;
use greenup_tune::problem::ProblemFile;
use greenup_tune::session::device_facts::{of_gpu, of_host, of_opencl};

/// The GPU whose facts stand in where a space is only counted and there is none.
const STAND_IN: &str = "h200";

/// What `device.NAME` means in a space that is only counted, for which the GPU need not be here.
pub fn to_count(file: &ProblemFile, gpu: Option<&str>) -> Result<Facts> {
    if file.is_opencl() && gpu.is_none() && !file.names_device() {
        return Ok(of_host());
    }
    if let Some(device) = opencl_device(file, gpu)? {
        return Ok(of_opencl(&device));
    }
    if gpu.is_some() {
        return Ok(of_gpu(&sensors::gpu(gpu)?));
    }
    if !file.is_cuda() {
        return Ok(of_host());
    }
    if let Ok(here) = sensors::gpu(None) {
        return Ok(of_gpu(&here));
    }
    let stand_in = sensors::gpu(Some(STAND_IN))?;
    if file.names_device() {
        print::note(format!(
            "no GPU here: `device.NAME` means those of an {}; --device cuda:NAME selects another",
            stand_in.name
        ));
    }
    Ok(of_gpu(&stand_in))
}

/// The device for kernels in OpenCL; none for other kernels.
///
/// # Errors
/// It does not exist, or `--device` names one of the other kind.
pub fn opencl_device(file: &ProblemFile, named: Option<&str>) -> Result<Option<Device>> {
    let opencl = named.and_then(|n| n.strip_prefix(OPENCL));
    match (file.is_opencl(), named, opencl) {
        (true, Some(cuda), None) => Err(AppError::new(format!(
            "the kernels are in OpenCL, which --device cuda:{cuda} does not run"
        ))
        .hint("name a device as opencl:PLATFORM.DEVICE; `greenup doctor` lists them")),
        (false, Some(named), Some(_)) => Err(AppError::new(format!(
            "the kernels are not in OpenCL, which --device {named} runs"
        ))
        .hint("for kernels in OpenCL the problem says language = \"opencl\"")),
        (true, ..) => {
            let which = opencl.unwrap_or_default().trim_start_matches(':');
            let device = which.parse::<Choice>().and_then(|c| Device::chosen(&c));
            device.map(Some).map_err(failed)
        }
        (false, ..) => Ok(None),
    }
}

/// An error of OpenCL with its hint.
pub fn failed(e: OpenClError) -> AppError {
    AppError {
        hint: e.hint().map(str::to_owned),
        ..AppError::new(e.to_string())
    }
}
