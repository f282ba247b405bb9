//! Power over a window, out of samples.

use crate::sensor::{Quantity, Reading};

/// Why the energy between two moments is not known.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoEnergy {
    /// Not one before and one after.
    #[error("no readings reach around it")]
    NotReached,
    /// A sensor of power that paused.
    #[error("the sensor paused for {0:.2} s")]
    Paused(f64),
}

/// Spacings of a sensor's readings that are no pause: this many times the typical one, or this share of the time measured.
const PAUSE: (f64, f64) = (5.0, 0.02);
/// The same of a window's mean power, which is measured again and again: a busy host may stop its reader for some time.
const WINDOW_PAUSE: f64 = 0.3;

/// Typical time between two readings, s. Those that lie close together are one change of a counter.
pub(crate) fn spacing(times: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let later = times.clone().skip(1);
    let all: Vec<f64> = later.zip(times).map(|(b, a)| b - a).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let apart: Vec<f64> = all.into_iter().filter(|&d| d > 1e-3 * mean).collect();
    (!apart.is_empty()).then(|| crate::stats::median(&apart))
}

/// The longest time without a reading between two moments, s, where it is a pause: more than a few of the sensor's periods.
pub(crate) fn pause(
    readings: &[Reading],
    from: f64,
    to: f64,
    period_s: Option<f64>,
) -> Option<f64> {
    let own = || (readings.len() >= 4).then(|| spacing(readings.iter().map(|r| r.at_s)))?;
    let typical = period_s.or_else(own)?;
    Some(longest_pause(readings, from, to)).filter(|p| *p > PAUSE.0 * typical)
}

/// Longest time without a reading between two moments, s.
fn longest_pause(readings: &[Reading], from: f64, to: f64) -> f64 {
    (readings.windows(2))
        .filter(|w| w[1].at_s > from && w[0].at_s < to)
        .map(|w| w[1].at_s - w[0].at_s)
        .fold(0.0, f64::max)
}

/// Mean power of a window and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPower {
    /// Mean power of the window, W.
    pub power_w: f64,
    /// Counter ticks, or power samples, seen in the window.
    pub ticks: usize,
    /// Relative uncertainty of the window's length: how late a tick may have been seen.
    pub edge_error: f64,
}

/// Mean power in [from, to]; `None` when fewer than two ticks (or no sample) lie inside.
///
/// An energy counter is read at its ticks: E and t where it changed, inside the window, so that
/// the ±1 tick error of reading it at arbitrary times does not arise. A tick that was seen late (a
/// read of the driver may take long) is passed over where one further in is the better end.
pub fn mean_power(
    quantity: Quantity,
    readings: &[Reading],
    from: f64,
    to: f64,
) -> Option<WindowPower> {
    match quantity {
        Quantity::Energy => counter_power(readings, from, to),
        Quantity::Power => sampled_power(readings, from, to),
    }
}

fn counter_power(readings: &[Reading], from: f64, to: f64) -> Option<WindowPower> {
    // (time first seen, energy, how much earlier it may have happened)
    let ticks: Vec<(f64, f64, f64)> = readings
        .windows(2)
        .filter(|w| w[1].value != w[0].value && w[1].at_s >= from && w[1].at_s <= to)
        .map(|w| (w[1].at_s, w[1].value, w[1].at_s - w[0].at_s))
        .collect();
    // At least half of the ticks lie between the ends.
    let n = ticks.len();
    let near = 0..n.div_ceil(4);
    near.clone()
        .flat_map(|i| near.clone().map(move |j| (i, n - 1 - j)))
        .filter(|(i, j)| i < j)
        .filter_map(|(i, j)| {
            let (a, b) = (ticks[i], ticks[j]);
            // Each happened, on the mean, half its doubt earlier.
            let dt = (b.0 - 0.5 * b.2) - (a.0 - 0.5 * a.2);
            (dt > 0.0).then(|| WindowPower {
                power_w: (b.1 - a.1) / dt,
                ticks: n - 1,
                edge_error: 0.5 * (a.2 + b.2) / dt,
            })
        })
        .min_by(|a, b| a.edge_error.total_cmp(&b.edge_error))
}

