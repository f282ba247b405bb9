//! The run: calibration, measurements, predictions.

use crate::advice;
use crate::kernels;
use crate::reference::References;
use crate::result::KernelResult;
use crate::tuning::{self, Tuning, TuningOptions};
use greenup_app::interrupt::{self, Saving};
use greenup_calibrate::machine::build;
use greenup_calibrate::suite::{Calibration, Depth, plan};
use greenup_calibrate::{Fit, FitError, FitOptions, Method, Record, record, suite};
use greenup_device::{CpuFacts, Team};
use greenup_files::{FileError, Journal};
use greenup_meter::{Meter, Observer};
use greenup_model::{Machine, MachineError, predict};
use std::convert::Infallible;

/// What a study is made of.
pub struct StudyOptions {
    /// Name of the calibrated machine.
    pub name: String,
    pub depth: Depth,
    /// A published machine to draw the energy side from, where nothing measures it.
    pub assume: Option<Machine>,
    /// The tuning run at the end; none when not wanted.
    pub tuning: Option<TuningOptions>,
    /// The command, for the record.
    pub command: String,
}

/// Everything a study found.
#[derive(Debug)]
pub struct Study {
    pub facts: CpuFacts,
    pub machine: Machine,
    pub fit: Fit,
    pub records: Vec<Record>,
    pub calibration: Calibration,
    pub sensor: Option<String>,
    pub kernels: Vec<KernelResult>,
    /// The tuning run, or why there is none.
    pub tuning: Option<Result<Tuning, String>>,
    pub assume: Option<Machine>,
    pub interrupted: bool,
    pub command: String,
    /// Gives the time to write the results where the user stopped the study.
    pub saving: Option<Saving>,
}

/// What was measured, on the disk until the results are.
pub struct Kept {
    /// Records of the calibration, as CSV.
    pub records: Journal,
    /// Kernels, a JSON object a line.
    pub kernels: Journal,
}

#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    #[error("{0}")]
    File(#[from] FileError),
    #[error("a kernel's result cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the calibration does not determine a machine: {0}")]
    Fit(#[from] FitError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("interrupted before anything was calibrated")]
    Nothing,
    #[error(
        "kernel `{name}` is wrong: its error {error:e} exceeds {bound:e}; its time does not count"
    )]
    Wrong {
        name: String,
        error: f64,
        bound: f64,
    },
}

/// Runs the study.
///
/// # Errors
/// When the calibration yields nothing, a kernel computes a wrong result, or what was measured cannot be kept.
pub fn run(
    options: &StudyOptions,
    meter: &mut Meter,
    observer: &dyn Observer,
    kept: &mut Kept,
) -> Result<Study, StudyError> {
    let facts = CpuFacts::read();
    let team = Team::new(&facts.cores);
    let plan = plan(options.depth, facts.cores.len());
    let calibration = suite::run(&plan, &facts, &team, meter, observer, &mut |r| {
        record::keep(&mut kept.records, r)
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
    let (machine, fit, records) = build(
        &options.name,
        &calibration,
        &facts,
        &options.command,
        &fit_options,
    )?;

    let mut results = Vec::new();
    if !calibration.interrupted {
        let kernels = kernels::all(&facts, &team);
        let references = References::new(&facts, &team);
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
            let energy = measured
                .as_ref()
                .and_then(|m| m.energy_j)
                .zip(predicted.energy_j);
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
                assumed: options.assume.as_ref().and_then(|m| predict(m, &work).ok()),
                measured,
                predicted,
                work,
                advice: Vec::new(),
            };
            result.advice = advice::for_kernel(&result, &machine);
            kept.kernels.line(serde_json::to_string(&result)?)?;
            results.push(result);
            observer.step(kernel.name());
        }
    }
    let tuning = options
        .tuning
        .as_ref()
        .filter(|_| !calibration.interrupted && !observer.cancelled())
        .map(|t| tuning::run(t, &facts, &team, observer));
    Ok(Study {
        saving,
        tuning,
        sensor: meter.main_sensor().map(str::to_owned),
        interrupted: calibration.interrupted || observer.cancelled(),
        assume: options.assume.clone(),
        command: options.command.clone(),
        facts,
        machine,
        fit,
        records,
        calibration,
        kernels: results,
    })
}
