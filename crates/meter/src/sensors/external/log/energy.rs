//! The energy of a device between two times of its log, and how well the log tells it.

use super::DeviceLog;
use crate::sensor::{Quantity, Reading};
use crate::signal::window::{NoEnergy, energy as between, pause};
use serde::Serialize;

/// Half width of a 95 % interval over the standard deviation.
const NORMAL: f64 = 1.96;

/// The energy between two times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// The times, s by the log's clock.
    pub from_s: f64,
    /// See `from_s`.
    pub to_s: f64,
    /// J.
    pub energy_j: f64,
    /// Half width of its 95 % interval, J: what the power did between samples, and how late or blurred both ends are. The error
    /// of the sensor itself is not in it.
    pub error_j: f64,
    /// Relative error of the sensor itself, where it is known.
    pub sensor_error: Option<f64>,
    /// Mean power, W.
    pub power_w: f64,
    /// Least power of a sample, W; of a counter between two samples.
    pub least_w: f64,
    /// Greatest.
    pub greatest_w: f64,
    /// Samples within.
    pub samples: usize,
}

/// An energy that the log does not tell.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoLogEnergy {
    /// The end is not after the start.
    #[error("the end is not after the start")]
    Empty,
    /// The log does not reach there.
    #[error("the log holds other times: {}", beyond(*begins_s, *ends_s))]
    NotReached {
        /// The log's first sample after the start, s; negative if it is before.
        begins_s: f64,
        /// The end after the log's last sample, s.
        ends_s: f64,
    },
    /// It paused.
    #[error(
        "the log pauses for {pause_s:.2} s from {at_s:.3} s after its first sample on: what was drawn meanwhile is not known"
    )]
    Paused {
        /// Length of the pause, s.
        pause_s: f64,
        /// Where it begins, s after the first sample.
        at_s: f64,
    },
    /// A counter of joules fell.
    #[error(
        "the counter of joules falls {at_s:.3} s after its first sample: what was drawn until then is not known"
    )]
    Fell {
        /// Where it is lower, s after the first sample.
        at_s: f64,
    },
}

/// How far two times are beyond a log.
fn beyond(begins_s: f64, ends_s: f64) -> String {
    let begins = format!("it begins {begins_s:.3} s after the start");
    let ends = format!("it ends {ends_s:.3} s before the end");
    match (begins_s > 0.0, ends_s > 0.0) {
        (true, false) => begins,
        (false, _) => ends,
        (true, true) => format!("{begins}, and {}", &ends[3..]),
    }
}

