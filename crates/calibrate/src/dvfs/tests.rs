use super::*;

#[test]
fn broken_files_name_line_and_column() {
    let head = "2\n975,3505\n1,1\nA,B\n";
    for (body, want) in [
        ("", "line 5"),
        ("100,975,3505,0.5,x\n", "line 5, column 5"),
        ("100,975,3505,0.5,0.5\n100,975,3505\n", "line 6"),
        ("0,975,3505,0.5,0.5\n", "0 W"),
    ] {
        let e = parse("p.csv", &format!("{head}{body}"))
            .unwrap_err()
            .to_string();
        assert!(e.contains(want), "{e}");
    }
    // What the header and the units do not allow.
    for (text, want) in [
        ("2\n975,3505\n1,1\nA,B\n100,975,3505,0.5\n", "line 5"),
        ("2\n975,3505\n1,2\nA,B\n100,975,3505,0.5,0.5\n", "line 4"),
        ("2\n975,3505\n1,1\nA,A\n100,975,3505,0.5,0.5\n", "named `A`"),
        ("2\n975,3505\n2,0\nA,B\n100,975,3505,0.5,0.5\n", "line 3"),
        ("2\n0,3505\n1,1\nA,B\n100,975,3505,0.5,0.5\n", "line 2"),
        (
            "2\n975,3505\n1,1\nA,B\n100,975e6,3505,0.5,0.5\n",
            "clock in MHz",
        ),
        (
            "2\n975,3505\n1,1\nA,B\n100,975,3505,50,0.5\n",
            "utilisation",
        ),
    ] {
        let e = parse("p.csv", text).unwrap_err().to_string();
        assert!(e.contains(want), "{e}");
    }
    let named = format!("{head}app one,100,975,3505,0.5,0.25\n");
    let read = parse("p.csv", &named).unwrap().samples.remove(0);
    assert_eq!((read.power_w, read.core_mhz), (100.0, 975.0));
    assert_eq!(read.utilisation, [0.5, 0.25]);
    assert!(
        parse("p.csv", "3\n")
            .unwrap_err()
            .cause
            .contains("two clock domains")
    );
    for counts in ["0,1", "1,0.5", "1,1e30", "4,15555555555555555555"] {
        let e = parse("p.csv", &format!("2\n975,3505\n{counts}\nA,B\n")).unwrap_err();
        assert!(
            e.line == 3 && e.cause.contains("number of components"),
            "{e}"
        );
    }
}

/// `machines/k40c.toml` is made of this data.
#[test]
fn the_constants_of_the_k40c_follow_from_its_data() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dvfs/k40c.csv");
    let data = parse("k40c.csv", &std::fs::read_to_string(path).unwrap()).unwrap();
    let at_base: Vec<&PowerSample> = (data.samples.iter())
        .filter(|s| s.core_mhz == 745.0)
        .collect();
    assert_eq!(at_base.len(), 100);
    // Power = π₀ + Σ uᵢ Pᵢ, in relative errors.
    let rows: Vec<Vec<f64>> = (at_base.iter())
        .map(|s| {
            let all = std::iter::once(1.0).chain(s.utilisation.iter().copied());
            all.map(|u| u / s.power_w).collect()
        })
        .collect();
    let a = DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]);
    let x = crate::linalg::nnls(&a, &vec![1.0; rows.len()]);
    let m = greenup_model::shipped::find("k40c").unwrap().unwrap();
    let (pi0, fma) = (x[0], x[1 + 2]);
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.002, "{a} {b}");
    near(m.constant_power_w.as_ref().unwrap().value, pi0);
    let of = |op| m.cost_of(op).unwrap().energy_j.as_ref().unwrap().value;
    near(of(greenup_model::Op::F32), fma / 4.29e12);
    let most = (at_base.iter())
        .max_by(|a, b| a.utilisation[7].total_cmp(&b.utilisation[7]))
        .unwrap();
    near(
        of(greenup_model::Op::Dram),
        (most.power_w - pi0) / (most.utilisation[7] * 288e9),
    );
}

