//! Sensors of a study, and work that they measure.

use crate::progress::Bars;
use crate::sensors::{self, Target};
use crate::{Result, interrupt, print};
use greenup_device::DeviceSpec;
use greenup_meter::choose::found;
use greenup_meter::sensor::{Quantity, Reading, Sensor};
use greenup_meter::{Measurement, Meter, Policy, Run};
use std::time::Instant;

/// Sensors of a study.
pub struct Bench {
    /// Of time, and of energy where there is a sensor.
    pub meter: Meter,
    /// Why there is no energy; `None` where there is a sensor.
    pub missing: Option<String>,
    /// Follows changes of power.
    power: Option<Box<dyn Sensor>>,
    /// Energy counter of the CPU while a GPU computes.
    host: Option<Box<dyn Sensor>>,
}

/// What a [`Bench`] measured.
pub struct Measured {
    /// Time and energy of one repetition.
    pub measurement: Measurement,
    /// Times, s, with powers, W; empty without a sensor that follows power.
    pub trace: Vec<(f64, f64)>,
    /// Power of the CPU while a GPU computed, W; `None` without a sensor of the CPU.
    pub host_w: Option<f64>,
}

impl Bench {
    /// For work on one device: the sensor named, or the best one.
    ///
    /// # Errors
    /// There is no such device or sensor.
    pub fn new(device: &DeviceSpec, named: Option<&str>, policy: Policy) -> Result<Self> {
        let target = match device.gpu() {
            None => Target::Host,
            Some(n) => sensors::on_gpu(&sensors::gpu(Some(&n.to_string()))?)?,
        };
        let chosen = sensors::sensors(named, target, 0.3)?;
        Ok(Self {
            missing: chosen.missing.clone(),
            meter: chosen.meter(policy),
            power: None,
            host: None,
        })
    }

    /// The same, after a note where there is no energy.
    pub fn noted(self) -> Self {
        if let Some(why) = &self.missing {
            print::note(format!("no energy: {why}"));
        }
        self
    }

    /// The same, which also follows power over time, and that of the CPU while a GPU computes.
    pub fn following(mut self, device: &DeviceSpec, named: Option<&str>) -> Self {
        let of = |id: &str| id.rsplit(':').next().unwrap_or_default().to_owned();
        self.power = self.meter.main_sensor().map(of).and_then(|device| {
            (found(named).into_iter().flatten())
                .find(|s| s.info().quantity == Quantity::Power && s.info().id.ends_with(&device))
        });
        if device.gpu().is_some() && named.is_none() {
            // Without a sensor of the CPU there is nothing to tell: the host's power is estimated later, if at all.
            let chosen = sensors::sensors(None, Target::Host, 0.3).ok();
            self.host = (chosen.and_then(|c| c.sensors.into_iter().next()))
                .filter(|s| s.info().quantity == Quantity::Energy);
        }
        self
    }

    /// Measures work that is repeated through each window; `None` if the user interrupts before the first ends.
    ///
    /// # Errors
    /// Those of the work.
    pub fn measure<E>(
        &mut self,
        once: &mut dyn FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Measured>, E> {
        let read = |s: &mut Option<Box<dyn Sensor>>| s.as_mut()?.read().ok();
        let Self {
            meter, power, host, ..
        } = self;
        let mut trace = Vec::new();
        let mut last = 0.0;
        let (begin, counted) = (Instant::now(), read(host));
        let measurement = meter.measure(&Bars::quiet(), &mut |seconds: f64| {
            let start = Instant::now();
            let mut iterations = 0.0;
            loop {
                once()?;
                iterations += 1.0;
                let now = begin.elapsed().as_secs_f64();
                if now - last > 0.1 {
                    last = now;
                    trace.extend(read(power).map(|r| (r.at_s, r.value)));
                }
                let passed = start.elapsed().as_secs_f64();
                if passed >= seconds || interrupt::requested() {
                    return Ok(Run {
                        iterations,
                        seconds: passed,
                    });
                }
            }
        })?;
        let mean = |(a, b): (Reading, Reading)| {
            Some((b.value - a.value) / (b.at_s - a.at_s)).filter(|w| w.is_finite() && *w > 0.0)
        };
        let host_w = counted.zip(read(host)).and_then(mean);
        Ok(measurement.map(|measurement| Measured {
            measurement,
            trace,
            host_w,
        }))
    }
}