fn sampled_power(readings: &[Reading], from: f64, to: f64) -> Option<WindowPower> {
    let inside: Vec<&Reading> = readings
        .iter()
        .filter(|r| r.at_s >= from && r.at_s <= to)
        .collect();
    let (first, last) = (inside.first()?, inside.last()?);
    let dt = last.at_s - first.at_s;
    if dt <= 0.0 {
        return Some(WindowPower {
            power_w: first.value,
            ticks: 1,
            edge_error: 1.0,
        });
    }
    let pause = (inside.windows(2))
        .map(|w| w[1].at_s - w[0].at_s)
        .fold(0.0, f64::max)
        .max(to - last.at_s)
        .max(first.at_s - from);
    let typical = spacing(inside.iter().map(|r| r.at_s)).unwrap_or(0.0);
    if pause > WINDOW_PAUSE * (to - from) && pause > PAUSE.0 * typical {
        return None;
    }
    let energy: f64 = inside
        .windows(2)
        .map(|w| 0.5 * (w[0].value + w[1].value) * (w[1].at_s - w[0].at_s))
        .sum();
    Some(WindowPower {
        power_w: energy / dt,
        ticks: inside.len(),
        edge_error: (to - from - dt).max(0.0) / (to - from),
    })
}

/// Energy between two moments, J, interpolating a counter or integrating power.
///
/// # Errors
/// The readings do not reach around them, or a sensor of power paused for longer than a few of its periods: what it drew
/// meanwhile is not known. `period_s` is its period, where it is known better than by its readings.
pub fn energy(
    quantity: Quantity,
    readings: &[Reading],
    from: f64,
    to: f64,
    period_s: Option<f64>,
) -> Result<f64, NoEnergy> {
    let found = match quantity {
        Quantity::Energy => (at(readings, to).zip(at(readings, from))).map(|(b, a)| b - a),
        Quantity::Power => {
            let long = |p: &f64| *p > PAUSE.1 * (to - from);
            if let Some(pause) = pause(readings, from, to, period_s).filter(long) {
                return Err(NoEnergy::Paused(pause));
            }
            integral(readings, from, to)
        }
    };
    found.ok_or(NoEnergy::NotReached)
}

/// Integral of the straight lines between readings of power, J.
fn integral(readings: &[Reading], from: f64, to: f64) -> Option<f64> {
    let end = |at_s: f64| at(readings, at_s).map(|value| Reading { at_s, value });
    let (mut last, end) = (end(from)?, end(to)?);
    let first = readings.partition_point(|r| r.at_s <= from);
    let behind = readings.partition_point(|r| r.at_s < to).max(first);
    let mut total = 0.0;
    for r in readings[first..behind].iter().chain([&end]) {
        total += 0.5 * (last.value + r.value) * (r.at_s - last.at_s);
        last = *r;
    }
    Some(total)
}

/// As [`energy`], without the cause.
pub fn energy_between(quantity: Quantity, readings: &[Reading], from: f64, to: f64) -> Option<f64> {
    energy(quantity, readings, from, to, None).ok()
}

/// As [`energy`], where the readings may end a little before the moments: up to three typical spacings, in which the mean power
/// holds on.
///
/// # Errors
/// As [`energy`].
pub fn energy_near(
    quantity: Quantity,
    readings: &[Reading],
    from: f64,
    to: f64,
) -> Result<f64, NoEnergy> {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Err(NoEnergy::NotReached);
    };
    let beyond = (first.at_s - from).max(to - last.at_s).max(0.0);
    let period = spacing(readings.iter().map(|r| r.at_s)).unwrap_or(0.0);
    // An external meter may set its clock back.
    if readings.len() < 3 || last.at_s <= first.at_s || to <= from || beyond > 3.0 * period {
        return Err(NoEnergy::NotReached);
    }
    let (a, b) = (from.max(first.at_s), to.min(last.at_s));
    if b <= a {
        return Err(NoEnergy::NotReached);
    }
    Ok(energy(quantity, readings, a, b, None)? * (to - from) / (b - a))
}

