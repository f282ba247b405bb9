//! The results of a study in the terminal.

use greenup_app::print;
use greenup_calibrate::suite::noise::DISTURBED;
use greenup_meter::{Flag, Summary};
use greenup_report::page::Fact;
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use greenup_study::energy::EnergySplit;
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
    type Row<'a> = (&'a KernelResult, &'a Summary, f64);
    let columns = Columns::<Row>::new()
        .text("kernel", "", |(k, ..)| k.name.clone())
        .three("flop/B", "", |(k, ..)| k.intensity)
        .si("time", "", "s", |(_, t, _)| t.median)
        .text("", "", |(_, t, _)| {
            format!("±{}", percent(t.relative_error()))
        })
        .si("predicted", "", "s", |(k, ..)| k.predicted.time_s)
        .text("bound", "", |(k, ..)| k.predicted.bound.to_string())
        // Roofs are measured again next to the kernels of a host.
        .percent("roof re-measured", "", |(k, ..)| k.roof_then)
        .where_known()
        .percent("fraction of roof", "", |(.., share)| *share)
        .si("rate", "", "flop/s", |(k, t, _)| k.flops / t.median);
    let rows = (study.kernels.iter())
        .filter_map(|k| Some((k, &k.measured.as_ref()?.time_s, k.share_of_roof?)));
    print::table(&columns.table("", rows));
}

/// Measured and predicted energies; nothing without a sensor.
fn energies(study: &DeviceStudy) {
    // A kernel with its time and its energy.
    type Row<'a> = (&'a KernelResult, f64, f64);
    let rows = study.kernels.iter().filter_map(|k| {
        let m = k.measured.as_ref()?;
        Some((k, m.time_s.median, m.energy_j?.median))
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        return;
    }
    print::line("");
    let share = |k: &KernelResult, of: fn(&EnergySplit) -> f64| {
        k.explained.as_ref().map(|split| of(split) / split.total_j)
    };
    let columns = Columns::<Row>::new()
        .text("kernel", "", |(k, ..)| k.name.clone())
        .si("power", "", "W", |(_, t, e)| e / t)
        .si("energy", "", "J", |(.., e)| *e)
        .si("predicted E", "", "J", |(k, ..)| {
            k.explained.as_ref().map(|split| split.total_j)
        })
        .percent("error", "", |(k, _, e)| {
            k.explained.as_ref().map(|split| split.total_j / e - 1.0)
        })
        .percent("arithmetic", "", |(k, ..)| share(k, |s| s.arithmetic_j))
        .percent("data", "", |(k, ..)| share(k, |s| s.data_j))
        .percent("constant", "", |(k, ..)| share(k, |s| s.constant_j));
    print::table(&columns.table("", rows));
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
