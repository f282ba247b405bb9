use super::*;
use crate::record::Record;
use greenup_model::{Work, predict};

/// A two-precision machine with a cache level, as a spec for synthetic sweeps.
fn truth(cap: Option<f64>) -> Machine {
    let cost = |t: f64, e: f64| OpCost {
        time_s: Some(Estimate::new(t)),
        energy_j: Some(Estimate::new(e)),
        clock_hz: None,
    };
    Machine {
        name: "truth".into(),
        title: "truth".into(),
        label: Label::Measured,
        about: String::new(),
        sources: vec![],
        facts: BTreeMap::new(),
        warnings: vec![],
        constant_power_w: Some(Estimate::new(60.0)),
        usable_power_w: cap.map(Estimate::new),
        clock: None,
        network: None,
        link: None,
        host: None,
        cost: [
            (Op::F64, cost(2e-12, 60e-12)),
            (Op::F32, cost(1e-12, 25e-12)),
            (Op::L2, cost(1.5e-12, 30e-12)),
            (Op::Dram, cost(8e-12, 300e-12)),
        ]
        .into(),
    }
}

/// An intensity sweep on it with `noise` relative normal error on time and energy, and runs at
/// half occupancy that stretch the time.
fn sweep(machine: &Machine, noise: f64, seed: u64) -> Vec<Record> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut normal = || {
        let (u, v) = (1.0 - rng.f64(), rng.f64());
        1.0 + noise * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let mut records = Vec::new();
    for (flop, level) in [
        (Op::F64, Op::Dram),
        (Op::F32, Op::Dram),
        (Op::F64, Op::L2),
        (Op::F32, Op::L2),
    ] {
        for step in -3..=7 {
            for occupancy in [1.0, 0.5] {
                let intensity = f64::from(step).exp2();
                let bytes = 1e12;
                let work = Work::new()
                    .with(flop, intensity * bytes)
                    .and_then(|w| w.with(level, bytes))
                    .unwrap();
                let p = predict(machine, &work).unwrap();
                let t = p.time_s / occupancy;
                let marginal = p.energy_j.unwrap() - p.constant_energy_j.unwrap();
                let time_s = t * normal();
                records.push(Record {
                    benchmark: format!("{flop}/{level}"),
                    setting: format!("occupancy {occupancy}"),
                    work,
                    time_s,
                    energy_j: Some((marginal + 60.0 * t) * normal()),
                    occupancy,
                    notes: vec![],
                });
            }
        }
    }
    records
}

fn options(method: Method, resamples: usize) -> FitOptions {
    FitOptions {
        method,
        resamples,
        seed: 1,
        validate: false,
    }
}

/// (name, fitted, truth) of every constant.
fn constants(fit: &Fit, machine: &Machine) -> Vec<(String, Constant, f64)> {
    let mut all = Vec::new();
    for (op, cost) in &machine.cost {
        all.push((
            format!("tau {op}"),
            fit.time_s[op],
            cost.time_s.as_ref().unwrap().value,
        ));
        all.push((
            format!("eps {op}"),
            fit.energy_j[op],
            cost.energy_j.as_ref().unwrap().value,
        ));
    }
    all.push(("pi0".into(), fit.constant_power_w.unwrap(), 60.0));
    if let Some(dpi) = &machine.usable_power_w {
        all.push(("dpi".into(), fit.usable_power_w.unwrap(), dpi.value));
    }
    all
}

#[test]
fn exact_data_give_exact_constants_with_every_method() {
    let machine = truth(None);
    let records = sweep(&machine, 0.0, 1);
    for method in [Method::Linear, Method::Nnls, Method::Capped] {
        let fit = fit(&records, &options(method, 20)).unwrap();
        for (name, c, want) in constants(&fit, &machine) {
            assert!(
                (c.value / want - 1.0).abs() < 1e-4,
                "{method:?} {name}: {c:?} {want}"
            );
        }
        assert!(fit.usable_power_w.is_none(), "{method:?}");
        assert!(fit.energy_errors.unwrap().max_abs < 1e-4);
    }
}

#[test]
fn a_cap_is_found_where_there_is_one() {
    // Demand is 30 + 37.5 W above constant power; the cap bites near the balance.
    let machine = truth(Some(45.0));
    let fit = fit(&sweep(&machine, 0.005, 3), &options(Method::Capped, 50)).unwrap();
    let dpi = fit.usable_power_w.unwrap();
    assert!((dpi.value / 45.0 - 1.0).abs() < 0.02, "{dpi:?}");
}

