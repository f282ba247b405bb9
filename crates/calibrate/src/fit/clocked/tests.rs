use super::*;
use greenup_model::Work;
use greenup_model::predict_clocked;

/// Records of a made-up GPU with v = f/f_max, a cap of 600 W and 1 % of noise.
fn made_up() -> Vec<Record> {
    let mut rng = fastrand::Rng::with_seed(3);
    let truth = |e: f64| OpCost {
        time_s: Some(Estimate::new(1e-12)),
        energy_j: Some(Estimate::new(e)),
        clock_hz: Some(2e9),
    };
    let m = Machine {
        clock: Some(Clocking {
            highest_hz: Estimate::new(2e9),
            voltage_slope: Estimate::new(1.0),
            cap_w: Estimate::new(600.0),
        }),
        ..Machine::from_toml(
            "name = 'm'\ntitle = 'm'\nconstant_power_w = { value = 100.0 }\n[cost.f64]\ntime_s = { value = 1.0 }\n",
        )
        .unwrap()
    };
    let m = Machine {
        cost: [
            (Op::F64, truth(4.5e-10)),
            (Op::F32, truth(2e-10)),
            (Op::Dram, truth(3e-10)),
        ]
        .into(),
        ..m
    };
    let mut out = Vec::new();
    for (name, op) in [("a", Op::F64), ("b", Op::F32)] {
        for (i, bytes) in [0.0, 0.1, 0.3, 0.6, 1.0, 2.0].into_iter().enumerate() {
            for share in [0.25, 0.5, 1.0] {
                let work = Work::new()
                    .with(op, 1e12)
                    .and_then(|w| w.with(Op::Dram, 1e12 * bytes))
                    .unwrap();
                // Part of the device takes so much longer at a share of the power.
                let p = predict_clocked(&m, &work).unwrap();
                let (t, f) = if share < 1.0 {
                    (1.0_f64.max(bytes) / share, 2e9)
                } else {
                    (p.time_s, p.clock_hz)
                };
                let v = f / 2e9;
                let e: f64 = m
                    .cost
                    .iter()
                    .map(|(&op, c)| {
                        let e = work.count(op) * c.energy_j.as_ref().unwrap().value;
                        if op == Op::Dram { e } else { e * v * v }
                    })
                    .sum();
                out.push(Record {
                    benchmark: format!("{name}{i}"),
                    setting: String::new(),
                    work,
                    time_s: t,
                    energy_j: Some((e + 100.0 * t) * (0.99 + 0.02 * rng.f64())),
                    occupancy: share,
                    notes: vec![("_clock_hz".into(), format!("{f}"))],
                });
            }
        }
    }
    out
}

#[test]
fn a_falling_voltage_is_found_and_predicts_what_a_flat_cap_cannot() {
    let fit = fit_clocked(&made_up(), 50).unwrap();
    let slope = fit.voltage_slope.unwrap();
    assert!((slope.value - 1.0).abs() < 0.15, "{fit:?}");
    assert!(slope.lo <= slope.value && fit.not_known.is_empty());
    assert!((fit.cap_w / 600.0 - 1.0).abs() < 0.02);
    assert!((fit.energy_j[&Op::F64].value / 4.5e-10 - 1.0).abs() < 0.03);
    let held = fit.held_out.unwrap();
    assert!(
        held.time.mean_abs < 0.02 && held.energy.mean_abs < 0.02,
        "{held:?}"
    );
    assert!(held.capped_flat_time.unwrap().mean_abs > 2.0 * held.capped_time.unwrap().mean_abs);
}

#[test]
fn what_the_clocks_and_loads_do_not_tell_is_not_known() {
    // One clock: no slope. No loads of part of the device: time goes with the work.
    let mut records = made_up();
    for r in &mut records {
        r.notes[0].1 = "2e9".into();
    }
    let fit = fit_clocked(&records, 20).unwrap();
    assert!(fit.voltage_slope.is_none(), "{fit:?}");
    assert_eq!(fit.warnings().len(), 1, "{:?}", fit.not_known);
    for r in &mut records {
        r.time_s = r.work.count(Op::Dram) * 1e-12 + 0.5;
        r.work = Work::new().with(Op::Dram, r.time_s * 1e12).unwrap();
    }
    let fit = fit_clocked(&records, 20).unwrap();
    assert!(fit.constant_power_w.is_none() && fit.energy_j.is_empty());
    let names: Vec<&str> = fit.not_known.iter().map(|n| n.constant.as_str()).collect();
    assert!(names.contains(&"constant_power_w") && names.contains(&"dram energy_j"));
}

#[test]
fn records_without_clocks_are_refused() {
    let mut records = made_up();
    for r in &mut records {
        r.notes.clear();
    }
    assert!(fit_clocked(&records, 10).is_err());
}
