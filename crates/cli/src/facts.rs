//! What `device.NAME` means in a space.

use crate::error::Result;
use crate::{choose, out};
use greenup_device::cuda::Gpu;
use greenup_space::{Facts, Value};
use std::path::Path;

/// The GPU whose facts stand in where a space is only counted and there is none.
const STAND_IN: &str = "h200";

/// What `device.NAME` stands for on this host.
fn host() -> Facts {
    greenup_device::CpuFacts::read()
        .named()
        .into_iter()
        .map(|(k, v)| (k.to_owned(), Value::Int(v)))
        .collect()
}

fn of(gpu: &Gpu) -> Facts {
    gpu.named()
        .iter()
        .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
        .collect()
}

/// Whether a problem's kernels are in CUDA.
fn is_cuda(text: &str) -> bool {
    text.parse::<toml::Table>()
        .ok()
        .and_then(|t| Some(t.get("build")?.get("language")?.as_str()? == "cuda"))
        .unwrap_or(false)
}

/// What `device.NAME` means in a file: the GPU for kernels in CUDA, else this host.
pub fn facts_for(file: &Path, gpu: Option<&str>) -> Result<Facts> {
    let text = greenup_files::read_text(file).unwrap_or_default();
    if is_cuda(&text) || gpu.is_some() {
        return Ok(of(&choose::gpu(gpu)?));
    }
    Ok(host())
}

/// The same for a space that is only counted, for which the GPU need not be here.
pub fn to_count(text: &str, gpu: Option<&str>) -> Result<Facts> {
    if gpu.is_some() {
        return Ok(of(&choose::gpu(gpu)?));
    }
    if !is_cuda(text) {
        return Ok(host());
    }
    if let Ok(here) = choose::gpu(None) {
        return Ok(of(&here));
    }
    let stand_in = choose::gpu(Some(STAND_IN))?;
    if text.contains("device.") {
        out::note(format!(
            "no GPU here: `device.NAME` means those of an {}; --gpu names another",
            stand_in.name
        ));
    }
    Ok(of(&stand_in))
}