/// The energy between two times of the log, by default all of it.
///
/// # Errors
/// The log does not reach there, or pauses in between, or its counter falls.
pub fn energy(
    log: &DeviceLog,
    from_s: Option<f64>,
    to_s: Option<f64>,
) -> Result<Energy, NoLogEnergy> {
    let all = &log.readings;
    let first = all.first().map_or(0.0, |r| r.at_s);
    let last = all.last().map_or(0.0, |r| r.at_s);
    let (from, to) = (from_s.unwrap_or(first), to_s.unwrap_or(last));
    if to <= from {
        return Err(NoLogEnergy::Empty);
    }
    let paused = |pause_s: f64| NoLogEnergy::Paused {
        pause_s,
        at_s: longest(all, from, to) - first,
    };
    let energy_j = between(log.quantity, all, from, to, None).map_err(|e| match e {
        NoEnergy::NotReached => NoLogEnergy::NotReached {
            begins_s: first - from,
            ends_s: to - last,
        },
        NoEnergy::Paused(pause_s) => paused(pause_s),
    })?;
    match log.quantity {
        // Within the time over which the sensor averages nothing is hidden.
        Quantity::Power => (pause(all, from, to, None))
            .filter(|p| *p > log.average_s.unwrap_or(0.0))
            .map_or(Ok(()), |p| Err(paused(p)))?,
        Quantity::Energy => {
            let mut inside = within(all, from, to);
            if let Some(w) = inside.find(|w| w[1].value < w[0].value) {
                let at_s = w[1].at_s - first;
                return Err(NoLogEnergy::Fell { at_s });
            }
        }
    }
    let powers = powers(log);
    // An interval of the log that the window cuts counts by its part.
    let inside = |w: &[Reading]| (w[1].at_s.min(to) - w[0].at_s.max(from)).max(0.0);
    let mut variance: f64 = match log.quantity {
        // Anything between two samples, as likely as all else between their values.
        Quantity::Power => (powers.windows(2))
            .map(|w| ((w[1].value - w[0].value) * inside(w)).powi(2) / 12.0)
            .sum(),
        Quantity::Energy => 0.0,
    };
    for (at, named) in [(from, from_s.is_some()), (to, to_s.is_some())] {
        let p = power_at(&powers, at);
        variance += (p * log.resolution_s).powi(2) / 12.0;
        if !named {
            continue;
        }
        // What an average shows late, and what a counter does within a step.
        let late = log.average_s.unwrap_or(0.0);
        let change = power_at(&powers, at + late) - power_at(&powers, at);
        variance += (0.5 * late * change).powi(2);
        if log.quantity == Quantity::Energy {
            variance += (p * step_at(all, at)).powi(2) / 12.0;
        }
    }
    let samples = || powers.iter().filter(|r| r.at_s >= from && r.at_s <= to);
    let ends = || [power_at(&powers, from), power_at(&powers, to)].into_iter();
    let values = || samples().map(|r| r.value).chain(ends());
    Ok(Energy {
        from_s: from,
        to_s: to,
        energy_j,
        error_j: NORMAL * variance.sqrt(),
        sensor_error: log.gain_error,
        power_w: energy_j / (to - from),
        least_w: values().fold(f64::INFINITY, f64::min),
        greatest_w: values().fold(0.0, f64::max),
        samples: all
            .iter()
            .filter(|r| r.at_s >= from && r.at_s <= to)
            .count(),
    })
}

/// Power over time; of a counter that between two samples, at the later one.
fn powers(log: &DeviceLog) -> Vec<Reading> {
    match log.quantity {
        Quantity::Power => log.readings.clone(),
        Quantity::Energy => (log.readings.windows(2))
            .map(|w| Reading {
                at_s: w[1].at_s,
                value: (w[1].value - w[0].value) / (w[1].at_s - w[0].at_s),
            })
            .collect(),
    }
}

/// Power at a time, interpolated; at the ends of the log that of the nearest sample.
fn power_at(powers: &[Reading], at: f64) -> f64 {
    let i = powers.partition_point(|r| r.at_s < at);
    match (i.checked_sub(1).and_then(|j| powers.get(j)), powers.get(i)) {
        (Some(a), Some(b)) => a.value + (at - a.at_s) / (b.at_s - a.at_s) * (b.value - a.value),
        (Some(one), None) | (None, Some(one)) => one.value,
        (None, None) => 0.0,
    }
}

/// Time between the samples around a time, s.
fn step_at(all: &[Reading], at: f64) -> f64 {
    let i = all.partition_point(|r| r.at_s < at).clamp(1, all.len() - 1);
    all[i].at_s - all[i - 1].at_s
}

/// Pairs of samples between which some of the time lies.
fn within(all: &[Reading], from: f64, to: f64) -> impl Iterator<Item = &[Reading]> {
    (all.windows(2)).filter(move |w| w[1].at_s > from && w[0].at_s < to)
}

/// Where the longest time without a sample begins.
fn longest(all: &[Reading], from: f64, to: f64) -> f64 {
    let by = |w: &&[Reading]| w[1].at_s - w[0].at_s;
    let longest = within(all, from, to).max_by(|a, b| by(a).total_cmp(&by(b)));
    longest.map_or(from, |w| w[0].at_s)
}
