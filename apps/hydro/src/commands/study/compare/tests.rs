//! Tests of comparisons.

use super::pairs::pairs;
use super::power::CpuPower;
use super::table;
use crate::commands::study::row::Row;
use crate::session::settings::Assembly;
use greenup_model::Machine;
use greenup_model::machine::Label;

fn row(device: &str, seconds: f64, watts: Option<f64>, host: Option<f64>) -> Row {
    Row {
        order: 2,
        assembly: Assembly::Partial,
        work: "step".into(),
        zones: 64,
        unknowns: 1000,
        seconds,
        watts,
        joules: watts.map(|w| w * seconds),
        device: device.into(),
        host_watts: host,
        ..Row::default()
    }
}

fn machine() -> Machine {
    Machine::from_toml(
        "name = \"m\"\ntitle = \"M\"\nfacts = { threads = \"10\" }\n\
         constant_power_w = { value = 40.0, lo = 20.0, hi = 50.0 }\n\
         usable_power_w = { value = 60.0, lo = 40.0, hi = 70.0 }\n\
         cost.f64 = { time_s = { value = 1e-12 } }\n",
    )
    .unwrap()
}

#[test]
fn measured_powers_need_no_machine() {
    let p = pairs(
        &[row("cpu", 1.0, Some(100.0), None)],
        &[row("cuda:0", 0.25, Some(120.0), Some(30.0))],
        None,
    );
    let p = &p[0];
    assert_eq!((p.speedup, p.label), (4.0, Label::Measured));
    let (powerup, greenup) = (p.powerup.unwrap(), p.greenup.unwrap());
    assert!((powerup.value - 100.0 / 150.0).abs() < 1e-12 && powerup.lo == powerup.hi);
    assert!((greenup.value - 4.0 * powerup.value).abs() < 1e-12);
}

#[test]
fn without_a_sensor_the_cpu_is_estimated_with_its_interval() {
    let cpu = Some(CpuPower::of(&machine()).unwrap());
    let base = [row("cpu", 1.0, None, None)];
    let all = [
        row("cuda:0", 0.25, Some(100.0), None),
        row("cuda:0+cpu", 0.5, Some(100.0), None),
    ];
    let p = pairs(&base, &all, cpu);
    // One of ten cores waits: 40 + 6 W.
    let g = p[0].greenup.unwrap();
    assert!((g.value - 100.0 / (0.25 * 146.0)).abs() < 1e-12);
    assert!((g.lo - 60.0 / (0.25 * 124.0)).abs() < 1e-12);
    assert!((g.hi - 120.0 / (0.25 * 157.0)).abs() < 1e-12);
    assert!((p[1].powerup.unwrap().value - 0.5).abs() < 1e-12);
    assert!(p.iter().all(|p| p.label == Label::Estimated));
    assert!(table(&p).markdown().contains("estimated"));
    // Without a machine only the speedup is known.
    let p = pairs(&base, &all, None);
    assert!(p[0].greenup.is_none() && p[0].speedup == 4.0);
    assert!(table(&p).markdown().contains("unknown"));
    // Other zones are not compared.
    let mut other = all[0].clone();
    other.zones = 65;
    assert!(pairs(&base, &[other], cpu).is_empty());
}

#[test]
fn a_machine_without_powers_is_refused() {
    let mut m = machine();
    m.usable_power_w = None;
    let e = format!("{:?}", CpuPower::of(&m).unwrap_err());
    assert!(e.contains("usable_power_w"), "{e}");
}
