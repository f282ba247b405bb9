//! The energy of work that happens once, out of what sensors read meanwhile.

use crate::choose::Chosen;
use crate::sampler::{Trace, sample_closed};
use crate::sensor::{Quantity, Sensor, now_s};
use crate::window;
use std::time::Duration;

/// Ticks of a sensor that work must span before its energy counts.
pub(crate) const MIN_TICKS: f64 = 10.0;
/// How long a meter's reading from after the work is waited for, s, beside its period.
const CLOSING_S: f64 = 1.0;

/// Energy of work, J, by the first sensor, and why it is not known.
pub fn of_work<T>(chosen: &mut Chosen, work: impl FnOnce() -> T) -> (T, Result<f64, String>) {
    let Some(first) = chosen.sensors.first() else {
        let why = chosen.missing.clone();
        return (
            work(),
            Err(why.unwrap_or_else(|| "no energy sensor".to_owned())),
        );
    };
    let quantity = first.info().quantity;
    let ((out, span), trace) = watched(&mut chosen.sensors, chosen.period_s, || {
        let from = now_s();
        let out = work();
        (out, (from, now_s()))
    });
    (out, between(quantity, &trace, span, chosen.period_s))
}

/// Does work while sensors are read, the first of them until its next tick closes the interval.
pub(crate) fn watched<T>(
    sensors: &mut [Box<dyn Sensor>],
    period_s: f64,
    work: impl FnOnce() -> T,
) -> (T, Trace) {
    let interval = (period_s / 8.0).clamp(0.001, 0.02);
    let quantity = sensors[0].info().quantity;
    let closing = 1.5 * period_s + CLOSING_S;
    let (out, mut traces, _) = sample_closed(sensors, interval, closing, || {
        let out = work();
        if quantity == Quantity::Energy {
            // The counter's next tick closes the interval.
            std::thread::sleep(Duration::from_secs_f64(1.5 * period_s));
        }
        out
    });
    (out, traces.swap_remove(0))
}

/// Energy between two moments, J, and why it is not known.
pub(crate) fn between(
    quantity: Quantity,
    trace: &Trace,
    (from, to): (f64, f64),
    period_s: f64,
) -> Result<f64, String> {
    match (
        &trace.error,
        window::energy(quantity, &trace.readings, from, to, Some(period_s)),
    ) {
        (Some(e), _) => Err(e.to_string()),
        _ if to - from < 0.9 * MIN_TICKS * period_s => Err(format!(
            "they are shorter than ten periods of the sensor, which are {:.3} s",
            MIN_TICKS * period_s
        )),
        (None, Ok(e)) if e > 0.0 => Ok(e),
        (None, Ok(_)) => Err("the sensor counted no energy".to_owned()),
        (None, Err(e)) => Err(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::simulated::Simulated;

    #[test]
    fn work_has_the_energy_of_its_time() {
        let zero = now_s();
        let counter = Simulated::new("fake", Quantity::Energy, move |t| Ok(40.0 * (t - zero)));
        let mut chosen = Chosen {
            sensors: vec![Box::new(counter)],
            period_s: 0.005,
            missing: None,
            gpu_seen: false,
        };
        let (took, energy) = of_work(&mut chosen, || {
            let from = now_s();
            std::thread::sleep(Duration::from_millis(100));
            now_s() - from
        });
        let energy = energy.unwrap();
        assert!(
            (energy / (40.0 * took) - 1.0).abs() < 0.02,
            "{energy} J in {took} s"
        );
        let (_, short) = of_work(&mut chosen, || ());
        assert!(short.unwrap_err().contains("ten periods"));
    }

    #[test]
    fn work_without_a_sensor_has_no_energy() {
        let mut chosen = Chosen {
            sensors: Vec::new(),
            period_s: 0.0,
            missing: Some("none here".into()),
            gpu_seen: false,
        };
        assert_eq!(of_work(&mut chosen, || 3), (3, Err("none here".to_owned())));
    }
}
