//! The aliasing error of a sensor: a load switched on and off in a square wave, whose mean power
//! must be the mean of the steady levels whatever the period (MEASURE step 2; Yang et al. SC24).

use crate::observe::Observer;
use crate::sampler::sample;
use crate::sensor::{Sensor, now_s};
use crate::window::mean_power;
use serde::Serialize;
use std::time::Duration;

/// Half-periods tried, s: beside, at and off multiples of the usual 100 ms update.
pub const HALF_PERIODS_S: [f64; 6] = [0.013, 0.025, 0.026, 0.05, 0.1, 0.13];

/// Result for one sensor and half-period.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaveRow {
    /// Id of the sensor.
    pub id: String,
    /// Half-period of the load, s.
    pub half_period_s: f64,
    /// Measured mean power over the duty-weighted mean of the steady levels, one a phase.
    pub ratios: Vec<f64>,
    /// Largest |ratio − 1|.
    pub error: f64,
}

/// Result of the whole test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SquareWave {
    /// Steady power of each sensor, (id, idle W, load W).
    pub levels: Vec<(String, f64, f64)>,
    /// One row for each sensor and half-period.
    pub rows: Vec<WaveRow>,
}

impl SquareWave {
    /// Largest error of a sensor: its uncertainty on pulsed loads.
    pub fn worst(&self, id: &str) -> Option<f64> {
        self.rows
            .iter()
            .filter(|r| r.id == id)
            .map(|r| r.error)
            .reduce(f64::max)
    }
}

/// Runs the test: each half-period for `seconds`, `phases` times, with `load(s)` a load of about
/// s seconds that returns when it is over.
pub fn square_wave(
    sensors: &mut [Box<dyn Sensor>],
    seconds: f64,
    phases: usize,
    load: &mut dyn FnMut(f64),
    observer: &dyn Observer,
) -> SquareWave {
    let interval = 0.001;
    observer.stage("square wave", 2 + HALF_PERIODS_S.len() * phases);
    let ((), idle, idle_span) = sample(sensors, interval, || {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    });
    observer.step("idle");
    let ((), busy, busy_span) = sample(sensors, interval, || load(seconds));
    observer.step("load");
    let infos: Vec<_> = sensors.iter().map(|s| s.info().clone()).collect();
    // The first fifth of a steady level belongs to the rise.
    let steady = |trace: &crate::sampler::Trace, span: (f64, f64), i: usize| {
        mean_power(
            infos[i].quantity,
            &trace.readings,
            span.0 + 0.2 * (span.1 - span.0),
            span.1,
        )
        .map_or(f64::NAN, |p| p.power_w)
    };
    let levels: Vec<(String, f64, f64)> = infos
        .iter()
        .enumerate()
        .map(|(i, info)| {
            (
                info.id.clone(),
                steady(&idle[i], idle_span, i),
                steady(&busy[i], busy_span, i),
            )
        })
        .collect();

    let mut rows = Vec::new();
    for half in HALF_PERIODS_S {
        let mut ratios = vec![Vec::new(); infos.len()];
        for phase in 0..phases {
            if observer.cancelled() {
                return SquareWave { levels, rows };
            }
            std::thread::sleep(Duration::from_secs_f64(
                2.0 * half * phase as f64 / phases as f64,
            ));
            let (duty, traces, span) = sample(sensors, interval, || wave(half, seconds, load));
            for (i, trace) in traces.iter().enumerate() {
                let (_, low, high) = levels[i];
                let expected = low + duty * (high - low);
                if let Some(p) = mean_power(infos[i].quantity, &trace.readings, span.0, span.1) {
                    ratios[i].push(p.power_w / expected);
                }
            }
            observer.step(&format!("half-period {:.0} ms", 1e3 * half));
        }
        for (info, ratios) in infos.iter().zip(ratios) {
            let error = ratios
                .iter()
                .map(|r| (r - 1.0).abs())
                .fold(f64::NAN, f64::max);
            rows.push(WaveRow {
                id: info.id.clone(),
                half_period_s: half,
                ratios,
                error,
            });
        }
    }
    SquareWave { levels, rows }
}

/// Whole periods of load and rest for about `seconds`; returns the true duty.
fn wave(half: f64, seconds: f64, load: &mut dyn FnMut(f64)) -> f64 {
    let start = now_s();
    let periods = (seconds / (2.0 * half)).round().max(1.0) as usize;
    let mut on = 0.0;
    for k in 0..periods {
        // Against a fixed schedule, so that late wake-ups do not add up.
        let begin = start + 2.0 * half * k as f64;
        let t = now_s();
        load((begin + half - t).max(0.0));
        on += now_s() - t;
        let rest = begin + 2.0 * half - now_s();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    on / (now_s() - start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::probe::spin;
    use crate::sensor::Quantity;
    use crate::sensors::simulated::Simulated;
    use std::sync::{Arc, Mutex};

    /// When the load was on, (start, end) in s; the last end is infinite while it is on.
    type Load = Arc<Mutex<Vec<(f64, f64)>>>;

    fn watts(load: &Load, t: f64) -> f64 {
        let on = load.lock().unwrap();
        if on.iter().any(|&(start, end)| start <= t && t < end) {
            120.0
        } else {
            20.0
        }
    }

    fn joules(load: &Load, t: f64) -> f64 {
        let on = load.lock().unwrap();
        let loaded: f64 = on.iter().map(|&(s, e)| (e.min(t) - s).max(0.0)).sum();
        20.0 * t + 100.0 * loaded
    }

    /// Worst errors of a full integrator, and of a sensor that sees only the first quarter of each
    /// 100 ms, on a machine of 20 W idle and 120 W under load. Both are functions of time alone.
    fn worst() -> (f64, f64) {
        let on = Load::default();
        let (a, b, c) = (on.clone(), on.clone(), on.clone());
        let integrator = Simulated::new("full", Quantity::Energy, move |t| Ok(joules(&a, t)));
        // The power at the end of the window that the sensor saw last.
        let partial = Simulated::new("partial", Quantity::Power, move |t| {
            let window = (t / 0.1).floor() * 0.1;
            Ok(watts(&b, t.min(window + 0.025)))
        });
        let mut load = |s: f64| {
            c.lock().unwrap().push((now_s(), f64::INFINITY));
            spin(s);
            c.lock().unwrap().last_mut().unwrap().1 = now_s();
        };
        let mut sensors: Vec<Box<dyn Sensor>> = vec![Box::new(integrator), Box::new(partial)];
        let result = square_wave(&mut sensors, 0.4, 2, &mut load, &Silent);
        let of = |id| result.worst(id).unwrap();
        (of("full"), of("partial"))
    }

    /// A host that is busy may stretch a half-period, so one of three runs must tell them apart.
    #[test]
    fn a_full_integrator_passes_and_a_partial_window_does_not() {
        let all: Vec<(f64, f64)> = (0..3).map(|_| worst()).collect();
        let apart = |&(full, part): &(f64, f64)| full < 0.15 && part > 2.0 * full;
        assert!(all.iter().any(apart), "{all:?}");
    }
}
