//! The measuring protocol: warm up to a steady state, measure tick-aligned windows, repeat until
//! the requested error is reached, compare two sources, flag doubts.

use crate::measurement::{Flag, Measurement};
use crate::observe::Observer;
use crate::policy::Policy;
use crate::sampler::{Trace, sample};
use crate::sensor::{DeviceState, Quantity, Sensor};
use crate::stats::Summary;
use crate::window::{WindowPower, mean_power};

/// Why a window has no power.
#[derive(Debug, thiserror::Error)]
enum WindowError {
    #[error("no sensor")]
    NoSensor,
    #[error("{0}")]
    Sensor(String),
    #[error("sensor {0} did not move within the window")]
    Still(String),
    #[error("sensor {id} read {power_w} W")]
    Implausible { id: String, power_w: f64 },
}

/// What one call of the work did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Iterations done.
    pub iterations: f64,
    /// Time that they took, s.
    pub seconds: f64,
}

/// Sensors and policy, ready to measure work.
///
/// ```
/// use greenup_meter::sensors::external::Recorded;
/// use greenup_meter::observe::Silent;
/// use greenup_meter::{Meter, Policy, Run};
///
/// // A trace of 40 W, a sample each 5 ms.
/// let csv: String = (0..2000).map(|i| format!("{},40\n", 0.005 * f64::from(i))).collect();
/// let sensor = Recorded::parse("trace.csv", &csv).map_err(|p| p.cause)?;
/// let policy = Policy { window_s: 0.05, warmup_s: 0.0, min_ticks: 5, ..Policy::quick() };
/// let mut meter = Meter::new(vec![Box::new(sensor)], 0.005, policy);
/// let m = meter.measure(&Silent, &mut |seconds| {
///     std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
///     Ok::<_, String>(Run { iterations: 10.0, seconds })
/// })?;
/// let m = m.expect("not cancelled");
/// assert!((m.power_w.expect("the trace has power").median - 40.0).abs() < 1e-6);
/// # Ok::<(), String>(())
/// ```
pub struct Meter {
    sensors: Vec<Box<dyn Sensor>>,
    /// How long and how often to measure.
    pub policy: Policy,
    /// Change period of the main sensor, s.
    period_s: f64,
    /// What the main sensor had passed over until the last measurement.
    noted: Vec<String>,
}

impl Meter {
    /// A meter whose first sensor is the main one; the others of its group check it.
    ///
    /// `period_s` is the main sensor's change period as probed. Without sensors only time is
    /// measured.
    pub fn new(sensors: Vec<Box<dyn Sensor>>, period_s: f64, policy: Policy) -> Self {
        Self {
            // Notes of a trace are of all of it.
            noted: (sensors.first().filter(|s| !s.info().is_recorded()))
                .map_or_else(Vec::new, |s| s.notes()),
            sensors,
            policy,
            period_s,
        }
    }

    /// A meter of time alone.
    pub fn time_only(policy: Policy) -> Self {
        Self::new(Vec::new(), 0.0, policy)
    }

    /// Whether a sensor measures energy.
    pub fn has_energy(&self) -> bool {
        !self.sensors.is_empty()
    }

    /// Id of the main sensor.
    pub fn main_sensor(&self) -> Option<&str> {
        self.sensors.first().map(|s| s.info().id.as_str())
    }

    /// Length of one window, s.
    pub fn window_s(&self) -> f64 {
        self.policy
            .window_s(self.has_energy().then_some(self.period_s))
    }

    /// Seconds that a measurement typically takes.
    pub fn typical_s(&self) -> f64 {
        self.policy
            .typical_s(self.has_energy().then_some(self.period_s))
    }

