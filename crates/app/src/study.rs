//! Studies: an application lists its cases and says how one is set up and run; here they are measured one after another,
//! kept after each, and recorded as trials of a sweep.

use crate::progress::{Bars, bar};
use crate::sensors::{self, Target};
use crate::{AppError, Result, interrupt, print};
use greenup_device::DeviceSpec;
use greenup_meter::choose::found;
use greenup_meter::sensor::{Quantity, Reading, Sensor};
use greenup_meter::{Flag, Measurement, Meter, Policy, Run, Summary};
use greenup_report::provenance::Provenance;
use greenup_space::Value;
use greenup_tune::sweep::{Folder, Outcome, SweepFacts, Trial};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// Measures cases under a progress bar until the user interrupts, which drops the case under way; `keep` gets the results
/// after each case, so that a kill loses one only, with how long they took.
///
/// # Errors
/// Those of a case, and of `keep`.
pub fn measure<C, R>(
    cases: &[C],
    provenance: &mut Provenance,
    name: impl Fn(&C) -> String,
    mut one: impl FnMut(&C) -> Result<Option<R>>,
    mut keep: impl FnMut(&[R], &Provenance) -> Result,
) -> Result<Vec<R>> {
    let (begin, bar) = (Instant::now(), bar(cases.len() as u64, "cases"));
    let mut done = Vec::new();
    provenance.took("measurements", 0.0);
    for case in cases {
        if interrupt::requested() {
            break;
        }
        bar.set_message(name(case));
        let found = one(case);
        if interrupt::requested() {
            break;
        }
        let Some(found) = found? else { break };
        done.push(found);
        provenance.took("measurements", begin.elapsed().as_secs_f64());
        keep(&done, provenance)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(done)
}

/// Numbers of devices that are compared: 1, 2, 4, … and all.
pub fn counts(all: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|n| *n < all)
        .chain([all])
        .collect()
}

/// The facts of a study's sweep.
pub fn facts(
    name: &str,
    device: String,
    parameters: &[&str],
    provenance: &Provenance,
) -> SweepFacts {
    SweepFacts {
        name: name.to_owned(),
        device,
        parameters: parameters.iter().map(|p| (*p).to_owned()).collect(),
        more: [("greenup".to_owned(), provenance.version.clone())]
            .into_iter()
            .chain(provenance.pairs())
            .collect(),
        ..SweepFacts::default()
    }
}

/// Opens the sweep of a study, or goes on with it; returns the trials that it has, whose cases need not be measured again.
///
/// # Errors
/// The folder cannot be used, or its sweep is of another device.
pub fn open(dir: &Path, facts: &SweepFacts) -> Result<(Folder, Vec<Trial>)> {
    if !Folder::exists(dir) {
        return Ok((Folder::create(dir, facts)?, Vec::new()));
    }
    let device = Folder::read(dir)?.facts.device;
    if device != facts.device {
        let (dir, wanted) = (dir.display(), &facts.device);
        return Err(
            AppError::new(format!("{dir} is a study of {device}, not of {wanted}"))
                .hint("choose another folder with --out"),
        );
    }
    let (folder, sweep) = Folder::resume(dir, facts, &[])?;
    sweep.warnings.iter().for_each(print::warn);
    Ok((folder, sweep.trials))
}

/// The trial of a case that was set up and measured some times; `took` has the durations of both. The spread of energies is
/// a metric.
pub fn trial(config: Vec<Value>, all: &[Measurement], took: (Duration, Duration)) -> Trial {
    let times_s: Vec<f64> = all.iter().map(|m| m.time_s.median).collect();
    let energies: Option<Vec<f64>> = (all.iter())
        .map(|m| m.energy_j.as_ref().map(|e| e.median))
        .collect();
    let energies = energies.unwrap_or_default();
    let (time, energy) = (Summary::of(&times_s), Summary::of(&energies));
    let mut metrics = all
        .last()
        .map(Measurement::state_by_name)
        .unwrap_or_default();
    // Of one run nothing is known of the spread.
    let known = |s: &Summary| Some(s.relative_error()).filter(|e| e.is_finite());
    if let Some(error) = energy.as_ref().and_then(known) {
        metrics.insert("energy_error".to_owned(), error);
        metrics.insert("energy_sd".to_owned(), deviation(&energies));
    }
    let outcome = Outcome::Measured {
        time_s: time.as_ref().map_or(f64::NAN, |s| s.median),
        times_s,
        energy_j: energy.map(|s| s.median),
        time_error: time.as_ref().and_then(known),
    };
    Trial {
        metrics,
        build_s: took.0.as_secs_f64(),
        measure_s: took.1.as_secs_f64(),
        flags: (all.iter().flat_map(|m| &m.flags))
            .filter(|f| !matches!(f, Flag::NoEnergy))
            .map(ToString::to_string)
            .collect(),
        at: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |d| d.as_secs_f64()),
        ..Trial::of(config, outcome)
    }
}

/// Standard deviation over the mean; 0 of a single value.
fn deviation(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0)).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_is_relative_to_the_mean() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squares 32.
        let x = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((deviation(&x) - (32.0f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(deviation(&[3.0]), 0.0);
    }

    #[test]
    fn numbers_of_devices_are_doubled_up_to_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn results_are_kept_after_each_case() {
        let mut p = Provenance::of_process();
        let mut kept = Vec::new();
        let one = |c: &u32| Ok((*c < 3).then_some(10 * c));
        let done = measure(&[1, 2, 3, 4], &mut p, u32::to_string, one, |all, _| {
            kept.push(all.len());
            Ok(())
        });
        assert_eq!((done.unwrap(), kept), (vec![10, 20], vec![1, 2]));
        assert!(p.durations_s.contains_key("measurements"));
    }
}
