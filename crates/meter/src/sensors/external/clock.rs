//! From a meter's clock to the host's: by the delay with which lines arrive, in a window that slides.
//!
//! A sample that was read at meter time t arrives at host time a, so a − t is the offset of the clocks plus the line's delay. The
//! least a − t of the last second is taken as the offset: it follows clocks that drift, and lines that come in bursts. Where the
//! meter's clock is set, or its counter starts anew, the offset starts anew as well. A single time that cannot be is passed over.

use super::line::Sample;
use crate::sensor::Reading;
use std::collections::VecDeque;

/// Length of the window, s.
const WINDOW_S: f64 = 1.0;
/// A time may lie so far ahead of what the offset allows, s, before it needs others that confirm it.
const AHEAD_S: f64 = 1.0;
/// Samples that agree on a new offset before it holds.
const CONFIRMED: usize = 2;
/// A change of the offset between two batches that counts as a step of the clock, s.
const STEP_S: f64 = 0.25;
/// Drift of the offset that a wrong rate explains alone: a share, and s.
const DRIFT: (f64, f64) = (0.02, 0.5);
/// Samples in a row that fit nothing, after which the clock is given up.
const MOST_UNFIT: usize = 20;
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
}

/// A sample with its delay.
#[derive(Clone, Copy)]
struct Timed {
    t: f64,
    value: f64,
    /// Arrival minus time, s.
    lag: f64,
}

/// The clock of one meter.
#[derive(Default)]
pub struct Clock {
    last: Option<Timed>,
    /// Least lags in order of arrival, rising: the first is that of the window.
    window: VecDeque<(f64, f64)>,
    offset: Option<f64>,
    /// Since when the offset is followed without a step, and what it was.
    anchor: Option<(f64, f64)>,
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
                if (new.value - last.value).abs() > 0.3 * last.value.max(new.value) {
                    self.events.conflicts += 1;
                }
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
            self.step(by);
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
        if let Some(before) = self.offset.replace(offset) {
            // The first lines of a meter may come late.
            let settled = self.anchor.is_some_and(|a| arrival - a.0 >= WINDOW_S);
            if offset - before > STEP_S || settled && before - offset > STEP_S {
                self.step(before - offset);
                self.anchor = None;
            }
        }
        let (since, first) = *self.anchor.get_or_insert((arrival, offset));
        // The first offsets may still be of lines that were late.
        if arrival - since < WINDOW_S {
            self.anchor = Some((since, first.min(offset)));
        } else {
            let (drift, span) = (offset - first, arrival - since);
            if drift.abs() > (DRIFT.0 * span).max(DRIFT.1) {
                return Err(ClockError::Rate((span - drift) / span));
            }
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

    fn step(&mut self, by_s: f64) {
        if self.events.steps == 0 {
            self.events.first_step_s = by_s;
        }
        self.events.steps += 1;
    }

    fn discard_pending(&mut self) {
        self.events.unfit += self.pending.len();
        self.unfit_in_a_row += self.pending.len();
        self.pending.clear();
    }

    /// Why times fit nothing: a clock in other units jumps by the same factor at each line.
    fn jumping(&self, before: Option<Timed>, new: Timed) -> ClockError {
        let rate = before.map(|b| {
            let host = (new.t + new.lag) - (b.t + b.lag);
            (new.t - b.t) / host
        });
        match rate.filter(|r| r.is_finite() && *r > 2.0) {
            Some(rate) => ClockError::Rate(rate),
            None => ClockError::Jumps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of samples (arrival, meter time, W), each a batch.
    fn mapped(samples: impl IntoIterator<Item = (f64, f64, f64)>) -> (Vec<Reading>, Clock) {
        let (mut clock, mut out) = (Clock::default(), Vec::new());
        for (arrival, time_s, value) in samples {
            let one = Sample {
                time_s,
                value,
                is_energy: false,
            };
            clock.push(&[one], arrival, &mut out).unwrap();
        }
        (out, clock)
    }

    /// 50 samples a second over `n` of them by a clock; arrival 1 ms late.
    fn each_20_ms(n: u32, clock: impl Fn(f64) -> f64) -> Vec<(f64, f64, f64)> {
        let at = |i: u32| f64::from(i) * 0.02;
        (0..n)
            .map(|i| (at(i) + 0.001, clock(at(i)), at(i)))
            .collect()
    }

    /// Each value is the true time of its sample.
    fn greatest_error(readings: &[Reading]) -> f64 {
        let errors = readings.iter().map(|r| (r.at_s - r.value).abs());
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn a_clock_that_is_set_is_followed_at_once() {
        for by in [-3600.0, -0.5, -0.05, 0.5, 3600.0, -10_002.0] {
            let clock = |t: f64| 10_000.0 + t + if t < 2.0 { 0.0 } else { by };
            let (readings, clock) = mapped(each_20_ms(300, clock));
            assert!(readings.len() >= 298, "{by}: {}", readings.len());
            assert!(
                greatest_error(&readings) < 0.06,
                "{by}: {}",
                greatest_error(&readings)
            );
            assert!(
                by.abs() < 0.1 || clock.events.steps == 1,
                "{by}: {:?}",
                clock.events
            );
            assert_eq!(clock.events.unfit, 0);
        }
    }

    #[test]
    fn drift_and_bursts_are_followed() {
        let (readings, clock) = mapped(each_20_ms(3000, |t| 7.0 + 0.999 * t));
        assert!(greatest_error(&readings) < 0.005 && clock.events == Events::default());
        // 100 lines at a time.
        let (mut clock, mut out) = (Clock::default(), Vec::new());
        for chunk in each_20_ms(1000, |t| t - 5.0).chunks(100) {
            let batch: Vec<Sample> = (chunk.iter())
                .map(|&(_, time_s, value)| Sample {
                    time_s,
                    value,
                    is_energy: false,
                })
                .collect();
            clock.push(&batch, chunk[99].0, &mut out).unwrap();
        }
        assert_eq!(out.len(), 1000);
        assert!(greatest_error(&out) < 0.002);
    }

    #[test]
    fn single_times_that_cannot_be_are_passed_over() {
        let mut samples = each_20_ms(200, |t| t);
        samples[50].1 = 1e9;
        samples[80].1 = -3.0;
        let (one, two) = (samples[120], samples[121]);
        (samples[120], samples[121]) = ((one.0, two.1, two.2), (two.0, one.1, one.2));
        let (readings, clock) = mapped(samples);
        assert!(
            greatest_error(&readings) < 0.03,
            "{}",
            greatest_error(&readings)
        );
        assert_eq!(
            (readings.len(), clock.events.unfit, clock.events.steps),
            (197, 3, 0)
        );
    }

    #[test]
    fn a_clock_in_other_units_is_refused_with_its_rate() {
        let fails = |clock: fn(f64) -> f64| {
            let (mut c, mut out) = (Clock::default(), Vec::new());
            let error = each_20_ms(2000, clock)
                .into_iter()
                .find_map(|(arrival, time_s, value)| {
                    let s = Sample {
                        time_s,
                        value,
                        is_energy: false,
                    };
                    c.push(&[s], arrival, &mut out).err()
                });
            (error.unwrap(), out.len())
        };
        let (e, kept) = fails(|t| 1e12 + 1000.0 * t);
        assert!(
            matches!(e, ClockError::Rate(r) if (r - 1000.0).abs() < 1.0) && kept < 3,
            "{e}"
        );
        assert!(matches!(fails(|t| 0.9 * t).0, ClockError::Rate(r) if (r - 0.9).abs() < 0.02));
        assert!(matches!(fails(|_| 50.0).0, ClockError::Still(50.0)));
    }
}