/// The recovery requirement: with 2 % noise every constant lies within its own 95 % interval in
/// at least 90 % of 200 trials.
#[allow(clippy::print_stdout)] // the counts are quoted in the results
fn recovery(cap: Option<f64>, method: Method, trials: u64) {
    let machine = truth(cap);
    let mut hits: BTreeMap<String, u64> = BTreeMap::new();
    for trial in 0..trials {
        let fit = fit(&sweep(&machine, 0.02, 1000 + trial), &options(method, 200)).unwrap();
        for (name, c, want) in constants(&fit, &machine) {
            *hits.entry(name).or_default() += u64::from(c.lo <= want && want <= c.hi);
        }
    }
    println!("{method:?}, {trials} trials, truth inside the interval: {hits:?}");
    let low: Vec<_> = hits.iter().filter(|(_, n)| **n * 10 < trials * 9).collect();
    assert!(
        low.is_empty(),
        "below 90 % of {trials}: {low:?}; all {hits:?}"
    );
}

#[test]
fn constants_lie_in_their_intervals_linear() {
    recovery(None, Method::Linear, 200);
}

#[test]
fn constants_lie_in_their_intervals_nnls() {
    recovery(None, Method::Nnls, 200);
}

#[test]
#[ignore = "slow: 200 nonlinear fits with 200 resamples each"]
fn constants_lie_in_their_intervals_capped_at_length() {
    recovery(Some(45.0), Method::Capped, 200);
}

#[test]
fn indistinguishable_constants_are_warned_of() {
    // Memory bound only, one occupancy: T and Q are proportional.
    let machine = truth(None);
    let records: Vec<Record> = sweep(&machine, 0.02, 5)
        .into_iter()
        .filter(|r| {
            r.occupancy == 1.0
                && r.benchmark == "f64/dram"
                && r.work.intensity().is_some_and(|i| i < 2.0)
        })
        .collect();
    let fit = fit(&records, &options(Method::Nnls, 200)).unwrap();
    assert!(
        fit.warnings
            .iter()
            .any(|w| w.contains("cannot be distinguished")),
        "{:?}",
        fit.warnings
    );
    assert!(
        fit.warnings
            .iter()
            .any(|w| w.contains("no record is bound by `f64`"))
    );
    let full = super::fit(&sweep(&machine, 0.02, 5), &options(Method::Nnls, 200)).unwrap();
    assert!(full.warnings.is_empty(), "{:?}", full.warnings);
    assert!(full.condition_number.unwrap() < fit.condition_number.unwrap());
}

#[test]
fn validation_and_ks() {
    let machine = truth(Some(32.0));
    let mut o = options(Method::Capped, 20);
    o.validate = true;
    let v = fit(&sweep(&machine, 0.01, 9), &o)
        .unwrap()
        .validation
        .unwrap();
    assert!(v.by_setting.unwrap().mean_abs < 0.05);
    assert!(v.by_benchmark.unwrap().mean_abs < 0.05);
    let ks = v.capped_against_uncapped.unwrap();
    assert!(
        ks.mean_abs_error_capped < ks.mean_abs_error_uncapped && ks.p_value < 0.2,
        "{ks:?}"
    );
}

#[test]
fn time_only_records_fit_times() {
    let machine = truth(None);
    let mut records = sweep(&machine, 0.01, 2);
    records.iter_mut().for_each(|r| r.energy_j = None);
    let fit = super::fit(&records, &options(Method::Capped, 50)).unwrap();
    assert!(fit.energy_j.is_empty() && fit.constant_power_w.is_none());
    assert!((fit.time_s[&Op::Dram].value / 8e-12 - 1.0).abs() < 0.02);
    let m = fit.to_machine("m", "M").unwrap();
    assert!(!m.has_energy());
}

#[test]
fn too_few_records_are_refused() {
    let records = sweep(&truth(None), 0.0, 1)[..2].to_vec();
    let e = super::fit(&records, &FitOptions::default()).unwrap_err();
    assert!(matches!(e, FitError::TooFew { need: 3, .. }), "{e}");
}

/// Thesis, section 4.4.1: where a cap binds the errors of the model without one are of another distribution.
#[test]
fn errors_with_and_without_a_cap_differ_where_one_binds() {
    use super::caps::cap_errors;
    let mean = |e: &[f64]| e.iter().map(|x| x.abs()).sum::<f64>() / e.len() as f64;
    let three = |cap| -> Vec<Record> {
        (5..8)
            .flat_map(|seed| sweep(&truth(cap), 0.01, seed))
            .collect()
    };
    let e = cap_errors(&three(Some(40.0))).unwrap();
    let n = e.benchmarks.len();
    assert_eq!(
        (e.capped.performance.len(), e.uncapped.energy.len()),
        (n, n)
    );
    assert!(
        (e.usable_power_w / 40.0 - 1.0).abs() < 0.03,
        "{}",
        e.usable_power_w
    );
    assert!(mean(&e.capped.performance) < 0.02 && e.clocked.is_none());
    // Without the cap performance is predicted too high, as the thesis finds.
    let bias = e.uncapped.performance.iter().sum::<f64>() / n as f64;
    assert!(bias > 0.05, "{bias}");
    assert!(
        e.performance_test.p_value < 0.05,
        "{:?}",
        e.performance_test
    );

    let e = cap_errors(&three(None)).unwrap();
    // Roofs are the best of noisy rates.
    assert!(mean(&e.uncapped.performance) < 0.05);
    assert!(e.performance_test.p_value > 0.5, "{:?}", e.performance_test);

    let mut times = sweep(&truth(None), 0.0, 5);
    times.iter_mut().for_each(|r| r.energy_j = None);
    assert!(cap_errors(&times).is_err());
}

