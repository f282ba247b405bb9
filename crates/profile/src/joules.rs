//! Joules between two moments of a run, out of the readings of its sensor.

use greenup_meter::window::energy_near;
use greenup_meter::{Quantity, Reading};
use serde::{Deserialize, Serialize};

/// State of a device at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Seconds after the start of the program.
    pub at_s: f64,
    /// Core clock, Hz.
    pub clock_hz: Option<f64>,
    /// Temperature, °C.
    pub temperature_c: Option<f64>,
    /// Active reasons for a lowered clock.
    pub throttle: Vec<String>,
}

/// Readings of one sensor over a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Name of the sensor.
    pub id: String,
    /// Whether it counts joules; else it reads watts.
    pub counter: bool,
    /// Seconds after the start of the program, and J or W: a counter where it changed, power at each reading.
    pub readings: Vec<(f64, f64)>,
    /// States of the device.
    pub states: Vec<State>,
    /// What ended its readings.
    pub error: Option<String>,
}

impl Trace {
    /// Keeps of an energy counter the moments at which it changed: each in the middle of the time in which it may have.
    pub fn reduced(id: &str, quantity: Quantity, readings: &[Reading], start_s: f64) -> Self {
        let at = |t: f64| t - start_s;
        let counter = quantity == Quantity::Energy;
        let kept = if counter {
            (readings.windows(2))
                .filter(|w| w[1].value != w[0].value)
                .map(|w| (at(0.5 * (w[0].at_s + w[1].at_s)), w[1].value))
                .collect()
        } else {
            readings.iter().map(|r| (at(r.at_s), r.value)).collect()
        };
        Self {
            id: id.to_owned(),
            counter,
            readings: kept,
            states: Vec::new(),
            error: None,
        }
    }

    /// Joules between two moments, s after the start; `None` if the readings do not reach there.
    pub fn joules(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let quantity = if self.counter {
            Quantity::Energy
        } else {
            Quantity::Power
        };
        let readings: Vec<Reading> = (self.readings.iter())
            .map(|&(at_s, value)| Reading { at_s, value })
            .collect();
        energy_near(quantity, &readings, from_s, to_s).ok()
    }

    /// Why it gives no joules of a run.
    pub fn why_not(&self) -> String {
        match &self.error {
            Some(e) => format!(
                "the sensor {} failed: {e}: joules are not measured",
                self.id
            ),
            None => format!(
                "the sensor {} paused, or did not change often enough in this run: joules are not measured",
                self.id
            ),
        }
    }

    /// Mean power in steps of about `step_s`: the middle of each, s, and W.
    pub fn power(&self, step_s: f64) -> Vec<(f64, f64)> {
        if !self.counter {
            return self.readings.clone();
        }
        let mut out = Vec::new();
        let mut from = match self.readings.first() {
            Some(first) => *first,
            None => return out,
        };
        for &(at, value) in &self.readings[1..] {
            if at - from.0 >= step_s {
                out.push((0.5 * (at + from.0), (value - from.1) / (at - from.0)));
                from = (at, value);
            }
        }
        out
    }

    /// Mean core clock between two moments, Hz.
    pub fn clock(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let all: Vec<f64> = (self.states.iter())
            .filter(|s| s.at_s >= from_s && s.at_s <= to_s)
            .filter_map(|s| s.clock_hz)
            .collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Reasons for a lowered clock, and the share of the states with each.
    pub fn throttling(&self) -> Vec<(String, f64)> {
        let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for reason in self.states.iter().flat_map(|s| &s.throttle) {
            *counts.entry(reason).or_default() += 1;
        }
        let n = self.states.len().max(1) as f64;
        (counts.into_iter())
            .map(|(name, k)| (name.to_owned(), k as f64 / n))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that changes every 100 ms, read every 20 ms; 100 W, from 2 s on 500 W.
    fn trace() -> Trace {
        let energy = |t: f64| 100.0 * t + 400.0 * (t - 2.0).max(0.0);
        let readings: Vec<Reading> = (0..300)
            .map(|i| {
                let t = f64::from(i) * 0.02;
                Reading {
                    at_s: 10.0 + t,
                    value: energy((t / 0.1 + 1e-9).floor() * 0.1),
                }
            })
            .collect();
        Trace::reduced("c", Quantity::Energy, &readings, 10.0)
    }

    #[test]
    fn joules_between_two_moments_are_those_of_the_ticks() {
        let t = trace();
        assert!(t.readings.len() < 62);
        let near =
            |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 0.02, "{a:?} {b}");
        near(t.joules(0.3, 1.7), 140.0);
        near(t.joules(0.5, 4.5), 400.0 + 1000.0);
        near(t.joules(2.5, 5.0), 1250.0);
        assert_eq!(t.joules(0.5, 20.0), None);
        assert_eq!(t.joules(2.0, 2.0), None);
        let mut back = t.clone();
        back.readings.reverse();
        assert_eq!(back.joules(0.5, 4.5), None);
        let power = t.power(0.25);
        assert!((power.last().unwrap().1 - 500.0).abs() < 5.0, "{power:?}");
    }

    #[test]
    fn watts_are_integrated() {
        let readings: Vec<Reading> = (0..100)
            .map(|i| Reading {
                at_s: f64::from(i) * 0.1,
                value: 50.0,
            })
            .collect();
        let t = Trace::reduced("w", Quantity::Power, &readings, 1.0);
        assert!((t.joules(0.0, 8.0).unwrap() - 400.0).abs() < 1e-9);
    }
}
