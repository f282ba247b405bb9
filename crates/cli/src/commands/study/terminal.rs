//! The results of a study in the terminal.

use greenup_app::print;
use greenup_calibrate::suite::noise::DISTURBED;
use greenup_meter::Flag;
use greenup_report::page::Fact;
use greenup_report::si::si;
use greenup_study::pages::study::{banner, energy, headline, kernels};
use greenup_study::{DeviceStudy, Study};

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
    print::table(&kernels::columns().table("", kernels::timed(study)));
    print_energies(study);
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

/// Measured and predicted energies; nothing without a sensor.
fn print_energies(study: &DeviceStudy) {
    let rows = energy::energies(study);
    if rows.is_empty() {
        return;
    }
    print::line("");
    print::table(&energy::columns().table("", rows));
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
