//! Readings out of the lines of a meter, and what was passed over on the way. Time comes in from outside, so that tests
//! need no clock.

use super::clock::{Clock, ClockError};
use super::line::{LineError, Lines, Sample, Wanted, lines};
use super::nvidia::{naming, rewritten};
use super::still::{EQUAL, Still};
use super::trace_clock::place;
use crate::sensor::Reading;

/// Why nothing more can be read, with the line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FeedError {
    /// A line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

/// Spacings of which the median is the meter's period.
const SPACINGS: usize = 31;

/// Lines of one meter.
#[derive(Default)]
pub struct Feed {
    lines: Lines,
    clock: Clock,
    number: usize,
    skipped: usize,
    first_skipped: Option<(usize, LineError)>,
    /// The last counter of joules: time, J.
    counter: Option<(f64, f64)>,
    counter_restarts: usize,
    spacings: Vec<f64>,
    still: Still,
    last: Option<f64>,
}

impl Feed {
    /// Lines of which those of one device are wanted, where it has a name, and this column of power.
    pub fn of(device: &str, column: Option<&str>) -> Self {
        let wanted = match device {
            "" => Wanted::One,
            device => Wanted::Device(device.to_owned()),
        };
        Self {
            lines: Lines::of(wanted, column),
            ..Self::default()
        }
    }

    /// Takes lines that arrived together at `arrival`, s of the host's clock; readings are added in order of time.
    ///
    /// # Errors
    /// No later line can be read either; with the number of the line.
    pub fn push<'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a str>,
        arrival: f64,
        out: &mut Vec<Reading>,
    ) -> Result<(), (usize, FeedError)> {
        let mut batch = Vec::new();
        for line in lines {
            if let Some(sample) = self.sample(line)? {
                batch.push(sample);
            }
        }
        let mut mapped = Vec::with_capacity(batch.len());
        self.clock
            .push(&batch, arrival, &mut mapped)
            .map_err(|e| (self.number, e.into()))?;
        let is_energy = batch.first().is_some_and(|s| s.is_energy);
        self.add(mapped, is_energy, out);
        Ok(())
    }

    /// Takes all lines of a recorded trace; readings are added in order of time, by the trace's clock.
    ///
    /// # Errors
    /// As [`Feed::push`], or no time differs from the first.
    pub fn push_trace(
        &mut self,
        text: &str,
        out: &mut Vec<Reading>,
    ) -> Result<(), (usize, FeedError)> {
        let mut samples = Vec::new();
        let own = |text| lines(text).enumerate().map(|(i, l)| (i + 1, l.to_owned()));
        let of_nvidia = rewritten(text);
        let nvidia = of_nvidia.is_some() || text.contains("power.draw");
        for (number, line) in of_nvidia.unwrap_or_else(|| own(text).collect()) {
            self.number = number - 1;
            if let Some(sample) = self.sample(&line)? {
                samples.push((self.number, sample));
            }
        }
        let mut placed = Vec::with_capacity(samples.len());
        let naming = naming(nvidia, self.lines.devices.iter().map(String::as_str));
        self.clock.events =
            place(&samples, naming, &mut placed).map_err(|(line, e)| (line, e.into()))?;
        if let (1, Some((line, s))) = (placed.len(), samples.get(1)) {
            return Err((*line, LineError::Order(s.time_s).into()));
        }
        let is_energy = samples.first().is_some_and(|s| s.1.is_energy);
        self.add(placed, is_energy, out);
        Ok(())
    }

    /// The sample of the next line; a line that is none is counted.
    fn sample(&mut self, line: &str) -> Result<Option<Sample>, (usize, FeedError)> {
        self.number += 1;
        match self.lines.push(line) {
            Err(e) if e.is_final() => Err((self.number, e.into())),
            Err(e) => {
                self.skipped += 1;
                self.first_skipped.get_or_insert((self.number, e));
                Ok(None)
            }
            Ok(sample) => Ok(sample),
        }
    }

    /// Values whose times are known become readings.
    fn add(&mut self, values: Vec<Reading>, is_energy: bool, out: &mut Vec<Reading>) {
        for r in values {
            if let Some(last) = self.last.replace(r.at_s) {
                if self.spacings.len() == SPACINGS {
                    self.spacings.remove(0);
                }
                self.spacings.push(r.at_s - last);
            }
            if is_energy {
                self.add_joules(r, out);
            } else if !self.still.push(r.value) {
                // What repeats itself is no reading.
                out.push(r);
            }
        }
    }

    /// A counter becomes the power that it means between two samples: constant, so that the integral is the counter's.
    fn add_joules(&mut self, r: Reading, out: &mut Vec<Reading>) {
        let Some((from, before)) = self.counter.replace((r.at_s, r.value)) else {
            return;
        };
        if r.value < before {
            self.counter_restarts += 1;
            return;
        }
        let value = (r.value - before) / (r.at_s - from);
        let start = from + 1e-6 * (r.at_s - from);
        out.push(Reading { at_s: start, value });
        out.push(Reading {
            at_s: r.at_s,
            value,
        });
    }

    /// Time between two samples, s.
    pub fn period_s(&self) -> Option<f64> {
        (self.spacings.len() >= 3).then(|| crate::stats::median(&self.spacings))
    }

    /// Whether the meter repeats its last value now.
    pub fn is_stuck(&self) -> bool {
        self.still.is_stuck()
    }

    /// Why there is no sample yet.
    pub fn why_none(&self) -> Option<String> {
        let (line, e) = match (&self.first_skipped, self.lines.first_unread()) {
            (Some((n, e)), _) => (*n, e.to_string()),
            (None, Some(text)) => (1, format!("`{text}` is no sample")),
            (None, None) => return None,
        };
        Some(match self.skipped {
            0 | 1 => format!("line {line}: {e}"),
            n => format!("{n} lines are no samples; line {line}: {e}"),
        })
    }

    /// What was passed over, as sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut out = Vec::new();
        let s = |n: usize| if n == 1 { "" } else { "s" };
        if let Some((line, e)) = &self.first_skipped {
            let n = self.skipped;
            let first = if n > 1 { "the first: " } else { "" };
            out.push(format!("{n} line{} skipped: {first}line {line}: {e}", s(n)));
        }
        let e = &self.clock.events;
        if e.steps > 0 {
            out.push(format!(
                "its clock was set {} time{} (by {:+.3} s): times after it count anew",
                e.steps,
                s(e.steps),
                e.first_step_s
            ));
        }
        if e.unfit > 0 {
            out.push(format!(
                "{} sample{} skipped: their times are out of order",
                e.unfit,
                s(e.unfit)
            ));
        }
        if e.conflicts >= 10 {
            out.push(format!(
                "{} samples have the time of the one before and quite another power: does it print several devices?",
                e.conflicts
            ));
        }
        if self.counter_restarts > 0 {
            out.push(format!(
                "its counter of joules fell {} time{}",
                self.counter_restarts,
                s(self.counter_restarts)
            ));
        }
        if self.still.times > 0 {
            out.push(format!(
                "it repeated its last value {} time{}, each for {} samples or more: these are no readings",
                self.still.times,
                s(self.still.times),
                EQUAL
            ));
        }
        out
    }
}
