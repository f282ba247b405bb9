//! What `device.NAME` means in a space.

use greenup_app::error::Result;
use greenup_app::{print, sensors};
use greenup_space::Facts;
use greenup_tune::session::device_facts::{is_cuda, of_gpu, of_host};
use std::path::Path;

/// The GPU whose facts stand in where a space is only counted and there is none.
const STAND_IN: &str = "h200";

/// What `device.NAME` means in a file: the GPU for kernels in CUDA, else this host.
pub fn facts_for(file: &Path, gpu: Option<&str>) -> Result<Facts> {
    let text = greenup_files::read_text(file).unwrap_or_default();
    if is_cuda(&text) || gpu.is_some() {
        return Ok(of_gpu(&sensors::gpu(gpu)?));
    }
    Ok(of_host())
}

/// The same for a space that is only counted, for which the GPU need not be here.
pub fn to_count(text: &str, gpu: Option<&str>) -> Result<Facts> {
    if gpu.is_some() {
        return Ok(of_gpu(&sensors::gpu(gpu)?));
    }
    if !is_cuda(text) {
        return Ok(of_host());
    }
    if let Ok(here) = sensors::gpu(None) {
        return Ok(of_gpu(&here));
    }
    let stand_in = sensors::gpu(Some(STAND_IN))?;
    if text.contains("device.") {
        print::note(format!(
            "no GPU here: `device.NAME` means those of an {}; --device cuda:NAME selects another",
            stand_in.name
        ));
    }
    Ok(of_gpu(&stand_in))
}
