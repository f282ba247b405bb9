use super::*;
use crate::observe::Silent;
use crate::probe::spin;
use crate::sensor::SensorError;
use crate::sensors::simulated::Simulated;
use std::convert::Infallible;

fn policy() -> Policy {
    Policy {
        window_s: 0.05,
        min_ticks: 10,
        warmup_s: 0.02,
        warmup_ticks: 3,
        max_warmups: 2,
        min_repeats: 3,
        max_repeats: 5,
        rel_error: 0.05,
    }
}

fn work(seconds: f64) -> Result<Run, Infallible> {
    spin(seconds);
    Ok(Run {
        iterations: seconds / 1e-3,
        seconds,
    })
}

fn counter(watts: f64) -> Box<dyn Sensor> {
    Box::new(Simulated::new("sim", Quantity::Energy, move |t| {
        Ok(watts * (t / 0.005).floor() * 0.005)
    }))
}

#[test]
fn energy_is_power_times_time() {
    let check = Simulated::new("check", Quantity::Power, |_| Ok(50.0));
    // A tick that is seen late matters little in a long window.
    let policy = Policy {
        window_s: 0.3,
        ..policy()
    };
    let mut meter = Meter::new(vec![counter(40.0), Box::new(check)], 0.005, policy);
    assert!(meter.window_s() >= 0.3);
    let m = meter.measure(&Silent, &mut work).unwrap().unwrap();
    let (p, e) = (m.power_w.unwrap(), m.energy_j.unwrap());
    let ratio = m.other_over_main.unwrap();
    assert!((ratio / 1.25 - 1.0).abs() < 0.1, "{ratio}");
    assert!((p.median / 40.0 - 1.0).abs() < 0.1, "{p:?}");
    assert!((e.median / 0.04 - 1.0).abs() < 0.1, "{e:?}");
    assert!((m.time_s.median - 1e-3).abs() < 1e-9);
    assert!(
        m.flags
            .iter()
            .any(|f| matches!(f, Flag::SensorsDisagree(x) if (x - 0.25).abs() < 0.08)),
        "{:?}",
        m.flags
    );
}

#[test]
fn a_sensor_that_vanishes_midway_leaves_the_time() {
    // By time: a busy host reads it seldom.
    let mut first = None;
    let dying = Simulated::new("dying", Quantity::Energy, move |t| {
        if t > *first.get_or_insert(t) + 0.1 {
            return Err(SensorError::Gone {
                id: "dying".into(),
                cause: "unplugged".into(),
            });
        }
        Ok(t)
    });
    let mut meter = Meter::new(vec![Box::new(dying)], 0.001, policy());
    let m = meter.measure(&Silent, &mut work).unwrap().unwrap();
    assert!(m.energy_j.is_none());
    assert!(m.flags.iter().any(|f| f.to_string().contains("unplugged")));
    assert!(m.flags.contains(&Flag::NoEnergy));
}

#[test]
fn a_counter_that_goes_backwards_is_no_energy() {
    let back = Simulated::new("back", Quantity::Energy, |t| Ok(-t));
    let mut meter = Meter::new(vec![Box::new(back)], 0.001, policy());
    let m = meter.measure(&Silent, &mut work).unwrap().unwrap();
    assert!(m.energy_j.is_none(), "{m:?}");
}

#[test]
fn without_sensors_time_is_flagged_and_cancel_keeps_what_there_is() {
    struct After(std::sync::atomic::AtomicUsize);
    impl Observer for After {
        fn cancelled(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 4
        }
    }
    let mut meter = Meter::time_only(policy());
    let m = meter.measure(&Silent, &mut work).unwrap().unwrap();
    assert_eq!(m.flags, [Flag::NoEnergy]);
    let m = meter.measure(&After(0.into()), &mut work).unwrap().unwrap();
    assert!(m.flags.contains(&Flag::Interrupted) && m.time_s.n < 3);
}
