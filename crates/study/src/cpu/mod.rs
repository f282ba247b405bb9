//! The study of the host's cores: calibration, measurements, predictions, tuning.

pub mod kernels;
pub mod tuning;

use crate::device::{DeviceStudy, Hardware};
use crate::error::StudyError;
use crate::result::KernelResult;
use crate::{advice, energy};
use greenup_calibrate::bench::{HostBenchmark, Level};
use greenup_calibrate::machine::build;
use greenup_calibrate::suite::attempts::{Attempts, Observed};
use greenup_calibrate::suite::probes::Probes;
use greenup_calibrate::suite::{Calibration, Depth, HostRunner, Point, plan};
use greenup_calibrate::{FitOptions, Method, record, suite};
use greenup_device::load::Load;
use greenup_device::{CpuFacts, Team};
use greenup_files::Journal;
use greenup_meter::{Meter, Observer};
use greenup_model::{Bound, Machine, Op, predict};
use greenup_process::interrupt::{self, Saving};
use tuning::TuningOptions;

/// Known work next to a kernel, s.
const PROBE_S: f64 = 0.1;
/// Attempts at a kernel that is disturbed.
const ATTEMPTS: usize = 3;

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
    let facts = CpuFacts::read();
    let load = Load::now(&facts.cores);
    let team = Team::new(&facts.cores);
    let plan = plan(options.depth, facts.cores.len());
    let mut calibration = suite::run(
        &plan,
        &facts,
        &team,
        &mut options.meter,
        observer,
        &mut |r| record::keep(records_journal, r),
    )?;
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
    let fitted = |c: &Calibration| build(&options.name, c, &facts, command, &fit_options);
    let (mut machine, mut fit, mut records) = fitted(&calibration)?;
    let mut results = Vec::new();
    let mut tuning = None;
    if !calibration.interrupted {
        let host = On {
            facts: &facts,
            team: &team,
            machine: &machine,
            assume,
        };
        results = host.measure(
            &mut calibration,
            &mut options.meter,
            observer,
            kernels_journal,
        )?;
        if let (Some(before), Some(now)) = (&load, Load::now(&facts.cores)) {
            calibration.noise.others(now.since(before));
        }
        tuning = (options.tuning.as_ref())
            .filter(|_| !observer.cancelled())
            .map(|t| tuning::run(t, &facts, &team, observer));
        if let Some(Ok(t)) = &tuning {
            calibration.faster.extend(t.above_roof(&machine));
        }
        // Roofs are the best rates of the whole run, those next to kernels and of kernels included.
        (machine, fit, records) = fitted(&calibration)?;
        calibration.noise.roofs(&records);
        for k in &mut results {
            let time = k.measured.as_ref().map(|m| m.time_s.median);
            let explained = time.and_then(|t| energy::split(&machine, &k.work, t, None));
            k.explained_by(predict(&machine, &k.work)?, explained);
            k.advice = advice::for_kernel(k, &machine, false);
        }
    }
    let study = DeviceStudy {
        device: "cpu".to_owned(),
        sensor: options.meter.main_sensor().map(str::to_owned),
        no_sensor: options.no_sensor.clone(),
        interrupted: calibration.interrupted || observer.cancelled(),
        noise: calibration.noise.clone(),
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

/// Where kernels are measured, and the machine that predicts them meanwhile.
struct On<'a> {
    facts: &'a CpuFacts,
    team: &'a Team,
    machine: &'a Machine,
    assume: Option<&'a Machine>,
}

impl On<'_> {
    /// Verifies and measures the kernels, with known work before and after each; one that was disturbed is repeated. What is
    /// faster than a roof goes to the calibration.
    fn measure(
        &self,
        calibration: &mut Calibration,
        meter: &mut Meter,
        observer: &dyn Observer,
        journal: &mut Journal,
    ) -> Result<Vec<KernelResult>, StudyError> {
        let go = || !observer.cancelled();
        let mut results = Vec::new();
        let kernels = kernels::all(self.facts, self.team, &go);
        let runner = HostRunner::new(self.facts, self.team);
        let streams = [HostBenchmark::Read, HostBenchmark::Copy];
        let mut probes = Probes::new(&runner, self.team.len(), &streams, &go);
        probes.expect(&calibration.points);
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
            let predicted = predict(self.machine, kernel.work())?;
            let memory = predicted.bound != Bound::Op(Op::F64);
            let mut attempts = Attempts::default();
            let mut before = probes.read(PROBE_S, &go);
            for _ in 0..ATTEMPTS {
                let observed = Observed::of(kernel.as_ref(), meter, observer);
                let after = probes.read(PROBE_S, &go);
                if let Some(o) = observed {
                    attempts.push(o, [before, after.clone()]);
                }
                before = after;
                match attempts.doubt(&probes, memory) {
                    Some(why) if go() => attempts.repeated_for(&why),
                    _ => break,
                }
            }
            let best = attempts.best();
            let roof_then = best.and_then(|(_, around)| match predicted.bound {
                Bound::Op(op) => {
                    let shares = around.iter().map(|l| probes.share_of(op, l));
                    let shares: Option<Vec<f64>> = shares.collect();
                    shares.map(|s| s.iter().sum::<f64>() / s.len() as f64)
                }
                Bound::Cap => None,
            });
            let disturbed = attempts.doubt(&probes, memory);
            let work = kernel.work().clone();
            let mut result = KernelResult {
                name: kernel.name().into(),
                about: kernel.describe(),
                flops: work.flops(),
                bytes: work.count(Op::Dram),
                intensity: work.intensity().unwrap_or(f64::INFINITY),
                verification,
                share_of_roof: None,
                roof_then,
                time_error: None,
                energy_error: None,
                assumed: self.assume.and_then(|m| predict(m, &work).ok()),
                explained: None,
                library: None,
                doubts: (disturbed.iter())
                    .map(|why| format!("disturbed: {why}"))
                    .collect(),
                disturbed,
                measured: best.map(|(o, _)| o.measurement.clone()),
                predicted: predicted.clone(),
                work,
                advice: Vec::new(),
            };
            let time = result.measured.as_ref().map(|m| m.time_s.median);
            let explained = time.and_then(|t| energy::split(self.machine, &result.work, t, None));
            result.explained_by(predicted, explained);
            attempts.note(&result.name, &mut calibration.noise);
            if let Some(why) = &result.disturbed {
                calibration.noise.not_clean(&result.name, why);
            }
            // As large as the data of the microbenchmarks of slow memory.
            let beyond = Level::Dram.bytes(self.facts, 1).unwrap_or(usize::MAX) as f64;
            calibration
                .faster
                .extend(result.above_roof(kernel.data_bytes(), beyond));
            journal.line(serde_json::to_string(&result)?)?;
            results.push(result);
            observer.step(kernel.name());
        }
        for (bench, pass_s) in probes.best() {
            let of = |p: &&mut Point| p.name == bench.name() && p.threads == bench.threads;
            if let Some(point) = calibration.points.iter_mut().find(of) {
                point.was_faster(pass_s);
            }
        }
        Ok(results)
    }
}