    /// Measures `work`, which repeats itself without gaps for about the seconds it is given.
    ///
    /// # Errors
    /// The first error of the work itself. Failing sensors do not fail the measurement: they are
    /// flagged, and energy is left out.
    pub fn measure<E>(
        &mut self,
        observer: &dyn Observer,
        work: &mut dyn FnMut(f64) -> Result<Run, E>,
    ) -> Result<Option<Measurement>, E> {
        let mut flags = Vec::new();
        if let Some(drift) = self.warm_up(observer, work)? {
            flags.push(Flag::NotSteady(drift));
        }
        let window = self.window_s();
        let mut times = Vec::new();
        let mut powers: Vec<f64> = Vec::new();
        let mut others: Vec<f64> = Vec::new();
        let mut few: Option<usize> = None;
        let mut state = DeviceState::default();
        let mut failure = None;
        let mut error = f64::INFINITY;
        for repeat in 0..self.policy.max_repeats {
            if observer.cancelled() {
                flags.push(Flag::Interrupted);
                break;
            }
            // An eighth of a period of shift each time: never in step with the sensor.
            if self.has_energy() && repeat > 0 {
                let shift = self.period_s / 8.0;
                std::thread::sleep(std::time::Duration::from_secs_f64(shift.min(0.05)));
            }
            let interval = self.poll_interval();
            let (run, traces, span) = sample(&mut self.sensors, interval, || work(window));
            let run = run?;
            times.push(run.seconds / run.iterations);
            if let Some(sensor) = self.sensors.first_mut() {
                let mut states = traces.first().map_or(Vec::new(), |t| t.states.clone());
                if states.is_empty() {
                    states.push(sensor.state());
                }
                state = joined(state, &states);
                match self.window_power(&traces, span) {
                    Ok((power, other)) => {
                        powers.push(power.power_w);
                        if power.ticks < self.policy.min_ticks.min(10) {
                            few = Some(few.map_or(power.ticks, |f| f.min(power.ticks)));
                        }
                        if let Some(other) = other {
                            others.push(other / power.power_w);
                        }
                    }
                    Err(e) => failure = Some(e.to_string()),
                }
            }
            error = relative_error(&times).max(if powers.len() == times.len() {
                relative_error(&powers)
            } else {
                0.0
            });
            if times.len() >= self.policy.min_repeats && error <= self.policy.rel_error {
                break;
            }
        }
        let Some(time_s) = Summary::of(&times) else {
            return Ok(None);
        };
        // A single window has no spread.
        if times.len() >= self.policy.max_repeats.max(2) && error > self.policy.rel_error {
            flags.push(Flag::Noisy(error));
        }
        if let Some(ticks) = few {
            flags.push(Flag::TooFewTicks(ticks));
        }
        let disagreement = others.iter().fold(0.0, |d: f64, r| d.max((r - 1.0).abs()));
        if disagreement > 0.03 {
            flags.push(Flag::SensorsDisagree(disagreement));
        }
        if !state.throttle.is_empty() {
            flags.push(Flag::Throttled(state.throttle.clone()));
        }
        if let Some(e) = failure {
            flags.push(Flag::SensorFailed(e));
        }
        // What was passed over before is not of this measurement.
        let notes = self.sensors.first().map_or_else(Vec::new, |s| s.notes());
        let new = notes.iter().filter(|n| !self.noted.contains(n)).cloned();
        flags.extend(new.map(Flag::SensorNoted));
        self.noted = notes;
        let complete = self.has_energy() && powers.len() == times.len();
        if !complete {
            flags.push(Flag::NoEnergy);
        }
        let energies: Vec<f64> = powers.iter().zip(&times).map(|(p, t)| p * t).collect();
        let info = self.sensors.first().map(|s| s.info()).filter(|_| complete);
        Ok(Some(Measurement {
            runs: times.len(),
            energy_runs: powers.len(),
            time_s,
            times_s: times,
            energy_j: Summary::of(&energies).filter(|_| complete),
            power_w: Summary::of(&powers).filter(|_| complete),
            sensor: info.map(|i| i.id.clone()),
            gain_error: info.and_then(|i| i.gain_error),
            other_over_main: (!others.is_empty()).then(|| crate::stats::median(&others)),
            state,
            flags,
        }))
    }

