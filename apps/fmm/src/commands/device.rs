//! The device of a command, and measurements on it.

use super::{go_on, note};
use greenup_app::interrupt;
use greenup_device::cuda;
use greenup_fmm::FmmError;
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine;
use greenup_fmm::gpu::{Config, Gpu};
use greenup_fmm::memory;
use greenup_fmm::plan::Plan;
use greenup_fmm::real::Real;
use greenup_meter::choose::{Target, sensors};
use greenup_meter::{Measurement, Meter, Observer, Policy, Problem, Run};
use std::time::Instant;

/// What evaluates a plan on a CPU or a GPU, and its name.
pub fn engine<'a, R: Real>(
    plan: &'a Plan<R>,
    gpu: Option<usize>,
    kernels: &str,
) -> Result<(Box<dyn Engine + 'a>, String), FmmError> {
    let Some(ordinal) = gpu else {
        memory::check_evaluation(plan)?;
        return Ok((Box::new(Cpu::new(plan)), plan.isa().to_string()));
    };
    let config = Config::default_for::<R>(plan.options().kernel, plan.options().gradient)
        .with(kernels)
        .map_err(|e| FmmError(format!("--kernels: {e}")))?;
    let gpu = Gpu::open(plan, ordinal, config)?;
    let name = gpu.name().to_owned();
    Ok((Box::new(gpu), name))
}

/// A meter of time, and of energy where there is a sensor.
pub fn meter(gpu: Option<usize>) -> Result<Meter, FmmError> {
    let unusable = |p: Problem| FmmError(format!("{}: {}; {}", p.id, p.cause, p.cure));
    let target = match gpu {
        None => Target::Host,
        Some(n) => {
            let gpu = cuda::Gpu::numbered(n).map_err(|e| FmmError(e.to_string()))?;
            Target::Gpu(gpu.bus_id.parse().map_err(unusable)?)
        }
    };
    let mut busy = |s: f64| {
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < s {
            std::hint::spin_loop();
        }
    };
    let policy = Policy::quick();
    let chosen = sensors(None, target, 0.3, &mut busy).map_err(unusable)?;
    if let Some(why) = &chosen.missing {
        note(&format!("no energy: {why}"));
    }
    Ok(chosen.meter(policy))
}

/// Stops a measurement where the user wants to.
struct Watch;

impl Observer for Watch {
    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

/// Time and energy of an evaluation, without what is moved to and from the device.
pub fn measured(meter: &mut Meter, engine: &mut dyn Engine) -> Result<Measurement, FmmError> {
    let measured = meter.measure(&Watch, &mut |seconds: f64| {
        let begin = Instant::now();
        let mut n = 0usize;
        // As many at a time as take a hundredth of a second, so that launches have no gaps.
        let mut together = 1;
        while begin.elapsed().as_secs_f64() < seconds {
            go_on()?;
            let t = Instant::now();
            engine.again(together)?;
            n += together;
            if t.elapsed().as_secs_f64() < 0.01 {
                together *= 2;
            }
        }
        Ok::<_, FmmError>(Run {
            iterations: n as f64,
            seconds: begin.elapsed().as_secs_f64(),
        })
    })?;
    measured.ok_or_else(|| FmmError("interrupted".to_owned()))
}
