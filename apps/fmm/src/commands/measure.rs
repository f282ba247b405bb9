//! Measurements of an engine.

use super::check_interrupt;
use crate::engine::Engine;
use greenup_app::progress::Bars;
use greenup_app::study::Bench;
use greenup_app::{AppError, Result};
use greenup_device::DeviceSpec;
use greenup_meter::{Measurement, Meter, Policy, Run};
use std::time::Instant;

/// A meter of time, and of energy where there is a sensor.
pub fn meter(device: &DeviceSpec) -> Result<Meter> {
    Ok(Bench::new(device, None, Policy::quick())?.noted().meter)
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
