//! The devices of this host that the user asked for.

use crate::error::Result;
use crate::sensors;
use greenup_device::DeviceSpec;
use greenup_device::cuda::{Compiler, CudaError, Gpu, libraries};

/// Devices that are present.
pub struct PresentDevices {
    /// Whether the host's cores are among them.
    pub cpu: bool,
    /// The GPUs.
    pub gpus: Vec<Gpu>,
    /// Devices that are present and cannot be used, with the fix.
    pub missing: Vec<String>,
}

impl PresentDevices {
    /// `cpu`, `cuda:0`, … in this order.
    pub fn names(&self) -> Vec<String> {
        let cpu = self.cpu.then(|| "cpu".to_owned());
        let gpus = self.gpus.iter().map(|g| format!("cuda:{}", g.ordinal));
        cpu.into_iter().chain(gpus).collect()
    }
}

/// The devices that the user asked for. Of all devices, a GPU that cannot be used is missing; one that was named is an error.
///
/// # Errors
/// A GPU that was named cannot be used.
pub fn find(devices: &DeviceSpec) -> Result<PresentDevices> {
    let mut found = PresentDevices {
        cpu: true,
        gpus: Vec::new(),
        missing: Vec::new(),
    };
    match (devices, devices.gpu()) {
        (DeviceSpec::All, _) => match present() {
            Ok(gpus) => found.gpus = gpus,
            Err(why) => found.missing.push(format!("the GPU is left out: {why}")),
        },
        (_, Some(n)) => {
            found.cpu = false;
            found.gpus = vec![sensors::gpu(Some(&n.to_string()))?];
            Compiler::new(None)?;
        }
        (_, None) => {}
    }
    Ok(found)
}

/// The GPUs of this host, if they can be used; none on a host without a driver.
fn present() -> std::result::Result<Vec<Gpu>, String> {
    if libraries::driver().is_err() {
        return Ok(Vec::new());
    }
    let message = |e: CudaError| e.message();
    let gpus = Gpu::all().map_err(message)?;
    if let Some(first) = gpus.first() {
        Compiler::new(None).map_err(|e| format!("{}: {}", first.name, e.message()))?;
    }
    Ok(gpus)
}
