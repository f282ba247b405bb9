//! From a meter's clock to the host's: by the delay with which lines arrive, in a window that slides.
//!
//! A sample that was read at meter time t arrives at host time a, so a − t is the offset of the clocks plus the line's delay. The
//! least a − t of the last second is taken as the offset: it follows clocks that drift, and lines that come in bursts. Where the
//! meter's clock is set, or its counter starts anew, the offset starts anew as well. A single time that cannot be is passed over.
//! A clock that would have to be set again and again in one direction has another rate.

mod rate;

use super::line::Sample;
use crate::sensor::Reading;
use rate::{Moment, Steps};
use std::collections::VecDeque;

/// Length of the window, s.
const WINDOW_S: f64 = 1.0;
/// A time may lie so far ahead of what the offset allows, s, before it needs others that confirm it.
pub const AHEAD_S: f64 = 1.0;
/// Samples that agree on a new offset before it holds.
const CONFIRMED: usize = 2;
/// A change of the offset between two batches that counts as a step of the clock, s.
const STEP_S: f64 = 0.25;
/// Drift of the offset that a wrong rate explains alone: a share, and s.
const DRIFT: (f64, f64) = (0.02, 0.5);
/// Samples in a row that fit nothing, after which the clock is given up.
pub const MOST_UNFIT: usize = 20;
/// How long a time may stand still while lines arrive, s.
const STILL_S: f64 = 2.0;

/// What happened to the clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// Times that the clock was set, and by how much the first time, s.
    pub steps: usize,
    pub first_step_s: f64,
    /// Samples whose time fits neither what was before nor what came after.
    pub unfit: usize,
    /// Samples with the time of the one before, but quite another power.
    pub conflicts: usize,
}

impl Events {
    /// Notes two values of one time.
    pub fn compare(&mut self, first: f64, second: f64) {
        if (second - first).abs() > 0.3 * first.max(second) {
            self.conflicts += 1;
        }
    }

    /// Notes that the clock was set.
    pub fn step(&mut self, by_s: f64) {
        if self.steps == 0 {
            self.first_step_s = by_s;
        }
        self.steps += 1;
    }
}

/// Why a clock cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClockError {
    /// Its rate.
    #[error(
        "its clock runs {0:.3} times as fast as the host's: times must be in seconds, or the header names the unit, as `time_ms`"
    )]
    Rate(f64),
    /// It does not move.
    #[error(
        "its time stands at {0} while lines arrive: does a column of times lack, or a decimal comma separate the fields?"
    )]
    Still(f64),
    /// It jumps.
    #[error("its times jump: they must be seconds of one clock, and rise")]
    Jumps,
    /// Lines of several devices.
    #[error(
        "lines of several devices are mixed, and no column tells them apart: log `index` too, or one device, as `nvidia-smi -i 0` does"
    )]
    Mixed,
}

/// A sample with its delay.
#[derive(Clone, Copy)]
struct Timed {
    t: f64,
    value: f64,
    /// Arrival minus time, s.
    lag: f64,
}

impl Timed {
    fn moment(&self) -> Moment {
        Moment {
            t: self.t,
            arrival: self.t + self.lag,
        }
    }
}

/// The clock of one meter.
#[derive(Default)]
pub struct Clock {
    last: Option<Timed>,
    /// Least lags in order of arrival, rising: the first is that of the window.
    window: VecDeque<(f64, f64)>,
    offset: Option<f64>,
    /// Since when the offset is followed without a step, and what it was.
    anchor: Option<(Moment, f64)>,
    /// The newest sample that was placed.
    placed: Option<Moment>,
    steps: Steps,
    pending: Vec<Timed>,
    unfit_in_a_row: usize,
    /// When the time of the last sample arrived first.
    still_since: f64,
    /// When the last reading held.
    last_at: Option<f64>,
    pub events: Events,
}

