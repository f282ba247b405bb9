//! Applications measured on 1, 2, 4, … devices of this host, beside what the model predicts from the first run on one.

use super::measured::{Sample, Series};
use super::{ScalingError, rows_of};
use greenup_app::provenance::Provenance;
use greenup_files::{FileError, Journal};
use greenup_meter::Observer;
use greenup_model::Machine;
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A run that takes longer is killed.
const LIMIT: Duration = Duration::from_secs(1800);

/// An application to measure.
#[derive(Clone, Debug)]
pub struct Application {
    /// hydro, gisaxs or fmm.
    pub name: &'static str,
    /// Its program.
    pub program: PathBuf,
    /// Its arguments, without the devices; it prints JSON.
    pub arguments: Vec<String>,
    /// The problem in words.
    pub problem: String,
}

/// What is measured.
pub struct ScalingOptions {
    /// The applications.
    pub applications: Vec<Application>,
    /// Numbers of devices, the first of them 1.
    pub counts: Vec<usize>,
    /// The GPUs by number; none: ranks of one thread on the host's cores.
    pub gpus: Vec<usize>,
    /// Name of the devices.
    pub device: String,
    /// Rounds; each runs every application on every number of devices.
    pub rounds: usize,
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
#[derive(Clone, Debug, Serialize)]
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
    /// Each application that ran on one device.
    pub applications: Vec<Series>,
    /// What could not be measured, with the reason.
    pub missing: Vec<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Where and when.
    pub provenance: Provenance,
}

/// Why a study of scaling failed.
#[derive(Debug, thiserror::Error)]
pub enum ScalingStudyError {
    /// The journal cannot be written.
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

/// One application under way.
struct Under<'a> {
    application: &'a Application,
    series: Option<Series>,
    /// Numbers of devices on which it failed.
    failed: Vec<usize>,
}

/// Runs the applications in interleaved rounds; each run is a line of `journal`. When the observer cancels, the result has
/// what was measured so far.
///
/// # Errors
/// The journal cannot be written, or a program prints no result.
pub fn run(
    options: ScalingOptions,
    observer: &dyn Observer,
    journal: &mut Journal,
) -> Result<ScalingStudy, ScalingStudyError> {
    let mut missing = options.missing.clone();
    let mut all: Vec<Under<'_>> = (options.applications.iter())
        .map(|application| Under {
            application,
            series: None,
            failed: Vec::new(),
        })
        .collect();
    let steps = all.len() * options.counts.len() * options.rounds;
    observer.stage("scaling", steps);
    let mut interrupted = false;
    'rounds: for round in 0..options.rounds {
        for under in &mut all {
            // The first round begins with one device, from which the others are predicted; then the order turns.
            let mut counts = options.counts.clone();
            if round % 2 == 1 {
                counts.reverse();
            }
            for devices in counts {
                if observer.cancelled() {
                    interrupted = true;
                    break 'rounds;
                }
                // Without a run on one device there is nothing to compare with.
                let skipped = under.failed.contains(&1) || under.failed.contains(&devices);
                if !skipped {
                    match one(&options, under, (devices, round), (observer, journal))? {
                        Ended::Measured => {}
                        Ended::Stopped => {
                            interrupted = true;
                            break 'rounds;
                        }
                        Ended::Failed(why) => {
                            let name = under.application.name;
                            let text = format!("{name} on {devices} devices: {why}");
                            observer.note(&text);
                            missing.push(text);
                            under.failed.push(devices);
                        }
                    }
                }
                observer.step(&format!("{} on {devices}", under.application.name));
            }
        }
    }
    Ok(ScalingStudy {
        gpus: !options.gpus.is_empty(),
        device: options.device,
        link: options.link,
        constants: options.machine.link.clone(),
        counts: options.counts,
        rounds: options.rounds,
        applications: all.into_iter().filter_map(|u| u.series).collect(),
        missing,
        interrupted,
        provenance: options.provenance,
    })
}

/// How a run ended.
enum Ended {
    Measured,
    Stopped,
    Failed(String),
}

/// Runs an application once.
fn one(
    options: &ScalingOptions,
    under: &mut Under<'_>,
    (devices, round): (usize, usize),
    (observer, journal): (&dyn Observer, &mut Journal),
) -> Result<Ended, ScalingStudyError> {
    let application = under.application;
    let mut command = Command::new(&application.program);
    command.args(&application.arguments);
    command.args(on(&options.gpus, devices));
    let out = greenup_process::capture::output(&mut command, LIMIT, &|| observer.cancelled())
        .map_err(|cause| ScalingStudyError::Start {
            program: application.program.display().to_string(),
            cause,
        })?;
    if !out.success() {
        if observer.cancelled() {
            return Ok(Ended::Stopped);
        }
        return Ok(Ended::Failed(reason(&out)));
    }
    let (sample, record) = Sample::parse(application.name, &out.stdout, (devices, round))?;
    journal.line(
        serde_json::to_string(&Line {
            application: application.name,
            sample: &sample,
        })
        .map_err(|e| ScalingError::Unreadable {
            name: application.name.into(),
            cause: e.to_string(),
        })?,
    )?;
    match &mut under.series {
        Some(series) => series.add(sample),
        None => {
            let predicted = rows_of(&options.machine, &record, &options.counts)?;
            let series = Series::new(application, sample, &predicted);
            under.series = Some(series);
        }
    }
    Ok(Ended::Measured)
}

#[derive(Serialize)]
struct Line<'a> {
    application: &'a str,
    #[serde(flatten)]
    sample: &'a Sample,
}

/// Arguments of so many devices.
fn on(gpus: &[usize], devices: usize) -> Vec<String> {
    match gpus {
        [] => ["--ranks", &devices.to_string(), "--threads", "1"]
            .map(str::to_owned)
            .to_vec(),
        all => {
            let some: Vec<String> = all.iter().take(devices).map(usize::to_string).collect();
            vec!["--device".into(), format!("cuda:{}", some.join(","))]
        }
    }
}

/// Why a run failed: its error message.
fn reason(out: &greenup_process::capture::Output) -> String {
    let lines: Vec<&str> = out.stderr.lines().collect();
    let error = lines.iter().find(|l| l.starts_with("error:"));
    match (error.or(lines.last()), out.status) {
        (_, None) => format!("it took more than {} minutes", LIMIT.as_secs() / 60),
        (Some(line), _) => line.trim_start_matches("error: ").to_owned(),
        (None, Some(status)) => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_for_the_programs() {
        assert_eq!(on(&[], 2).join(" "), "--ranks 2 --threads 1");
        assert_eq!(on(&[0, 1, 3], 3).join(" "), "--device cuda:0,1,3");
        assert_eq!(on(&[2, 3], 1).join(" "), "--device cuda:2");
    }
}
