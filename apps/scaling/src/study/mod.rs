//! Applications measured on 1, 2, 4, … devices of this host, beside what the model predicts from the first run on one.
//!
//! | module | contents |
//! |---|---|
//! | [`case`] | what is run |
//! | `process` | the processes: energy, result, error |
//! | [`runs_file`] | each run in a file, from which a study continues |
//! | [`sample`] | what a run measured |
//! | [`measured`] | the runs of a case, and the ratios to one device |
//! | [`limits`] | what the largest number of devices loses |

pub mod case;
pub mod limits;
pub mod measured;
mod process;
pub mod runs_file;
pub mod sample;

use crate::{Record, ScalingError};
use case::{Case, CaseRun};
use greenup_files::FileError;
use greenup_meter::{Observer, Sensor};
use greenup_model::Machine;
use greenup_process::capture::{Output, output};
use greenup_report::provenance::Provenance;
use measured::{Series, predicted};
use process::{LIMIT, energy, hash, reason};
use runs_file::{Line, Run, RunsFile};
use sample::Sample;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// With less time left no run starts.
const LEAST: Duration = Duration::from_secs(2);

/// What is measured.
pub struct ScalingOptions {
    /// The cases, the most important first.
    pub cases: Vec<Case>,
    /// Numbers of devices, the first of them 1.
    pub counts: Vec<usize>,
    /// Whether the devices are GPUs, instead of ranks of one thread.
    pub gpus: bool,
    /// Energy counters of the GPUs, in their order.
    pub counters: Vec<Box<dyn Sensor>>,
    /// Folder in which the programs run.
    pub folder: PathBuf,
    /// Name of the devices.
    pub device: String,
    /// Rounds; each runs every case on every number of devices.
    pub rounds: usize,
    /// When no further run starts, and one that runs is stopped.
    pub until: Option<Instant>,
    /// Machine with the link between the devices.
    pub machine: Machine,
    /// Where the link comes from, in words.
    pub link: String,
    /// What cannot be measured, with the fix.
    pub missing: Vec<String>,
    /// Where and when.
    pub provenance: Provenance,
}

/// What was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScalingStudy {
    /// Name of the devices.
    pub device: String,
    /// Whether the devices are GPUs, instead of ranks of one thread.
    pub gpus: bool,
    /// Where the link comes from, in words.
    pub link: String,
    /// The link between the devices.
    pub constants: Option<greenup_model::Link>,
    /// Numbers of devices.
    pub counts: Vec<usize>,
    /// Rounds that were asked for.
    pub rounds: usize,
    /// Each case that ran on one device.
    pub applications: Vec<Series>,
    /// What could not be measured, with the reason.
    pub missing: Vec<String>,
    /// Runs for which there was no time.
    pub unfinished: Vec<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Where and when.
    pub provenance: Provenance,
}

impl ScalingStudy {
    /// The runs for which there was no time, in words; `None` if all ran.
    pub fn without_time(&self) -> Option<String> {
        let mut cases: Vec<&str> = (self.unfinished.iter())
            .filter_map(|u| u.split(" on ").next())
            .collect();
        let mut seen = std::collections::HashSet::new();
        cases.retain(|c| seen.insert(*c));
        let runs = self.unfinished.len();
        (runs > 0).then(|| format!("no time left for {runs} runs of {}", cases.join(", ")))
    }
}

/// Why a study of scaling failed.
#[derive(Debug, thiserror::Error)]
pub enum ScalingStudyError {
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program cannot be started.
    #[error("{program} cannot be started: {cause}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        cause: std::io::Error,
    },
    /// What it printed cannot be used.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
}

/// One case under way.
struct Under {
    case: Case,
    series: Option<Series>,
    /// Whether its input and its kernels are made.
    ready: bool,
    /// Numbers of devices on which it failed.
    failed: Vec<usize>,
}

