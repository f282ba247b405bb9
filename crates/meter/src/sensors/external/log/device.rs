//! The log of one device out of its samples.

use super::{DeviceLog, LogError};
use crate::sensor::{Quantity, Reading};
use crate::sensors::external::clock::{ClockError, Events};
use crate::sensors::external::feed::FeedError;
use crate::sensors::external::line::Sample;
use crate::sensors::external::nvidia::naming;
use crate::sensors::external::stamp::Stamp;
use crate::sensors::external::trace_clock::place;
use std::path::Path;

/// What NVIDIA states of the power that a GPU tells.
const GAIN_ERROR: f64 = 0.05;
/// More than any GPU draws, W.
const GREATEST_OF_GPU: f64 = 1e4;
/// Samples of one time that differ, from which on they may be those of several devices.
const CONFLICTS: usize = 10;

/// What holds for all devices of a file.
pub(super) struct File<'a> {
    pub path: &'a Path,
    /// Whether `nvidia-smi` wrote it.
    pub nvidia: bool,
    /// The column of power, where it has a name of `nvidia-smi`.
    pub power: Option<&'a str>,
    /// What was passed over.
    pub note: Option<String>,
    pub stamp: Option<Stamp>,
    /// Step of its times, s.
    pub resolution_s: f64,
}

impl File<'_> {
    /// The log of a device out of its samples, of which there is one at least, with their lines.
    pub fn log(
        &self,
        device: Option<String>,
        own: &[(usize, Sample)],
    ) -> Result<DeviceLog, LogError> {
        let naming = naming(self.nvidia, device.as_deref());
        let mut readings = Vec::with_capacity(own.len());
        let events = place(own, naming, &mut readings).map_err(|(line, e)| LogError::Line {
            path: self.path.to_owned(),
            line,
            cause: match e {
                ClockError::Jumps => "its times jump: are lines of several devices mixed, without a column that tells them apart?".into(),
                e => FeedError::from(e).to_string(),
            },
        })?;
        if readings.len() < 2 {
            return Err(LogError::TooFew {
                path: self.path.to_owned(),
                of: device.map_or_else(|| "its device".into(), |d| format!("device {d}")),
                samples: readings.len(),
                why: (own.len() > 1).then(|| "their times do not rise".to_owned()),
            });
        }
        let is_energy = own.iter().any(|s| s.1.is_energy);
        let quantity = if is_energy {
            Quantity::Energy
        } else {
            Quantity::Power
        };
        let mut notes: Vec<String> = self.note.clone().into_iter().collect();
        notes.extend(of_times(&events));
        notes.extend(self.of_values(quantity, &readings));
        Ok(DeviceLog {
            device,
            quantity,
            readings,
            stamp: self.stamp,
            resolution_s: self.resolution_s,
            average_s: match self.power {
                Some("power.draw.instant") => Some(0.1),
                _ if self.nvidia => Some(1.0),
                _ => None,
            }
            .filter(|_| !is_energy),
            gain_error: self.nvidia.then_some(GAIN_ERROR),
            notes,
        })
    }

    /// What is odd about the values.
    fn of_values(&self, quantity: Quantity, readings: &[Reading]) -> Option<String> {
        let n = readings.len();
        let greatest = readings.iter().map(|r| r.value).fold(0.0, f64::max);
        let still = readings.iter().all(|r| r.value == readings[0].value);
        match quantity {
            Quantity::Power if greatest == 0.0 => Some(format!("all its {n} values are 0 W")),
            Quantity::Energy if still => Some(format!(
                "its counter of joules has the same value in all {n} samples"
            )),
            Quantity::Power if self.nvidia && greatest > GREATEST_OF_GPU => Some(format!(
                "its greatest power is {:.1} kW, more than a GPU draws: is its unit wrong?",
                greatest * 1e-3
            )),
            _ => None,
        }
    }
}

/// What is odd about the times.
fn of_times(events: &Events) -> Vec<String> {
    let mut out = Vec::new();
    if events.steps > 0 {
        out.push(format!(
            "its clock was set {} time(s), first by {:+.3} s: times after it go on from before",
            events.steps, events.first_step_s
        ));
    }
    if events.unfit > 0 {
        out.push(format!(
            "{} samples are left out: their times are out of order",
            events.unfit
        ));
    }
    if events.conflicts >= CONFLICTS {
        out.push(format!(
            "{} samples have the time of the one before and quite another power: lines of several devices?",
            events.conflicts
        ));
    }
    out
}

/// The step of times: of dates and times of day as they are written, else the greatest that all have.
pub(super) fn resolution_s(stamp: Option<Stamp>, samples: &[(usize, Sample)]) -> f64 {
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
