//! What `device.NAME` means in a space.

use crate::choose;
use crate::error::Result;
use greenup_space::{Facts, Value};
use std::path::Path;

/// What `device.NAME` stands for on this host.
fn host() -> Facts {
    greenup_device::CpuFacts::read()
        .named()
        .into_iter()
        .map(|(k, v)| (k.to_owned(), Value::Int(v)))
        .collect()
}

/// What `device.NAME` means in a file: the GPU for kernels in CUDA, else this host.
pub fn facts_for(file: &Path, gpu: Option<&str>) -> Result<Facts> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let cuda = text
        .parse::<toml::Table>()
        .ok()
        .and_then(|t| Some(t.get("build")?.get("language")?.as_str()? == "cuda"))
        .unwrap_or(false);
    if cuda || gpu.is_some() {
        return Ok(choose::gpu(gpu)?
            .named()
            .iter()
            .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
            .collect());
    }
    Ok(host())
}
