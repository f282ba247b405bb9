//! The engine of a command, and measurements with it.

use super::check_interrupt;
use greenup_app::args::Device;
use greenup_app::progress::Bars;
use greenup_app::{AppError, Result, print, sensors};
use greenup_fmm::cpu::{Cpu, check_memory};
use greenup_fmm::engine::{Engine, Steps};
use greenup_fmm::gpu::{Config, Gpu};
use greenup_fmm::plan::Plan;
use greenup_fmm::precision::Real;
use greenup_meter::{Measurement, Meter, Policy, Run};
use std::sync::Arc;
use std::time::Instant;

/// The engine of a plan on a device, and its name.
pub fn engine<R: Real>(
    plan: Arc<Plan<R>>,
    device: Device,
    kernels: &str,
) -> Result<(Box<dyn Steps<R>>, String)> {
    let Some(ordinal) = device.gpu() else {
        check_memory(&plan)?;
        let name = plan.isa().to_string();
        return Ok((Box::new(Cpu::new(plan)), name));
    };
    let config = Config::default_for::<R>(plan.options().kernel, plan.options().gradient)
        .with(kernels)
        .map_err(|e| AppError::new(format!("--kernels: {e}")))?;
    let gpu = Gpu::open(plan, ordinal, config)?;
    let name = gpu.name().to_owned();
    Ok((Box::new(gpu), name))
}

/// A meter of time, and of energy where there is a sensor.
pub fn meter(device: Device) -> Result<Meter> {
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
