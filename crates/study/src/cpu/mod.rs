//! The study of the host's cores: calibration, measurements, predictions, tuning.

pub mod kernels;
pub mod reference;
pub mod tuning;

use crate::advice;
use crate::device::{DeviceStudy, Hardware};
use crate::energy;
use crate::result::KernelResult;
use crate::study::StudyError;
use greenup_calibrate::machine::build;
use greenup_calibrate::suite::{Depth, plan};
use greenup_calibrate::{FitOptions, Method, record, suite};
use greenup_device::{CpuFacts, Team};
use greenup_files::Journal;
use greenup_meter::{Meter, Observer};
use greenup_model::{Machine, predict};
use greenup_process::interrupt::{self, Saving};
use reference::References;
use std::convert::Infallible;
use tuning::TuningOptions;

/// Settings of the study of the host's cores.
pub struct CpuOptions {
    /// Name of the calibrated machine.
    pub name: String,
    /// Depth of the calibration.
    pub depth: Depth,
    /// Measures time, and energy where there is a sensor.
    pub meter: Meter,
    /// Why there is no sensor.
    pub no_sensor: Option<String>,
    /// The tuning run at the end; `None` for none.
    pub tuning: Option<TuningOptions>,
}

impl CpuOptions {
    /// Estimated duration, s: windows and warm-up of every benchmark and kernel, and the tuning run.
    pub fn seconds(&self, cores: usize) -> f64 {
        let policy = &self.meter.policy;
        let each = 2.0 * policy.warmup_s + policy.min_repeats as f64 * self.meter.window_s() + 0.1;
        let benches = plan(self.depth, cores).len() as f64 + 6.0;
        // Around the search: the reference, the final rounds, the comparison.
        let tuning = self.tuning.as_ref().map_or(0.0, |t| t.seconds + 25.0);
        benches * each + tuning
    }
}

/// Studies the host's cores; each measurement goes to its journal at once.
///
/// # Errors
/// The calibration is empty or does not determine a machine, a kernel computes a wrong result, or a journal cannot be
/// written.
pub fn run(
    options: &mut CpuOptions,
    assume: Option<&Machine>,
    command: &str,
    observer: &dyn Observer,
    records_journal: &mut Journal,
    kernels_journal: &mut Journal,
) -> Result<(DeviceStudy, Option<Saving>), StudyError> {
    let meter = &mut options.meter;
    let facts = CpuFacts::read();
    let team = Team::new(&facts.cores);
    let plan = plan(options.depth, facts.cores.len());
    let calibration = suite::run(&plan, &facts, &team, meter, observer, &mut |r| {
        record::keep(records_journal, r)
    })?;
    if calibration.points.is_empty() {
        return Err(StudyError::Nothing);
    }
    let fit_options = FitOptions {
        // Without energies the methods are one.
        method: Method::Capped,
        ..FitOptions::default()
    };
    // What was measured is kept, though the fit takes its time.
    let saving = calibration.interrupted.then(interrupt::saving);
    let (machine, fit, records) =
        build(&options.name, &calibration, &facts, command, &fit_options)?;

    let mut results = Vec::new();
    if !calibration.interrupted {
        let go = || !observer.cancelled();
        let kernels = kernels::all(&facts, &team, &go);
        let references = References::new(&facts, &team, &go);
        observer.stage("kernels", kernels.len());
        for mut kernel in kernels {
            if observer.cancelled() {
                break;
            }
            let verification = kernel.verify();
            if verification.0 > verification.1 || verification.0.is_nan() {
                return Err(StudyError::Wrong {
                    name: kernel.name().into(),
                    error: verification.0,
                    bound: verification.1,
                });
            }
            let work = kernel.work();
            let predicted = predict(&machine, &work)?;
            let before = references.roof_now(&machine, predicted.bound);
            let go = || !observer.cancelled();
            let mut iterate = |seconds: f64| Ok::<_, Infallible>(kernel.run(seconds, &go));
            let measured = match meter.measure(observer, &mut iterate) {
                Ok(m) => m,
                Err(never) => match never {},
            };
            let after = references.roof_now(&machine, predicted.bound);
            let error = |predicted: f64, measured: f64| predicted / measured - 1.0;
            let time = measured.as_ref().map(|m| m.time_s.median);
            let explained = time.and_then(|t| energy::split(&machine, &work, t, None));
            let energy = measured
                .as_ref()
                .and_then(|m| m.energy_j)
                .zip(explained.as_ref().map(|e| e.total_j));
            let mut result = KernelResult {
                name: kernel.name().into(),
                about: kernel.describe(),
                flops: work.flops(),
                bytes: work.count(greenup_model::Op::Dram),
                intensity: work.intensity().unwrap_or(f64::INFINITY),
                verification,
                share_of_roof: time.map(|t| predicted.time_s / t),
                roof_then: before.zip(after).map(|(b, a)| 0.5 * (b + a)),
                time_error: time.map(|t| error(predicted.time_s, t)),
                energy_error: energy.map(|(m, p)| error(p, m.median)),
                assumed: assume.and_then(|m| predict(m, &work).ok()),
                explained,
                library: None,
                doubts: Vec::new(),
                measured,
                predicted,
                work,
                advice: Vec::new(),
            };
            result.advice = advice::for_kernel(&result, &machine, false);
            kernels_journal.line(serde_json::to_string(&result)?)?;
            results.push(result);
            observer.step(kernel.name());
        }
    }
    let tuning = options
        .tuning
        .as_ref()
        .filter(|_| !calibration.interrupted && !observer.cancelled())
        .map(|t| tuning::run(t, &facts, &team, observer));
    let study = DeviceStudy {
        device: "cpu".to_owned(),
        sensor: options.meter.main_sensor().map(str::to_owned),
        no_sensor: options.no_sensor.clone(),
        interrupted: calibration.interrupted || observer.cancelled(),
        hardware: Hardware::Cpu {
            facts: Box::new(facts),
            calibration: Box::new(calibration),
        },
        machine,
        fit,
        records,
        kernels: results,
        tuning,
        missing: Vec::new(),
    };
    Ok((study, saving))
}
