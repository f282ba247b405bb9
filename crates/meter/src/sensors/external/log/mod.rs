//! A power log of one or several devices, and the energy between two of its times.

mod device;
mod energy;
mod moment;
#[cfg(test)]
mod tests;

pub use energy::{Energy, NoLogEnergy, energy};
pub use moment::{Moment, MomentError, offset};

use super::input::plain_file;
use super::line::{LineError, Lines, Numbered, POWERS, Sample, Wanted, lines};
use super::nvidia::{has_no_times, rewritten, rewritten_every};
use super::stamp::Stamp;
use crate::sensor::{Quantity, Reading};
use device::{File, resolution_s};
use greenup_files::utf8;
use greenup_setting::setting;
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
    /// Times where their step was given.
    #[error("{}: its lines have times: {} has no effect", .0.display(), setting("every"))]
    HasTimes(PathBuf),
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
    let timeless = has_no_times(text);
    let lines = match (&options.columns, options.every_s) {
        (Some(header), _) => std::iter::once((0, header.clone()))
            .chain(numbered(text))
            .collect(),
        (None, Some(every_s)) if timeless => rewritten_every(text, every_s).unwrap_or_default(),
        _ if timeless => return Err(LogError::NoTimes(path.to_owned())),
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
            // Not even there: the next one may be.
            Err(LogError::Line { .. }) if first.is_some() => {}
            Err(e) => return Err(e),
            Ok(_) if options.every_s.is_some() && !timeless => {
                return Err(LogError::HasTimes(path.to_owned()));
            }
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
    let mut devices: Vec<usize> = samples.iter().map(|(_, s)| s.device).collect();
    devices.sort_unstable();
    devices.dedup();
    let file = File {
        path,
        nvidia,
        power: taken,
        note,
        stamp: lines.stamp,
        resolution_s: resolution_s(lines.stamp, &samples),
    };
    (devices.into_iter())
        .map(|d| {
            let own = samples.iter().filter(|(_, s)| s.device == d).copied();
            let own: Vec<(usize, Sample)> = own.collect();
            file.log(lines.devices.get(d).cloned(), &own)
        })
        .collect()
}
