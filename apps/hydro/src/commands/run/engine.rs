//! An engine for a problem.

use crate::commands::settings::Settings;
use greenup_app::Result;
use greenup_app::args::Device;
use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly};
use greenup_hydro::engine::Engine;
use greenup_hydro::gpu::{Gpu, wisdom};
use greenup_hydro::hydro::Hydro;
use std::sync::Arc;

/// An engine for a problem.
pub fn engine(hydro: &Arc<Hydro>, s: &Settings, device: Device) -> Result<Box<dyn Engine>> {
    let full = s.is_full(hydro.space.element.shape);
    if let Some(ordinal) = device.gpu() {
        let own = s.kernels.as_deref().unwrap_or_default();
        let parameters = wisdom::parameters(&hydro.space.element, ordinal, own)?;
        let mut gpu = Gpu::open(Arc::clone(hydro), ordinal, s.ode(), full, &parameters)?;
        gpu.profile = s.profile;
        if matches!(device, Device::CudaAndCpu(_)) {
            gpu.share(s.share)?;
        }
        return Ok(Box::new(gpu));
    }
    Ok(if full {
        let operator = FullAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    } else {
        let operator = PartialAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    })
}
