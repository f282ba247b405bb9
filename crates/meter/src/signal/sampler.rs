//! A background thread that reads sensors while work runs.

use crate::sensor::{DeviceState, Reading, Sensor, SensorError, now_s};
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
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(sensors, interval_s, &ready, &done));
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
    interval_s: f64,
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
    loop {
        let round = now_s();
        // One last reading after the work has ended closes its window.
        let last = done.load(Ordering::Relaxed);
        for (sensor, trace) in sensors.iter_mut().zip(&mut traces) {
            read_one(sensor.as_mut(), trace);
        }
        ready.store(true, Ordering::Release);
        if last {
            return traces;
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

fn read_one(sensor: &mut dyn Sensor, trace: &mut Trace) {
    if matches!(
        trace.error,
        Some(SensorError::Gone { .. } | SensorError::Malformed { .. })
    ) {
        return;
    }
    let start = now_s();
    match sensor.read() {
        Ok(reading) => {
            trace.read_cost_s.push(now_s() - start);
            // A buffered meter repeats its newest sample until the next arrives.
            if trace.readings.last().is_none_or(|r| reading.at_s > r.at_s) {
                trace.readings.push(reading);
            }
        }
        Err(SensorError::NotYet { .. }) => {}
        Err(e) => {
            trace.error.get_or_insert(e);
        }
    }
}
