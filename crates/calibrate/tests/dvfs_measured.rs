//! The DVFS fit on measured board power of four GPUs (`data/dvfs/README.md` says whose).
#![allow(clippy::print_stdout)] // the errors themselves are worth reading with --nocapture

use greenup_calibrate::dvfs::{PowerModel, parse, validate};
use std::io::Read as _;

fn check(name: &str, text: &str, baseline: f64) {
    let data = parse(name, text).unwrap();
    for model in PowerModel::ALL {
        let e = validate(&data, model);
        println!(
            "{name} {model:?}: setting out {:.2} %, kernels out {:.2} %",
            100.0 * e.leave_setting_out.unwrap(),
            100.0 * e.leave_kernels_out.unwrap_or(f64::NAN)
        );
        // The published baseline is what V = 1 must give, and no model may be worse than it.
        let percent = 100.0 * e.leave_setting_out.unwrap();
        assert!(percent <= baseline + 0.05, "{model:?}: {percent}");
        if model == PowerModel::FixedVoltage {
            assert!(
                (percent - baseline).abs() < 0.15,
                "{percent} against {baseline}"
            );
        }
        if model == PowerModel::KnownKernel {
            assert!(
                percent <= 0.5 * baseline,
                "{percent} is not half of {baseline}"
            );
        }
    }
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    let mut file = flate2::read::GzDecoder::new(packed);
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn gtx_980() {
    check("gtx980.csv", include_str!("data/dvfs/gtx980.csv"), 3.2);
}

#[test]
fn k40c() {
    check("k40c.csv", include_str!("data/dvfs/k40c.csv"), 6.7);
}

#[test]
#[ignore = "slow: 64 settings, each held out once for every model"]
fn titan_x_at_length() {
    let text = unpacked(include_bytes!("data/dvfs/titanx.csv.gz"));
    check("titanx.csv", &text, 7.3);
}

#[test]
fn rx_580() {
    let text = unpacked(include_bytes!("data/dvfs/rx580.csv.gz"));
    check("rx580.csv", &text, 14.1);
}
