//! The engine of a plan on a device.

use crate::cpu::{Cpu, check_memory};
use crate::engine::{Engine, Steps};
use crate::gpu::{Config, Gpu};
use crate::hybrid::Hybrid;
use crate::kernel::Kernel;
use crate::plan::Plan;
use crate::precision::Real;
use greenup_app::{AppError, Result, wisdom};
use greenup_device::{DeviceSpec, cuda};
use greenup_setting::setting;
use greenup_wisdom::Device as Known;
use std::sync::Arc;

/// The tuning parameters of the P2P kernel on a GPU: of wisdom or the default, with those of `--kernels`.
pub fn config<R: Real>(
    kernel: Kernel,
    gradient: bool,
    gpu: usize,
    kernels: &str,
) -> Result<Config> {
    let device = Known::of_gpu(&cuda::Gpu::numbered(gpu)?);
    let known = wisdom::load()?;
    let (config, choice) = Config::tuned::<R>(&known, &device, kernel, gradient);
    if let Some(choice) = choice {
        wisdom::note("P2P", &choice);
    }
    changed(config, kernels)
}

/// Refuses invalid values of `--kernels`, before a GPU is looked for.
pub fn check_kernels<R: Real>(kernel: Kernel, gradient: bool, kernels: &str) -> Result<()> {
    changed(Config::default_for::<R>(kernel, gradient), kernels).map(|_| ())
}

fn changed(config: Config, kernels: &str) -> Result<Config> {
    config
        .with(kernels)
        .map_err(|e| AppError::new(format!("{}: {e}", setting("kernels"))))
}

/// A plan on a GPU and the host's cores.
pub fn hybrid<R: Real>(plan: Arc<Plan<R>>, gpu: usize, kernels: &str) -> Result<Hybrid<R>> {
    check_memory(&plan)?;
    let o = plan.options();
    let config = config::<R>(o.kernel, o.gradient, gpu, kernels)?;
    Ok(Hybrid::open(plan, gpu, config)?)
}

/// The engine of a plan on a device, or on a GPU and the host's cores, and its name.
pub fn any_engine<R: Real>(
    plan: Arc<Plan<R>>,
    device: &DeviceSpec,
    kernels: &str,
) -> Result<(Box<dyn Engine>, String)> {
    if let DeviceSpec::GpuAndCpu(n) = device {
        let isa = plan.isa();
        let hybrid = hybrid(plan, n.unwrap_or(0), kernels)?;
        let threads = rayon::current_num_threads();
        let name = format!("{} and {isa} on {threads} threads", hybrid.gpu_name());
        return Ok((Box::new(hybrid), name));
    }
    let (engine, name) = engine(plan, device, kernels)?;
    Ok((engine, name))
}

/// The engine of a plan on a device, and its name.
pub fn engine<R: Real>(
    plan: Arc<Plan<R>>,
    device: &DeviceSpec,
    kernels: &str,
) -> Result<(Box<dyn Steps<R>>, String)> {
    let Some(ordinal) = device.gpu() else {
        check_memory(&plan)?;
        let name = plan.isa().to_string();
        return Ok((Box::new(Cpu::new(plan)), name));
    };
    let o = plan.options();
    let config = config::<R>(o.kernel, o.gradient, ordinal, kernels)?;
    let gpu = Gpu::open(plan, ordinal, config)?;
    let name = gpu.name().to_owned();
    Ok((Box::new(gpu), name))
}