    /// Runs until two chunks agree within 1 % in time (and power); returns the last drift if
    /// they never do.
    fn warm_up<E>(
        &mut self,
        observer: &dyn Observer,
        work: &mut dyn FnMut(f64) -> Result<Run, E>,
    ) -> Result<Option<f64>, E> {
        if self.policy.warmup_s <= 0.0 {
            return Ok(None);
        }
        let chunk = self.policy.chunk_s(self.period_s);
        let mut last: Option<(f64, Option<f64>)> = None;
        let mut drift = 0.0;
        for _ in 0..self.policy.max_warmups.max(1) {
            if observer.cancelled() {
                return Ok(None);
            }
            let interval = self.poll_interval();
            let (run, traces, span) = sample(&mut self.sensors, interval, || work(chunk));
            let run = run?;
            let time = run.seconds / run.iterations;
            let power = self
                .window_power(&traces, span)
                .ok()
                .map(|(p, _)| p.power_w);
            if let Some((t, p)) = last {
                drift = (time / t - 1.0).abs();
                if let (Some(p), Some(power)) = (p, power) {
                    drift = drift.max((power / p - 1.0).abs());
                }
                if drift < 0.01 {
                    return Ok(None);
                }
            }
            last = Some((time, power));
        }
        // Repeats will tell how noisy it is; only a strong trend is worth a flag.
        Ok((drift > 0.05).then_some(drift))
    }

    fn poll_interval(&self) -> f64 {
        // A tick is seen this late at most; both ends of a window have that error.
        (self.period_s / 40.0).clamp(0.0005, 0.02)
    }

    /// Power of the main sensor in a window, and of the best other one of its group.
    fn window_power(
        &self,
        traces: &[Trace],
        span: (f64, f64),
    ) -> Result<(WindowPower, Option<f64>), WindowError> {
        let (Some(main), Some(trace)) = (self.sensors.first(), traces.first()) else {
            return Err(WindowError::NoSensor);
        };
        if let Some(e) = &trace.error {
            return Err(WindowError::Sensor(e.to_string()));
        }
        let info = main.info();
        // A power sensor needs its rise time at the start.
        let rise = |quantity, average: Option<f64>| match quantity {
            Quantity::Energy => 0.0,
            Quantity::Power => average.unwrap_or(0.1).min(0.5 * (span.1 - span.0)),
        };
        let from = span.0 + rise(info.quantity, info.average_s);
        let power = mean_power(info.quantity, &trace.readings, from, span.1)
            .ok_or_else(|| WindowError::Still(info.id.clone()))?;
        if !power.power_w.is_finite() || power.power_w <= 0.0 {
            return Err(WindowError::Implausible {
                id: info.id.clone(),
                power_w: power.power_w,
            });
        }
        let other = self.sensors[1..]
            .iter()
            .zip(&traces[1..])
            .filter(|(s, _)| s.info().group == info.group)
            // A window must be ten times an average's length before it can be compared.
            .filter(|(s, _)| {
                s.info()
                    .average_s
                    .is_none_or(|a| span.1 - span.0 >= 10.0 * a)
            })
            .find_map(|(s, t)| {
                let i = s.info();
                let from = span.0 + rise(i.quantity, i.average_s);
                mean_power(i.quantity, &t.readings, from, span.1)
            });
        Ok((power, other.map(|p| p.power_w)))
    }
}

/// Medians of what the states say, and every reason for a lowered clock that any of them gave.
fn joined(before: DeviceState, states: &[DeviceState]) -> DeviceState {
    let middle = |of: fn(&DeviceState) -> Option<f64>| {
        let values: Vec<f64> = states.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| crate::stats::median(&values))
    };
    let mut throttle = before.throttle;
    for reason in states.iter().flat_map(|s| &s.throttle) {
        if !throttle.contains(reason) {
            throttle.push(reason.clone());
        }
    }
    DeviceState {
        clock_hz: middle(|s| s.clock_hz),
        mem_clock_hz: middle(|s| s.mem_clock_hz),
        temperature_c: middle(|s| s.temperature_c),
        power_limit_w: middle(|s| s.power_limit_w),
        throttle,
    }
}

fn relative_error(values: &[f64]) -> f64 {
    Summary::of(values).map_or(f64::INFINITY, |s| s.relative_error())
}

#[cfg(test)]
mod tests;
