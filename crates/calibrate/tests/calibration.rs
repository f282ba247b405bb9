//! A whole calibration in miniature, on this host, with and without a (simulated) energy sensor.

use greenup_calibrate::bench::{Bench, HostBenchmark, Level};
use greenup_calibrate::{FitOptions, Method, machine, suite};
use greenup_device::{CpuFacts, Team};
use greenup_meter::observe::Silent;
use greenup_meter::sensors::simulated::Simulated;
use greenup_meter::{Meter, Policy, Quantity};
use greenup_model::{Op, Work, predict};
use std::sync::{Mutex, PoisonError};

/// Held while a calibration runs: all run on the same core.
static CORE: Mutex<()> = Mutex::new(());

fn plan() -> Vec<Bench> {
    let bench = |kind, level| Bench {
        kind,
        level,
        threads: 1,
    };
    vec![
        bench(HostBenchmark::F64(0), Level::Dram),
        bench(HostBenchmark::F64(4), Level::Dram),
        bench(HostBenchmark::F64(480), Level::Dram),
        bench(HostBenchmark::F64(480), Level::L1),
        bench(HostBenchmark::Read, Level::Dram),
        bench(HostBenchmark::Read, Level::L1),
        bench(HostBenchmark::Read, Level::L2),
        bench(HostBenchmark::Chase, Level::Dram),
    ]
}

fn calibrate(sensor: bool) -> Result<(greenup_model::Machine, greenup_calibrate::Fit), String> {
    let _alone = CORE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut facts = CpuFacts::read();
    facts.cores.truncate(1);
    let team = Team::new(&facts.cores);
    let policy = Policy {
        window_s: 0.1,
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
    let built = machine::build("mini", &calibration, &facts, "test", &options);
    let (m, fit, _) = built.map_err(|e| e.to_string())?;
    Ok((m, fit))
}

/// Three attempts, one of which must succeed: what else runs on the host spoils some.
fn once_in_three(attempt: impl Fn() -> Result<(), String>) {
    let failed: Vec<String> = (0..3).map_while(|_| attempt().err()).collect();
    assert!(failed.len() < 3, "{failed:?}");
}

/// An error with the numbers where a condition does not hold.
fn check(holds: bool, numbers: impl std::fmt::Debug) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| format!("{numbers:?}"))
}

#[test]
fn a_host_without_a_sensor_gets_times() {
    once_in_three(|| {
        let (m, fit) = calibrate(false)?;
        assert!(!m.has_energy());
        assert!(fit.warnings.iter().any(|w| w.contains("no energy sensor")));
        let text = m.to_toml().unwrap();
        assert_eq!(greenup_model::Machine::from_toml(&text).unwrap(), m);
        let [tau, dram, l1] = [Op::F64, Op::Dram, Op::L1].map(|op| m.time_of(op).unwrap());
        check((1e-13..1e-8).contains(&tau) && dram > l1, [tau, dram, l1])
    });
}

#[test]
fn constant_power_is_recognised_as_such() {
    once_in_three(|| {
        let (m, _) = calibrate(true)?;
        let pi0 = m.constant_power_w.as_ref().unwrap().value;
        let work = Work::new().with(Op::F64, 1e9).unwrap();
        let p = predict(&m, &work).unwrap();
        let near = (p.power_w.unwrap() / 40.0 - 1.0).abs() < 0.3;
        check((30.0..44.0).contains(&pi0) && near, (pi0, p))
    });
}