/// Runs the cases in interleaved rounds; each run is a line of `file`, and runs that it has are not repeated. `save` writes
/// what is known after each case of each round. When the observer cancels or the time is up, the result has what was measured.
///
/// # Errors
/// A file cannot be written, or a program cannot be started or prints no result.
pub fn run(
    mut options: ScalingOptions,
    observer: &dyn Observer,
    file: &mut RunsFile,
    save: &mut dyn FnMut(&ScalingStudy) -> Result<(), FileError>,
) -> Result<ScalingStudy, ScalingStudyError> {
    let cases = std::mem::take(&mut options.cases);
    let mut all: Vec<Under> = Vec::new();
    for case in &cases {
        let (case, others) = file.case(case);
        if others {
            let (name, path) = (case.name, file.path().display());
            observer.note(&format!(
                "{name}: {path} has runs with other arguments, which are left out"
            ));
        }
        all.push(Under {
            case: case.clone(),
            series: None,
            ready: false,
            failed: Vec::new(),
        });
    }
    let mut study = ScalingStudy {
        gpus: options.gpus,
        device: options.device.clone(),
        link: options.link.clone(),
        constants: options.machine.link.clone(),
        counts: options.counts.clone(),
        rounds: options.rounds,
        applications: Vec::new(),
        missing: std::mem::take(&mut options.missing),
        unfinished: Vec::new(),
        interrupted: false,
        provenance: options.provenance.clone(),
    };
    observer.stage(
        "scaling",
        cases.iter().map(|c| c.runs.len()).sum::<usize>() * options.rounds,
    );
    'rounds: for round in 0..options.rounds {
        for k in 0..all.len() {
            // The first round begins with one device, from which the others are predicted; then the order turns.
            let mut order: Vec<usize> = all[k].case.runs.iter().map(|r| r.devices).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for devices in order {
                let name = all[k].case.name;
                // Without a run on one device there is nothing to compare with.
                let skipped = all[k].failed.contains(&1) || all[k].failed.contains(&devices);
                let ended = if skipped {
                    Ended::Measured
                } else {
                    step(
                        &mut options,
                        &mut all[k],
                        (devices, round),
                        (observer, file),
                    )?
                };
                match ended {
                    Ended::Measured => {}
                    Ended::Stopped => study.interrupted = true,
                    Ended::NoTime => {
                        let text = format!("{name} on {devices}, round {}", round + 1);
                        study.unfinished.push(text);
                    }
                    Ended::Failed(why) => {
                        let text = format!(
                            "{name} on {devices} device{}: {why}",
                            if devices == 1 { "" } else { "s" }
                        );
                        observer.note(&text);
                        study.missing.push(text);
                        all[k].failed.push(devices);
                    }
                }
                if study.interrupted {
                    break;
                }
                observer.step(&format!("{name} on {devices}"));
            }
            study.applications = all.iter().filter_map(|u| u.series.clone()).collect();
            save(&study)?;
            if study.interrupted {
                break 'rounds;
            }
        }
    }
    Ok(study)
}

/// How a run ended.
enum Ended {
    Measured,
    Stopped,
    NoTime,
    Failed(String),
}

/// A run of a case, or of a smaller one if the first does not fit.
fn step(
    options: &mut ScalingOptions,
    under: &mut Under,
    (devices, round): (usize, usize),
    (observer, file): (&dyn Observer, &mut RunsFile),
) -> Result<Ended, ScalingStudyError> {
    loop {
        let Some(run) = (under.case.runs.iter())
            .find(|r| r.devices == devices)
            .cloned()
        else {
            return Ok(Ended::Measured);
        };
        let before = file.run(&under.case, devices, round).cloned();
        if let Some(before) = before.filter(|_| under.series.is_some() || devices == 1) {
            add(options, under, &before, file)?;
            return Ok(Ended::Measured);
        }
        if under.series.is_none() && devices != 1 {
            return Ok(Ended::NoTime);
        }
        let ended = once(options, under, (&run, round), (observer, file))?;
        let Ended::Failed(why) = &ended else {
            return Ok(ended);
        };
        file.add(Line::Failed {
            case: under.case.name.into(),
            devices,
            arguments: run.arguments,
            why: why.clone(),
        })?;
        match under.case.smaller.take() {
            Some(smaller) if devices == 1 && under.series.is_none() => {
                observer.note(&format!(
                    "{}: {why}; next: {}",
                    under.case.problem, smaller.problem
                ));
                under.case = *smaller;
            }
            _ => return Ok(ended),
        }
    }
}

/// Time left.
fn left(options: &ScalingOptions) -> Duration {
    options.until.map_or(LIMIT, |end| {
        end.saturating_duration_since(Instant::now()).min(LIMIT)
    })
}