/// Records of (time, energy, f64, dram).
fn records(rows: &[(f64, f64, f64, f64)]) -> Vec<Record> {
    rows.iter()
        .map(|&(time_s, energy_j, flops, bytes)| Record {
            benchmark: "all".into(),
            setting: "all".into(),
            work: (Work::new().with(Op::F64, flops))
                .and_then(|w| w.with(Op::Dram, bytes))
                .unwrap(),
            time_s,
            energy_j: Some(energy_j),
            occupancy: 1.0,
            notes: vec![],
        })
        .collect()
}

/// What nothing in the records tells is not printed as known: 1 ps/flop and 10 ps/B, 10 pJ/flop and 0.1 nJ/B, 20 W.
#[test]
fn constants_that_records_do_not_determine_have_bounds_alone() {
    let noise = [
        0.3e-2, -0.4e-2, 0.1e-2, -0.2e-2, 0.4e-2, -0.1e-2, 0.2e-2, -0.3e-2, 0.0,
    ];
    let row = |i: usize, flops: f64, bytes: f64| {
        let t = (flops * 1e-12).max(bytes * 10e-12);
        let e = flops * 10e-12 + bytes * 0.1e-9 + 20.0 * t;
        (
            t * (1.0 + noise[i]),
            e * (1.0 + noise[(i + 4) % 9]),
            flops,
            bytes,
        )
    };
    let with =
        |all: &[(f64, f64, f64, f64)]| fit(&records(all), &options(Method::Capped, 50)).unwrap();
    let lacks = |fit: &Fit, name: &str| fit.not_known.iter().any(|n| n.constant == name);
    // All bound by the flops.
    let all: Vec<_> = (0..9)
        .map(|i| row(i, 6.4e11 * f64::from(1 << (i / 3)), 1e10))
        .collect();
    let compute = with(&all);
    assert!(
        !compute.time_s.contains_key(&Op::Dram) && lacks(&compute, "dram time_s"),
        "{compute:?}"
    );
    assert!((compute.time_s[&Op::F64].value / 1e-12 - 1.0).abs() < 0.01);
    assert!(lacks(&compute, "constant_power_w") && lacks(&compute, "f64 energy_j"));
    let machine = compute.to_machine("m", "M").unwrap();
    assert!(
        machine
            .warnings
            .iter()
            .any(|w| w.contains("`dram`") && w.contains("not known"))
    );
    let work = Work::new()
        .with(Op::F64, 1e9)
        .and_then(|w| w.with(Op::Dram, 1e12))
        .unwrap();
    let p = predict(&machine, &work).unwrap();
    assert_eq!((p.ops_without_time, p.energy_j), (vec![Op::Dram], None));
    // Proportional columns: either may bind.
    let all: Vec<_> = (0..9)
        .map(|i| row(i, 1e12 * (i + 1) as f64, 1e10 * (i + 1) as f64))
        .collect();
    let prop = with(&all);
    assert!(
        prop.time_s.is_empty() && prop.energy_j.is_empty(),
        "{prop:?}"
    );
    // One intensity.
    let all: Vec<_> = (0..3).map(|i| row(i, 2.5e9, 1e10)).collect();
    let one = with(&all);
    assert!(
        one.time_s.is_empty() && one.energy_j.is_empty() && one.constant_power_w.is_none(),
        "{one:?}"
    );
    // Two records, each below the roof of the other.
    let mut both: Vec<_> = (0..4).map(|i| row(i, 1e12, 1e9)).collect();
    both.extend((4..9).map(|i| row(i, 1e10, 1e11)));
    let both = with(&both);
    assert!(
        (both.time_s[&Op::Dram].value / 10e-12 - 1.0).abs() < 0.01,
        "{both:?}"
    );
    assert!((both.time_s[&Op::F64].value / 1e-12 - 1.0).abs() < 0.01);
}

#[test]
fn a_slip_of_a_time_is_named() {
    let mut records = sweep(&truth(None), 0.01, 5);
    let slips = |records: &[Record]| {
        let fit = fit(records, &FitOptions::default()).unwrap();
        let of = |w: &String| w.contains("lies") && w.contains("from the fit");
        fit.warnings.into_iter().filter(of).collect::<Vec<_>>()
    };
    assert!(slips(&records).is_empty());
    let at = records.iter().position(|r| r.occupancy >= 1.0).unwrap() + 6;
    records[at].time_s *= 1000.0;
    let found = slips(&records);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains(&format!("record {} ", at + 1)),
        "{found:?}"
    );
}
