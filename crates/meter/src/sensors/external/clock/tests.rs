//! Clocks of meters with known offsets and rates.

use super::*;

/// Readings of samples (arrival, meter time, W), each a batch.
fn mapped(samples: impl IntoIterator<Item = (f64, f64, f64)>) -> (Vec<Reading>, Clock) {
    let (mut clock, mut out) = (Clock::default(), Vec::new());
    for (arrival, time_s, value) in samples {
        let one = Sample {
            time_s,
            value,
            is_energy: false,
            device: 0,
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
                device: 0,
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
                    device: 0,
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

/// The rate with which a clock is refused, and when; lines every `period_s`, up to 10 ms late.
fn refused(rate: f64, period_s: f64, limit_s: f64) -> Option<(f64, f64)> {
    let (mut clock, mut out) = (Clock::default(), Vec::new());
    let mut rng = fastrand::Rng::with_seed(5);
    let lines = (0..).map(|i| f64::from(i) * period_s);
    for t in lines.take_while(|t| *t < limit_s) {
        let s = Sample {
            time_s: 1e4 + rate * t,
            value: 50.0,
            is_energy: false,
            device: 0,
        };
        match clock.push(&[s], t + 0.01 * rng.f64(), &mut out) {
            Ok(()) => {}
            Err(ClockError::Rate(r)) => return Some((r, t)),
            Err(e) => panic!("{rate} {period_s}: {e}"),
        }
    }
    assert_eq!(clock.events.steps, 0, "{rate} {period_s}");
    None
}

#[test]
fn a_wrong_rate_is_refused_whatever_the_period() {
    for period in [0.02, 0.05, 0.1, 0.5, 1.0, 2.0] {
        for rate in [
            0.3, 0.5, 0.8, 1.2, 1.5, 2.0, 5.0, 10.0, 13.5, 26.0, 50.0, 51.0, 1000.0,
        ] {
            let (measured, at) = refused(rate, period, 100.0)
                .unwrap_or_else(|| panic!("{rate} every {period} s is accepted"));
            assert!(
                (measured / rate - 1.0).abs() < 0.05,
                "{rate} every {period} s: {measured}"
            );
            assert!(at < 10.0 + 4.0 * period, "{rate} every {period} s: at {at}");
        }
        for rate in [0.995, 1.0, 1.005] {
            assert_eq!(refused(rate, period, 60.0), None, "{rate} every {period} s");
        }
    }
}

#[test]
fn a_clock_may_be_set_several_times() {
    // Seldom forward, often back, or to and fro.
    let steps: [fn(f64) -> f64; 3] = [
        |t| 0.5 * (t / 15.0).floor(),
        |t| -3600.0 * (t / 3.0).floor(),
        |t| 3600.0 * ((t / 3.0).floor() % 2.0),
    ];
    for (i, by) in steps.iter().enumerate() {
        let (readings, clock) = mapped(each_20_ms(3000, |t| 1e6 + t + by(t)));
        assert!(clock.events.steps >= 3, "{i}: {:?}", clock.events);
        assert!(greatest_error(&readings) < 0.06, "{i}");
    }
}