#[test]
fn a_synthetic_device_is_recovered() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut samples = Vec::new();
    for _ in 0..30 {
        let u = vec![rng.f64(), rng.f64()];
        for core_mhz in [600.0, 800.0, 1000.0, 1100.0, 1200.0] {
            for mem_mhz in [800.0, 3000.0] {
                let (c, m) = (core_mhz / 1200.0, mem_mhz / 3000.0);
                let v = volt(c, 1.2, 0.7);
                samples.push(PowerSample {
                    power_w: 20.0
                        + 10.0 * v
                        + v * v * c * (30.0 + 80.0 * u[0])
                        + m * (5.0 + 40.0 * u[1]),
                    core_mhz,
                    mem_mhz,
                    utilisation: u.clone(),
                });
            }
        }
    }
    let data = PowerData {
        default_mhz: (1000.0, 3000.0),
        core_components: 1,
        components: vec![],
        samples,
    };
    let fixed = validate(&data, PowerModel::FixedVoltage)
        .leave_setting_out
        .unwrap();
    let fitted = validate(&data, PowerModel::FittedVoltage)
        .leave_setting_out
        .unwrap();
    assert!(
        fitted < 0.01 && fitted < 0.3 * fixed,
        "{fitted} against {fixed}"
    );
}

/// Samples of the device above at some clocks.
fn at(core: &[f64], mem: &[f64]) -> PowerData {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut samples = Vec::new();
    for _ in 0..40 {
        let u = vec![rng.f64(), rng.f64()];
        for &core_mhz in core {
            for &mem_mhz in mem {
                let (c, m) = (core_mhz / 1200.0, mem_mhz / 3000.0);
                let v = volt(c, 1.2, 0.7);
                samples.push(PowerSample {
                    power_w: 20.0 + v * v * c * (30.0 + 80.0 * u[0]) + m * (5.0 + 40.0 * u[1]),
                    core_mhz,
                    mem_mhz,
                    utilisation: u.clone(),
                });
            }
        }
    }
    PowerData {
        default_mhz: (1200.0, 3000.0),
        core_components: 1,
        components: vec![],
        samples,
    }
}

#[test]
fn a_voltage_is_known_from_two_clocks_and_its_knee_from_three() {
    let constants = |core: &[f64], mem: &[f64]| {
        let data = at(core, mem);
        let all: Vec<&PowerSample> = data.samples.iter().collect();
        PowerFit::new(&data, &all, PowerModel::FittedVoltage).constants(&data)
    };
    // One clock of each: power that depends on none is one sum.
    let one = constants(&[1200.0], &[3000.0]);
    assert!(one.core_voltage.is_none() && one.voltage_ratio == (None, None));
    assert_eq!((one.misc_w, one.leakage_w), (None, (None, None)));
    // The parts that go with utilisation are known all the same: 80 W of the core at its voltage.
    let v = volt(1.0, 1.2, 0.7);
    let of_core = one.coefficients[CONSTANT_COLUMNS].unwrap();
    assert!(of_core > 0.0 && of_core < 81.0 * v * v, "{of_core}");
    let two = constants(&[600.0, 1200.0], &[3000.0]);
    assert!(two.core_voltage.is_none() && two.mem_voltage.is_none());
    let ratio = two.voltage_ratio.0.unwrap();
    assert!((ratio / v - 1.0).abs() < 0.02, "{ratio}");
    let three = constants(&[600.0, 800.0, 900.0, 1000.0, 1200.0], &[3000.0]);
    let knee = three.core_voltage.unwrap().knee;
    assert!((knee - 0.7).abs() < 0.05, "{knee}");
    assert!(three.mem_voltage.is_none() && three.voltage_ratio.1.is_none());
}

#[test]
fn a_single_setting_or_kernel_is_not_held_out() {
    let errors = validate(&at(&[1200.0], &[3000.0]), PowerModel::FittedVoltage);
    assert_eq!((errors.settings, errors.leave_setting_out), (1, None));
    assert!(errors.leave_kernels_out.unwrap() < 0.01);
    let mut data = at(&[600.0, 1200.0], &[3000.0]);
    for s in &mut data.samples {
        s.utilisation = vec![0.5, 0.5];
    }
    let errors = validate(&data, PowerModel::FittedVoltage);
    assert_eq!(errors.leave_kernels_out, None);
    assert_eq!(race_to_halt(&data, PowerModel::FittedVoltage).kernels, 0);
}
