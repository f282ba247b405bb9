//! A background thread that reads sensors while work runs.

use crate::sensor::{DeviceState, Quantity, Reading, Sensor, SensorError, now_s};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Readings of one sensor during a run.
#[derive(Debug)]
pub struct Trace {
    /// Id of the sensor.
    pub id: String,
    /// Readings in order of time.
    pub readings: Vec<Reading>,
    /// Seconds each read took.
    pub read_cost_s: Vec<f64>,
    /// States of the device while the work ran, now and then, of the first sensor alone.
    pub states: Vec<DeviceState>,
    /// First error; readings stop there unless the value only went backwards.
    pub error: Option<SensorError>,
}

/// Reads `sensors` every `interval_s` while `work` runs on this thread; returns what the work
/// returned, one trace a sensor, and the work's start and end by [`now_s`].
pub fn sample<T>(
    sensors: &mut [Box<dyn Sensor>],
    interval_s: f64,
    work: impl FnOnce() -> T,
) -> (T, Vec<Trace>, (f64, f64)) {
    sample_closed(sensors, interval_s, 0.0, work)
}

/// As [`sample`]; after the work the readings of power go on, for `closing_s` at most, until the first sensor has one from
/// after the work's end: a meter gives its readings when it likes.
pub fn sample_closed<T>(
    sensors: &mut [Box<dyn Sensor>],
    interval_s: f64,
    closing_s: f64,
    work: impl FnOnce() -> T,
) -> (T, Vec<Trace>, (f64, f64)) {
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(sensors, (interval_s, closing_s), &ready, &done));
        // A reading from before the work opens its window.
        while !ready.load(Ordering::Acquire) && !reader.is_finished() {
            std::thread::sleep(Duration::from_micros(50));
        }
        // Set the flag also when the work panics, or the scope would wait for ever.
        let guard = SetOnDrop(&done);
        let start = now_s();
        let result = work();
        let end = now_s();
        drop(guard);
        let traces = match reader.join() {
            Ok(traces) => traces,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (result, traces, (start, end))
    })
}

/// Waits, `limit_s` at most, until each sensor has a reading or cannot have one: a meter may start late.
pub fn await_first(sensors: &mut [Box<dyn Sensor>], limit_s: f64) {
    let end = now_s() + limit_s;
    for sensor in sensors {
        while matches!(sensor.read(), Err(SensorError::NotYet { .. })) && now_s() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Seconds between two looks at the device's state.
const STATE_S: f64 = 0.05;

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn read_until(
    sensors: &mut [Box<dyn Sensor>],
    (interval_s, closing_s): (f64, f64),
    ready: &AtomicBool,
    done: &AtomicBool,
) -> Vec<Trace> {
    let mut traces: Vec<Trace> = sensors
        .iter()
        .map(|s| Trace {
            id: s.info().id.clone(),
            readings: Vec::new(),
            read_cost_s: Vec::new(),
            states: Vec::new(),
            error: None,
        })
        .collect();
    if sensors.is_empty() {
        ready.store(true, Ordering::Release);
        return traces;
    }
    let mut looked = now_s();
    let mut ended = None;
    let is_power = sensors[0].info().quantity == Quantity::Power;
    loop {
        let round = now_s();
        // One last reading after the work has ended closes its window.
        if done.load(Ordering::Relaxed) {
            ended.get_or_insert(round);
        }
        for (sensor, trace) in sensors.iter_mut().zip(&mut traces) {
            read_one(sensor.as_mut(), trace);
        }
        ready.store(true, Ordering::Release);
        if let Some(end) = ended {
            let open = traces[0].readings.last().is_none_or(|r| r.at_s < end);
            let waits = is_power && open && !is_over(&traces[0]);
            if !waits || now_s() > end + closing_s {
                return traces;
            }
        }
        if round - looked >= STATE_S
            && let (Some(sensor), Some(trace)) = (sensors.first_mut(), traces.first_mut())
        {
            looked = round;
            trace.states.push(sensor.state());
        }
        let rest = interval_s - (now_s() - round);
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
}

/// Whether no more readings will come.
fn is_over(trace: &Trace) -> bool {
    matches!(
        trace.error,
        Some(SensorError::Gone { .. } | SensorError::Malformed { .. })
    )
}

fn read_one(sensor: &mut dyn Sensor, trace: &mut Trace) {
    if is_over(trace) {
        return;
    }
    let start = now_s();
    let mut new = Vec::new();
    let done = if trace.readings.is_empty() {
        // The newest of those from before the work opens its window.
        sensor.read().map(|r| new.push(r))
    } else {
        sensor.read_since(&mut new)
    };
    let cost = now_s() - start;
    for reading in new {
        // A buffered meter repeats its newest sample until the next arrives.
        if trace.readings.last().is_none_or(|r| reading.at_s > r.at_s) {
            trace.readings.push(reading);
        }
    }
    match done {
        Ok(()) => trace.read_cost_s.push(cost),
        Err(SensorError::NotYet { .. }) => {}
        Err(e) => {
            trace.error.get_or_insert(e);
        }
    }
}