impl Clock {
    /// Maps samples that arrived together; readings are added in order of time.
    pub fn push(
        &mut self,
        batch: &[Sample],
        arrival: f64,
        out: &mut Vec<Reading>,
    ) -> Result<(), ClockError> {
        let mut fit: Vec<Timed> = Vec::with_capacity(batch.len());
        for s in batch {
            let new = Timed {
                t: s.time_s,
                value: s.value,
                lag: arrival - s.time_s,
            };
            let Some(last) = self.last else {
                self.still_since = arrival;
                self.last = Some(new);
                fit.push(new);
                continue;
            };
            if new.t == last.t {
                // Several samples within one step of the clock: the first has its time.
                self.events.compare(last.value, new.value);
                if arrival - self.still_since > STILL_S {
                    return Err(ClockError::Still(new.t));
                }
                continue;
            }
            let ahead = self.offset.is_some_and(|o| new.lag < o - AHEAD_S);
            if new.t > last.t && !ahead {
                self.discard_pending();
                self.unfit_in_a_row = 0;
                self.still_since = arrival;
                self.last = Some(new);
                fit.push(new);
                continue;
            }
            let goes_on = |p: &Timed| new.t > p.t && (new.lag - p.lag).abs() < AHEAD_S;
            if !self.pending.last().is_some_and(goes_on) {
                if self.pending.last().is_some_and(|p| p.t == new.t) {
                    continue;
                }
                let before = self.pending.last().copied();
                if let Some(b) = before {
                    self.steps
                        .push(b.lag - new.lag, Some(b.moment()), new.moment())?;
                }
                self.discard_pending();
                self.pending.push(new);
                if self.unfit_in_a_row >= MOST_UNFIT {
                    return Err(self.jumping(before, new));
                }
                continue;
            }
            self.pending.push(new);
            if self.pending.len() < CONFIRMED {
                continue;
            }
            // The clock was set: what came before it keeps the old offset.
            self.emit(&mut fit, arrival, out)?;
            let by = self.offset.unwrap_or(new.lag) - new.lag;
            self.events.step(by);
            self.steps.push(by, self.placed, new.moment())?;
            self.window.clear();
            (self.offset, self.anchor) = (None, None);
            self.unfit_in_a_row = 0;
            self.still_since = arrival;
            self.last = Some(new);
            fit.append(&mut self.pending);
        }
        self.emit(&mut fit, arrival, out)
    }

    /// Lags of samples that wait to be confirmed need not be in the window yet: they are of another clock.
    fn emit(
        &mut self,
        fit: &mut Vec<Timed>,
        arrival: f64,
        out: &mut Vec<Reading>,
    ) -> Result<(), ClockError> {
        let least = fit.iter().map(|s| s.lag).fold(f64::INFINITY, f64::min);
        if least.is_infinite() {
            return Ok(());
        }
        while self.window.back().is_some_and(|w| w.1 >= least) {
            self.window.pop_back();
        }
        self.window.push_back((arrival, least));
        while self.window.len() > 1 && self.window[0].0 < arrival - WINDOW_S {
            self.window.pop_front();
        }
        let offset = self.window[0].1;
        let now = Moment {
            t: fit.iter().map(|s| s.t).fold(f64::NEG_INFINITY, f64::max),
            arrival,
        };
        if let Some(before) = self.offset.replace(offset)
            && (before - offset).abs() > STEP_S
        {
            self.steps.push(before - offset, self.placed, now)?;
            // The first lines of a meter may come late.
            let settled = self
                .anchor
                .is_some_and(|a| arrival - a.0.arrival >= WINDOW_S);
            if offset > before || settled {
                self.events.step(before - offset);
                self.anchor = None;
            }
        }
        self.placed = Some(now);
        let (since, first) = *self.anchor.get_or_insert((now, offset));
        let span = arrival - since.arrival;
        // The first offsets may still be of lines that were late.
        if span < WINDOW_S {
            self.anchor = Some((since, first.min(offset)));
        } else if (offset - first).abs() > (DRIFT.0 * span).max(DRIFT.1) {
            return Err(ClockError::Rate(since.rate(now)));
        }
        for s in fit.drain(..) {
            let at_s = s.t + offset;
            if self.last_at.is_none_or(|last| last < at_s) {
                self.last_at = Some(at_s);
                out.push(Reading {
                    at_s,
                    value: s.value,
                });
            }
        }
        Ok(())
    }

    fn discard_pending(&mut self) {
        self.events.unfit += self.pending.len();
        self.unfit_in_a_row += self.pending.len();
        self.pending.clear();
    }

    /// Why times fit nothing: a clock in other units jumps by the same factor at each line.
    fn jumping(&self, before: Option<Timed>, new: Timed) -> ClockError {
        let rate = before.map(|b| b.moment().rate(new.moment()));
        match rate.filter(|r| r.is_finite() && *r > 2.0) {
            Some(rate) => ClockError::Rate(rate),
            None => ClockError::Jumps,
        }
    }
}

#[cfg(test)]
mod tests;