/// Time that a run takes, by those before; 0 without any.
fn expected(under: &Under, run: &CaseRun) -> Duration {
    let Some(series) = &under.series else {
        return Duration::ZERO;
    };
    let nearest = (series.samples.iter()).min_by_key(|s| s.devices.abs_diff(run.devices));
    let seconds = nearest.map_or(0.0, |s| {
        s.process_s * (run.size / series.size(s.devices)).max(1.0)
    });
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Runs a case once.
fn once(
    options: &mut ScalingOptions,
    under: &mut Under,
    (run, round): (&CaseRun, usize),
    (observer, file): (&dyn Observer, &mut RunsFile),
) -> Result<Ended, ScalingStudyError> {
    if observer.cancelled() {
        return Ok(Ended::Stopped);
    }
    if left(options) < expected(under, run).max(LEAST) {
        return Ok(Ended::NoTime);
    }
    if !under.ready {
        let most = under.case.runs.last().filter(|_| under.case.warm_up);
        let before = [under.case.input.as_ref(), most.map(|r| &r.arguments)];
        for arguments in before.into_iter().flatten() {
            let (out, _) = start(options, &under.case, arguments, observer)?;
            if !out.success() {
                return Ok(failed(options, &out, observer));
            }
        }
        under.ready = true;
    }
    let before = energy(&mut options.counters, run.devices);
    let (out, process_s) = start(options, &under.case, &run.arguments, observer)?;
    if !out.success() {
        return Ok(failed(options, &out, observer));
    }
    let after = energy(&mut options.counters, run.devices);
    let report: Value =
        serde_json::from_str(&out.stdout).map_err(|e| ScalingError::Unreadable {
            name: under.case.name.into(),
            cause: e.to_string(),
        })?;
    let result = (under.case.result).and_then(|name| hash(&options.folder.join(name)).ok());
    let run = Run {
        case: under.case.name.into(),
        devices: run.devices,
        round,
        arguments: run.arguments.clone(),
        process_s,
        process_j: before.zip(after).map(|(a, b)| b - a),
        result,
        report,
    };
    // Only what can be read is kept.
    sample(&under.case, &run)?;
    file.add(Line::Run(run.clone()))?;
    add(options, under, &run, file)?;
    Ok(Ended::Measured)
}

/// Starts a case's program in the folder; its output and time, s.
fn start(
    options: &ScalingOptions,
    case: &Case,
    arguments: &[String],
    observer: &dyn Observer,
) -> Result<(Output, f64), ScalingStudyError> {
    if let Some(name) = case.fresh {
        let path = options.folder.join(name);
        // Either is missing.
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
    }
    let mut command = Command::new(&case.program);
    command.args(arguments).current_dir(&options.folder);
    let begin = Instant::now();
    let out = output(&mut command, left(options), &|| observer.cancelled()).map_err(|cause| {
        ScalingStudyError::Start {
            program: case.program.display().to_string(),
            cause,
        }
    })?;
    Ok((out, begin.elapsed().as_secs_f64()))
}

/// Why a run did not succeed.
fn failed(options: &ScalingOptions, out: &Output, observer: &dyn Observer) -> Ended {
    if observer.cancelled() {
        return Ended::Stopped;
    }
    if out.status.is_none() && options.until.is_some_and(|end| Instant::now() >= end) {
        return Ended::NoTime;
    }
    Ended::Failed(reason(out))
}

/// The sample of a run, and its record.
fn sample(case: &Case, run: &Run) -> Result<(Sample, Record), ScalingError> {
    let at = (run.devices, run.round);
    let process = (run.process_s, run.process_j);
    let (mut sample, record) = Sample::parse(case.application, &run.report, at, process)?;
    if let Some(hash) = &run.result {
        sample
            .exact
            .insert("bytes of the result".into(), hash.clone());
    }
    Ok((sample, record))
}

/// Adds a run; the first one predicts the others.
fn add(
    options: &ScalingOptions,
    under: &mut Under,
    run: &Run,
    file: &mut RunsFile,
) -> Result<(), ScalingStudyError> {
    let (sample, record) = sample(&under.case, run)?;
    match &mut under.series {
        Some(series) => series.add(sample),
        None => {
            let known = file.predicted(&under.case).map(<[_]>::to_vec);
            let predicted = match known {
                Some(known) => known,
                None => {
                    let predicted = predicted(&options.machine, &record, &under.case)?;
                    file.add(Line::Predicted {
                        case: under.case.name.into(),
                        arguments: under.case.arguments().to_vec(),
                        predicted: predicted.clone(),
                    })?;
                    predicted
                }
            };
            under.series = Some(Series::new(&under.case, sample, predicted));
        }
    }
    Ok(())
}
