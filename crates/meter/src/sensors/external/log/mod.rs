//! A power log of one or several devices, and the energy between two of its times.

mod energy;
mod moment;
#[cfg(test)]
mod tests;

pub use energy::{Energy, NoLogEnergy, energy};
pub use moment::{Moment, MomentError, offset};

use super::clock::ClockError;
use super::feed::FeedError;
use super::input::plain_file;
use super::line::{LineError, Lines, Numbered, POWERS, Sample, Wanted, lines};
use super::nvidia::{has_no_times, rewritten, rewritten_every};
use super::stamp::Stamp;
use super::trace_clock::place;
use crate::sensor::{Quantity, Reading};
use greenup_files::utf8;
use std::path::{Path, PathBuf};

/// A log that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        cause: std::io::Error,
    },
    /// A line after which none can be read.
    #[error("{}, line {line}: {cause}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
    /// There is no sample, or one alone.
    #[error("{}: it holds {samples} samples of {of}, and two are needed{}", path.display(), why.as_ref().map(|w| format!(": {w}")).unwrap_or_default())]
    TooFew {
        /// The file.
        path: PathBuf,
        /// Of which device.
        of: String,
        /// How many there are.
        samples: usize,
        /// Why there are no more.
        why: Option<String>,
    },
    /// `nvidia-smi dmon` without times.
    #[error("{}: its lines have no times", .0.display())]
    NoTimes(PathBuf),
    /// No device has this name.
    #[error("{}: no device of it is `{name}`: it has {}", path.display(), known.join(", "))]
    NoDevice {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The devices.
        known: Vec<String>,
    },
}

/// How to read it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A header for lines without one.
    pub columns: Option<String>,
    /// The column of power, where there are several.
    pub power: Option<String>,
    /// Seconds between lines without times.
    pub every_s: Option<f64>,
    /// The device, where there are several.
    pub device: Option<String>,
}

/// The samples of one device.
#[derive(Clone, Debug)]
pub struct DeviceLog {
    /// Its number, UUID, bus address or name; `None` where the log does not say.
    pub device: Option<String>,
    /// Power, or a counter of joules.
    pub quantity: Quantity,
    /// In order of time: s by the log's clock, and W or J.
    pub readings: Vec<Reading>,
    /// The form of its times, where they are no counts of seconds.
    pub stamp: Option<Stamp>,
    /// Step of its times, s.
    pub resolution_s: f64,
    /// Time over which the sensor averages, s, where it is known.
    pub average_s: Option<f64>,
    /// Relative error of the sensor itself, where it is known.
    pub gain_error: Option<f64>,
    /// What was passed over.
    pub notes: Vec<String>,
}

/// Reads the log of each device of a file.
///
/// # Errors
/// As [`LogError`] says; with the file and the line.
pub fn read(path: &Path, options: &Options) -> Result<Vec<DeviceLog>, LogError> {
    let bytes = plain_file(path).map_err(|cause| LogError::Read {
        path: path.to_owned(),
        cause,
    })?;
    parse(path, &String::from_utf8_lossy(&utf8(bytes)), options)
}

fn parse(path: &Path, text: &str, options: &Options) -> Result<Vec<DeviceLog>, LogError> {
    let lines = match (&options.columns, options.every_s) {
        (Some(header), _) => std::iter::once((0, header.clone()))
            .chain(numbered(text))
            .collect(),
        (None, Some(every_s)) if has_no_times(text) => {
            rewritten_every(text, every_s).unwrap_or_default()
        }
        _ if has_no_times(text) => return Err(LogError::NoTimes(path.to_owned())),
        _ => rewritten(text).unwrap_or_else(|| numbered(text).collect()),
    };
    // The first column of power that has values.
    let mut powers: Vec<Option<&str>> = vec![options.power.as_deref()];
    if options.power.is_none() {
        powers.extend(
            POWERS
                .into_iter()
                .map(Some)
                .filter(|p| text.contains(p.unwrap_or_default())),
        );
    }
    let mut first = None;
    for power in powers {
        match of_column(path, &lines, power, options) {
            Err(LogError::TooFew {
                samples: 0,
                of,
                why,
                path,
            }) => {
                first.get_or_insert(LogError::TooFew {
                    samples: 0,
                    of,
                    why,
                    path,
                });
            }
            Err(e) => return Err(first.unwrap_or(e)),
            Ok(found) => return Ok(found),
        }
    }
    Err(first.unwrap_or_else(|| LogError::NoTimes(path.to_owned())))
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, String)> {
    lines(text).enumerate().map(|(i, l)| (i + 1, l.to_owned()))
}

