use super::*;
use greenup_model::{Op, Work};

/// Runs of a device of a known leakage, hot and cold at every load, with `noise` on the energy.
fn device(theta_k: f64, noise: f64) -> Vec<Record> {
    let mut rng = fastrand::Rng::with_seed(3);
    let of = LeakageTemperature {
        theta_k,
        reference_k: 323.15,
    };
    let mut records = Vec::new();
    for k in 0..90 {
        let intensity = f64::from(k % 9 - 3).exp2();
        let bytes = 1e12;
        let flops = intensity * bytes;
        let clock_hz = [2.0e9, 1.8e9, 1.6e9][k as usize % 3];
        let v = 1.0 - 1.2 * (1.0 - clock_hz / 2.0e9);
        let time_s = f64::max(flops * 1e-12 * 2.0e9 / clock_hz, bytes * 4e-12);
        let celsius = 35.0 + 50.0 * rng.f64();
        let leakage = of.power_w(60.0, v, celsius + LeakageTemperature::ZERO_C);
        let energy = flops * 2e-11 * v * v + bytes * 1.2e-10 + (70.0 + leakage) * time_s;
        let (a, b) = (1.0 - rng.f64(), rng.f64());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        records.push(Record {
            benchmark: format!("f64 {k}"),
            setting: "all".into(),
            work: Work::new()
                .with(Op::F64, flops)
                .and_then(|w| w.with(Op::Dram, bytes))
                .unwrap(),
            time_s,
            energy_j: Some(energy * (1.0 + noise * normal)),
            occupancy: 1.0,
            notes: vec![
                ("_clock_hz".into(), clock_hz.to_string()),
                ("_temperature_c".into(), celsius.to_string()),
            ],
        });
    }
    records
}

#[test]
fn a_known_leakage_is_recovered() {
    let f = fit_leakage(&device(2500.0, 0.003), 40).unwrap();
    assert_eq!(f.records, 90);
    let theta = f.theta_k.unwrap();
    let inside = |c: &Constant, want: f64| {
        let slack = 0.25 * (c.hi - c.lo);
        assert!(c.lo - slack <= want && want <= c.hi + slack, "{c:?} {want}");
    };
    inside(&theta, 2500.0);
    assert!((theta.value / 2500.0 - 1.0).abs() < 0.25, "{theta:?}");
    // Constant power itself, at two temperatures.
    let truth = |c: f64| {
        let of = LeakageTemperature {
            theta_k: 2500.0,
            reference_k: 323.15,
        };
        70.0 + of.power_w(60.0, 1.0, c + LeakageTemperature::ZERO_C)
    };
    for c in [40.0, 80.0] {
        let ratio = f.constant_power_w(c, 1.0).unwrap() / truth(c);
        assert!((ratio - 1.0).abs() < 0.04, "{c}: {ratio}");
    }
    assert!(f.mean_abs_error < 0.5 * f.mean_abs_error_constant, "{f:?}");
    assert!(f.correlation.abs() < 0.3, "{}", f.correlation);
    let (with, without) = f.held_out.unwrap();
    assert!(with < 0.006 && with < 0.5 * without, "{with} {without}");
}

#[test]
fn exact_records_give_exact_constants() {
    let f = fit_leakage(&device(3000.0, 0.0), 0).unwrap();
    let theta = f.theta_k.unwrap().value;
    assert!((theta / 3000.0 - 1.0).abs() < 0.02, "{theta}");
    assert!(
        (f.voltage_slope / 1.2 - 1.0).abs() < 0.01,
        "{}",
        f.voltage_slope
    );
    assert!(f.mean_abs_error < 1e-4);
}

#[test]
fn leakage_at_one_temperature_is_not_known() {
    let mut all = device(2500.0, 0.003);
    for r in &mut all {
        r.notes[1].1 = "50".into();
    }
    let f = fit_leakage(&all, 0).unwrap();
    assert!(f.theta_k.is_none() && f.leakage_w.is_none() && f.misc_w.is_none());
    assert_eq!(f.constant_power_w(50.0, 1.0), None);
}

#[test]
fn records_without_temperatures_are_refused() {
    let mut all = device(2500.0, 0.0);
    for r in &mut all {
        r.notes.pop();
    }
    let e = fit_leakage(&all, 0).unwrap_err().to_string();
    assert!(e.contains("a temperature"), "{e}");
}