fn at(readings: &[Reading], t: f64) -> Option<f64> {
    let i = readings.partition_point(|r| r.at_s < t);
    let after = readings.get(i)?;
    if after.at_s == t {
        return Some(after.value);
    }
    let before = readings.get(i.checked_sub(1)?)?;
    let share = (t - before.at_s) / (after.at_s - before.at_s);
    Some(before.value + share * (after.value - before.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(at_s: f64, value: f64) -> Reading {
        Reading { at_s, value }
    }

    #[test]
    fn tick_aligned_power_has_no_tick_error() {
        // 100 W counter that ticks every 100 ms, polled every 7 ms, over an awkward window.
        let readings: Vec<Reading> = (0..300)
            .map(|i| {
                let t = f64::from(i) * 0.007;
                r(t, 100.0 * (t / 0.1).floor() * 0.1)
            })
            .collect();
        let p = mean_power(Quantity::Energy, &readings, 0.13, 1.77).unwrap();
        assert!((p.power_w / 100.0 - 1.0).abs() < p.edge_error, "{p:?}");
        assert!(p.edge_error < 0.005 && p.ticks >= 14);
        assert_eq!(mean_power(Quantity::Energy, &readings, 0.13, 0.22), None);
    }

    #[test]
    fn ticks_seen_late_are_passed_over() {
        // The same counter; now and then a read takes 40 ms.
        let (mut t, mut readings) = (0.0, Vec::new());
        let mut rng = fastrand::Rng::with_seed(3);
        while t < 60.0 {
            readings.push(r(t, 100.0_f64 * (t / 0.1).floor() * 0.1));
            t += if rng.f64() < 0.03 { 0.04 } else { 0.003 };
        }
        let errors: Vec<f64> = (0..55)
            .map(|i| {
                let from = f64::from(i);
                let p = mean_power(Quantity::Energy, &readings, from, from + 1.05).unwrap();
                assert!(
                    (p.power_w / 100.0 - 1.0).abs() <= 1.01 * p.edge_error,
                    "{p:?}"
                );
                (p.power_w / 100.0 - 1.0).powi(2)
            })
            .collect();
        let rms = (errors.iter().sum::<f64>() / errors.len() as f64).sqrt();
        assert!(rms < 0.004, "{rms}");
    }

    #[test]
    fn sampled_power_and_energy() {
        let ramp: Vec<Reading> = (0..11).map(|i| r(f64::from(i), f64::from(i))).collect();
        let p = mean_power(Quantity::Power, &ramp, 2.0, 8.0).unwrap();
        assert!((p.power_w - 5.0).abs() < 1e-12);
        let e = energy_between(Quantity::Power, &ramp, 2.0, 4.0).unwrap();
        assert!((e - 6.0).abs() < 1e-12);
        // Ends within an interval, and both in the same one.
        let e = energy_between(Quantity::Power, &ramp, 2.5, 4.25).unwrap();
        assert!((e - (4.25 * 4.25 - 6.25) / 2.0).abs() < 1e-12);
        let e = energy_between(Quantity::Power, &ramp, 2.25, 2.5).unwrap();
        assert!((e - (6.25 - 2.25 * 2.25) / 2.0).abs() < 1e-12);
        assert_eq!(energy_between(Quantity::Power, &ramp, 2.0, 2.0), Some(0.0));
        let e = energy_between(Quantity::Energy, &ramp, 2.5, 4.0).unwrap();
        assert!((e - 1.5).abs() < 1e-12);
        assert_eq!(energy_between(Quantity::Energy, &ramp, 2.5, 11.0), None);
    }

    #[test]
    fn a_pause_of_the_sensor_is_no_energy() {
        let all = (0..500).map(|i| r(0.02 * f64::from(i), 50.0));
        let paused: Vec<Reading> = all.filter(|r| r.at_s < 3.0 || r.at_s > 8.0).collect();
        let between = |a, b| energy(Quantity::Power, &paused, a, b, None);
        assert!((between(1.0, 2.0).unwrap() - 50.0).abs() < 1e-9);
        for (a, b) in [(2.5, 8.5), (4.0, 5.0), (2.9, 3.1), (7.9, 9.0)] {
            assert!(
                matches!(between(a, b), Err(NoEnergy::Paused(p)) if p > 4.9),
                "{a} {b}"
            );
            assert!(energy_near(Quantity::Power, &paused, a, b).is_err());
        }
        assert!(mean_power(Quantity::Power, &paused, 2.5, 8.5).is_none());
        // A counter counts on.
        let counter: Vec<Reading> = paused.iter().map(|p| r(p.at_s, 7.0 * p.at_s)).collect();
        let e = energy(Quantity::Energy, &counter, 2.5, 8.5, None).unwrap();
        assert!((e - 42.0).abs() < 1e-9);
        assert_eq!(
            energy(Quantity::Power, &paused, 9.0, 20.0, None),
            Err(NoEnergy::NotReached)
        );
        assert!((energy_near(Quantity::Power, &paused, 9.0, 10.03).unwrap() - 51.5).abs() < 1e-9);
    }
}
