//! The engine of a command, and measurements with it.

use super::check_interrupt;
use greenup_app::progress::Bars;
use greenup_app::{AppError, Result, print, sensors, wisdom};
use greenup_device::{DeviceSpec, cuda};
use greenup_fmm::cpu::{Cpu, check_memory};
use greenup_fmm::engine::{Engine, Steps};
use greenup_fmm::gpu::{Config, Gpu};
use greenup_fmm::hybrid::Hybrid;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::plan::Plan;
use greenup_fmm::precision::Real;
use greenup_meter::{Measurement, Meter, Policy, Run};
use greenup_wisdom::Device as Known;
use std::sync::Arc;
use std::time::Instant;

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
        .map_err(|e| AppError::new(format!("--kernels: {e}")))
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

/// A meter of time, and of energy where there is a sensor.
pub fn meter(device: &DeviceSpec) -> Result<Meter> {
    let target = match device.gpu() {
        None => sensors::Target::Host,
        Some(n) => sensors::on_gpu(&sensors::gpu(Some(&n.to_string()))?)?,
    };
    let chosen = sensors::sensors(None, target, 0.3)?;
    if let Some(why) = &chosen.missing {
        print::note(format!("no energy: {why}"));
    }
    Ok(chosen.meter(Policy::quick()))
}

/// Time and energy of an evaluation, without copies to and from the device.
pub fn measured(meter: &mut Meter, engine: &mut dyn Engine) -> Result<Measurement> {
    let measured = meter.measure(&Bars::quiet(), &mut |seconds: f64| {
        let start = Instant::now();
        let mut n = 0usize;
        // Batches of a hundredth of a second, so that launches have no gaps.
        let mut batch = 1;
        while start.elapsed().as_secs_f64() < seconds {
            check_interrupt()?;
            let t = Instant::now();
            engine.repeat(batch)?;
            n += batch;
            if t.elapsed().as_secs_f64() < 0.01 {
                batch *= 2;
            }
        }
        Ok::<_, AppError>(Run {
            iterations: n as f64,
            seconds: start.elapsed().as_secs_f64(),
        })
    })?;
    measured.ok_or_else(|| AppError::interrupted("interrupted"))
}
