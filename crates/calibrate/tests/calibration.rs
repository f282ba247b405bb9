//! A whole calibration in miniature, on this host, with and without a (simulated) energy sensor.

use greenup_calibrate::bench::{Bench, Kind, Level};
use greenup_calibrate::{FitOptions, Method, machine, suite};
use greenup_device::{CpuFacts, Team};
use greenup_meter::observe::Silent;
use greenup_meter::sensors::simulated::Simulated;
use greenup_meter::{Meter, Policy, Quantity};
use greenup_model::{Op, Work, predict};

fn plan() -> Vec<Bench> {
    let bench = |kind, level| Bench {
        kind,
        level,
        threads: 1,
    };
    vec![
        bench(Kind::F64(0), Level::Dram),
        bench(Kind::F64(4), Level::Dram),
        bench(Kind::F64(480), Level::Dram),
        bench(Kind::F64(480), Level::L1),
        bench(Kind::Read, Level::Dram),
        bench(Kind::Read, Level::L1),
        bench(Kind::Read, Level::L2),
        bench(Kind::Chase, Level::Dram),
    ]
}

fn calibrate(sensor: bool) -> (greenup_model::Machine, greenup_calibrate::Fit) {
    let mut facts = CpuFacts::read();
    facts.cores.truncate(1);
    let team = Team::new(&facts.cores);
    let policy = Policy {
        window_s: 0.05,
        warmup_s: 0.02,
        max_repeats: 3,
        ..Policy::quick()
    };
    let mut meter = if sensor {
        // A constant 40 W: all energy is constant power, none is an operation's.
        let s = Simulated::new("sim", Quantity::Energy, |t| {
            Ok(40.0 * (t / 0.002).floor() * 0.002)
        });
        Meter::new(vec![Box::new(s)], 0.002, policy)
    } else {
        Meter::time_only(policy)
    };
    let calibration =
        suite::run(&plan(), &facts, &team, &mut meter, &Silent, &mut |_| Ok(())).unwrap();
    assert!(!calibration.interrupted && calibration.points.len() >= 7);
    let options = FitOptions {
        method: Method::Nnls,
        resamples: 50,
        ..FitOptions::default()
    };
    let (m, fit, _) = machine::build("mini", &calibration, &facts, "test", &options).unwrap();
    (m, fit)
}

#[test]
fn a_host_without_a_sensor_gets_times() {
    let (m, fit) = calibrate(false);
    assert!(!m.has_energy());
    assert!(fit.warnings.iter().any(|w| w.contains("no energy sensor")));
    let tau = m.time_of(Op::F64).unwrap();
    assert!((1e-13..1e-8).contains(&tau), "{tau}");
    assert!(m.time_of(Op::Dram).unwrap() > m.time_of(Op::L1).unwrap());
    let text = m.to_toml().unwrap();
    assert_eq!(greenup_model::Machine::from_toml(&text).unwrap(), m);
}

#[test]
fn constant_power_is_recognised_as_such() {
    let (m, _) = calibrate(true);
    let pi0 = m.constant_power_w.as_ref().unwrap().value;
    assert!((30.0..44.0).contains(&pi0), "{pi0}");
    let work = Work::new().with(Op::F64, 1e9).unwrap();
    let p = predict(&m, &work).unwrap();
    assert!((p.power_w.unwrap() / 40.0 - 1.0).abs() < 0.3, "{p:?}");
}
