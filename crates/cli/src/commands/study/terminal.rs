//! The results of a study in the terminal.

use greenup_app::print;
use greenup_calibrate::suite::noise::DISTURBED;
use greenup_meter::Flag;
use greenup_report::page::Fact;
use greenup_report::si::{percent, si, three};
use greenup_study::pages::study::{banner, headline};
use greenup_study::{DeviceStudy, KernelResult, Study};

/// Prints the results; the first `known` missing devices have been reported before.
pub fn print(study: &Study, known: usize) {
    for text in banner(study) {
        print::warn(text);
    }
    for (i, device) in study.devices.iter().enumerate() {
        if i > 0 {
            print::line("");
        }
        of_device(device);
    }
    for why in study.missing.iter().skip(known) {
        print::warn(why);
    }
    if study.interrupted {
        print::warn("interrupted: these are the measurements so far");
    }
}

fn of_device(study: &DeviceStudy) {
    print::line(print::bold(&format!(
        "{}: {}",
        study.device, study.machine.title
    )));
    for Fact { name, value } in headline(study) {
        print::line(format!("  {name:<30} {value}"));
    }
    print::line("");
    times(study);
    energies(study);
    for k in &study.kernels {
        if let Some(m) = &k.measured {
            for f in m.flags.iter().filter(|f| **f != Flag::NoEnergy) {
                print::warn(format!("{}: {f}", k.name));
            }
        }
        for doubt in &k.doubts {
            print::warn(format!("{}: {doubt}", k.name));
        }
    }
    print::line("");
    for k in &study.kernels {
        if let [first, second, ..] = &k.advice[..] {
            print::line(format!("{}: {first} {second}", k.name));
        }
    }
    match &study.tuning {
        Some(Ok(t)) => {
            print::line(format!("dgemm tuned: {}", t.describe()));
            if let Some(t) = &t.tradeoff {
                print::line(format!(
                    "dgemm tuned for time and for energy: {}",
                    t.describe()
                ));
            }
        }
        Some(Err(why)) => print::warn(format!("dgemm could not be tuned: {why}")),
        None => {}
    }
    // The banner has been printed.
    let warnings = (study.machine.warnings.iter()).filter(|w| !w.starts_with(DISTURBED));
    for w in study.missing.iter().chain(warnings) {
        print::warn(w);
    }
}

fn times(study: &DeviceStudy) {
    // Roofs are measured again next to the kernels of a host.
    let again = study.kernels.iter().any(|k| k.roof_then.is_some());
    let row = |k: &KernelResult| {
        let m = k.measured.as_ref()?;
        let mut row = vec![
            k.name.clone(),
            three(k.intensity),
            si(m.time_s.median, "s"),
            format!("±{}", percent(m.time_s.relative_error())),
            si(k.predicted.time_s, "s"),
            k.predicted.bound.to_string(),
        ];
        if again {
            row.push(k.roof_then.map_or("–".into(), percent));
        }
        row.push(percent(k.share_of_roof?));
        row.push(si(k.flops / m.time_s.median, "flop/s"));
        Some(row)
    };
    let mut header = vec!["kernel", "flop/B", "time", "", "predicted", "bound"];
    if again {
        header.push("roof re-measured");
    }
    header.extend(["fraction of roof", "rate"]);
    print::table(&header, study.kernels.iter().filter_map(row).collect());
}

/// Measured and predicted energies; nothing without a sensor.
fn energies(study: &DeviceStudy) {
    let row = |k: &KernelResult| {
        let m = k.measured.as_ref()?;
        let e = m.energy_j?.median;
        let mut row = vec![k.name.clone(), si(e / m.time_s.median, "W"), si(e, "J")];
        match &k.explained {
            Some(split) => row.extend([
                si(split.total_j, "J"),
                percent(split.total_j / e - 1.0),
                percent(split.arithmetic_j / split.total_j),
                percent(split.data_j / split.total_j),
                percent(split.constant_j / split.total_j),
            ]),
            None => row.extend((0..5).map(|_| "–".to_owned())),
        }
        Some(row)
    };
    let rows: Vec<Vec<String>> = study.kernels.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    print::line("");
    print::table(
        &[
            "kernel",
            "power",
            "energy",
            "predicted E",
            "error",
            "arithmetic",
            "data",
            "constant",
        ],
        rows,
    );
    for k in &study.kernels {
        if let Some(library) = &k.library {
            let energy = library.energy_j.as_ref();
            print::line(format!(
                "{} by {} in the same rounds: {}{}",
                k.name,
                library.name,
                si(library.time_s.median, "s"),
                energy.map_or_else(String::new, |e| format!(", {}", si(e.median, "J")))
            ));
        }
    }
}