/// The same by one column of power.
fn of_column(
    path: &Path,
    all: &Numbered,
    power: Option<&str>,
    options: &Options,
) -> Result<Vec<DeviceLog>, LogError> {
    let wanted = (options.device.clone()).map_or(Wanted::Each, Wanted::Device);
    let mut lines = Lines::of(wanted, power);
    let mut samples: Vec<(usize, Sample)> = Vec::new();
    let mut skipped: Vec<(usize, LineError)> = Vec::new();
    for (number, line) in all {
        match lines.push(line) {
            Ok(Some(s)) => {
                samples.push((*number, s));
            }
            Ok(None) => {}
            Err(e) if e.is_final() => {
                return Err(LogError::Line {
                    path: path.to_owned(),
                    line: *number,
                    cause: e.to_string(),
                });
            }
            Err(e) => skipped.push((*number, e)),
        }
    }
    let why = match (skipped.first(), lines.first_unread()) {
        (Some((line, e)), _) => Some(format!("line {line}: {e}")),
        (None, Some(text)) => Some(format!("`{text}` is none")),
        (None, None) => None,
    };
    if samples.is_empty() {
        if let Some(name) = options
            .device
            .as_ref()
            .filter(|_| !lines.devices.is_empty())
        {
            return Err(LogError::NoDevice {
                path: path.to_owned(),
                name: name.clone(),
                known: lines.devices,
            });
        }
        return Err(LogError::TooFew {
            path: path.to_owned(),
            of: "any device".into(),
            samples: 0,
            why,
        });
    }
    let header = all
        .iter()
        .map(|(_, l)| l)
        .find(|l| l.contains("power.draw") || l.starts_with("timestamp,gpu,"));
    let nvidia = header.is_some();
    let taken = power.or_else(|| {
        POWERS
            .into_iter()
            .find(|p| header.is_some_and(|h| h.contains(p)))
    });
    let note = why
        .filter(|_| !skipped.is_empty())
        .map(|w| match skipped.len() {
            1 => format!("1 line skipped: {w}"),
            n => format!("{n} lines skipped; the first: {w}"),
        });
    let resolution_s = resolution_s(lines.stamp, &samples);
    let mut devices: Vec<usize> = samples.iter().map(|(_, s)| s.device).collect();
    devices.sort_unstable();
    devices.dedup();
    (devices.into_iter())
        .map(|d| {
            let own: Vec<(usize, Sample)> = samples.iter().filter(|(_, s)| s.device == d).copied().collect();
            let device = lines.devices.get(d).cloned();
            let mut readings = Vec::with_capacity(own.len());
            let events = place(&own, &mut readings).map_err(|(line, e)| LogError::Line {
                path: path.to_owned(),
                line,
                cause: match e {
                    ClockError::Jumps => "its times jump: are lines of several devices mixed, without a column that tells them apart?".into(),
                    e => FeedError::from(e).to_string(),
                },
            })?;
            if readings.len() < 2 {
                return Err(LogError::TooFew {
                    path: path.to_owned(),
                    of: device.map_or_else(|| "its device".into(), |d| format!("device {d}")),
                    samples: readings.len(),
                    why: (own.len() > 1).then(|| "their times do not rise".to_owned()),
                });
            }
            let mut notes: Vec<String> = note.clone().into_iter().collect();
            if events.steps > 0 {
                notes.push(format!(
                    "its clock was set {} time(s), first by {:+.3} s: times after it go on from before",
                    events.steps, events.first_step_s
                ));
            }
            if events.unfit > 0 {
                notes.push(format!("{} samples are left out: their times are out of order", events.unfit));
            }
            if events.conflicts >= 10 {
                notes.push(format!(
                    "{} samples have the time of the one before and quite another power: lines of several devices?",
                    events.conflicts
                ));
            }
            let is_energy = own[0].1.is_energy;
            Ok(DeviceLog {
                device,
                quantity: if is_energy { Quantity::Energy } else { Quantity::Power },
                readings,
                stamp: lines.stamp,
                resolution_s,
                average_s: match taken {
                    Some("power.draw.instant") => Some(0.1),
                    _ if nvidia => Some(1.0),
                    _ => None,
                }
                .filter(|_| !is_energy),
                gain_error: nvidia.then_some(GAIN_ERROR),
                notes,
            })
        })
        .collect()
}

/// What NVIDIA states of the power that a GPU tells.
const GAIN_ERROR: f64 = 0.05;

/// The step of times: of dates and times of day as they are written, else the greatest that all have.
fn resolution_s(stamp: Option<Stamp>, samples: &[(usize, Sample)]) -> f64 {
    let fits = |step: f64| {
        let whole = |t: f64| ((t / step).round() * step - t).abs() < 1e-5;
        samples.iter().all(|(_, s)| whole(s.time_s))
    };
    match stamp {
        Some(stamp) => 0.1_f64.powi(stamp.decimals.min(9) as i32),
        None => [1.0, 0.1, 0.01, 1e-3]
            .into_iter()
            .find(|s| fits(*s))
            .unwrap_or(0.0),
    }
}
