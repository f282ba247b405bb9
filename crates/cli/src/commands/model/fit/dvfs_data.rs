//! Fits to measurements at several clocks and voltages.

use crate::args::FitArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_app::progress::Bars;
use greenup_calibrate::dvfs::{self, PowerFit, PowerModel};
use greenup_files::read_text;
use greenup_meter::Observer as _;
use greenup_report::si::{percent, si};
use serde_json::json;

pub(super) fn run_dvfs(args: &FitArgs) -> Result {
    let text = read_text(&args.file)?;
    let data = dvfs::parse(&args.file.display().to_string(), &text)?;
    if args.race_to_halt {
        return run_races(args, &data);
    }
    let all: Vec<_> = data.samples.iter().collect();
    let errors: Vec<_> = {
        let bars = Bars::new();
        bars.stage("validating", PowerModel::ALL.len());
        PowerModel::ALL
            .into_iter()
            .map(|m| {
                let errors = dvfs::validate(&data, m);
                bars.step(&format!("{m:?}"));
                errors
            })
            .collect()
    };
    let fit = PowerFit::new(&data, &all, PowerModel::Saturating).constants(&data);
    if args.json {
        return print::json(
            &json!({ "samples": data.samples.len(), "fit": fit, "errors": errors }),
        );
    }
    let error = |e: Option<f64>| e.map_or("–".into(), percent);
    let rows = errors
        .iter()
        .map(|e| {
            let name = match e.model {
                PowerModel::FixedVoltage => "voltage fixed (V = 1)",
                PowerModel::FittedVoltage => "voltage a function of clock",
                PowerModel::Saturating => "… and utilisation saturates",
                PowerModel::KnownKernel => "… for a kernel seen at other settings",
            };
            vec![
                name.to_owned(),
                error(e.leave_setting_out),
                error(e.leave_kernels_out),
            ]
        })
        .collect();
    print::line(format!(
        "{} samples at {} settings; mean absolute error of power on what was held out:",
        data.samples.len(),
        errors.first().map_or(0, |e| e.settings)
    ));
    print::table(&["model", "one setting out", "kernels out"], rows);
    print::line("");
    for (name, curve, ratio) in [
        ("core", fit.core_voltage, fit.voltage_ratio.0),
        ("memory", fit.mem_voltage, fit.voltage_ratio.1),
    ] {
        print::line(match (curve, ratio) {
            (Some(v), _) if v.volt(v.max_clock_hz) < 1.005 => {
                format!("{name} voltage: the same at all clocks")
            }
            (Some(v), _) => format!(
                "{name} voltage: flat up to {}, then rising to {:.2} of its floor at {}",
                si(v.knee * v.max_clock_hz, "Hz"),
                v.volt(v.max_clock_hz),
                si(v.max_clock_hz, "Hz")
            ),
            (None, Some(ratio)) => format!(
                "{name} voltage: {ratio:.2} times as high at the higher of two clocks; where it begins to rise is not known"
            ),
            (None, None) => format!("{name} voltage: not known, as there is one clock"),
        });
    }
    let watts = |w: Option<f64>| w.map_or("not known".to_owned(), |w| si(w, "W"));
    print::line(format!(
        "leakage of the core {}, of the memory {}; other constant power {}",
        watts(fit.leakage_w.0),
        watts(fit.leakage_w.1),
        watts(fit.misc_w)
    ));
    Ok(())
}

/// The thesis's table 8 for a device.
fn run_races(args: &FitArgs, data: &dvfs::PowerData) -> Result {
    let halt = {
        let bars = Bars::new();
        bars.stage("choosing settings", 1);
        dvfs::race_to_halt(data, PowerModel::Saturating)
    };
    if halt.kernels == 0 {
        return Err(AppError::new(format!(
            "{}: fewer than two kernels were measured at two settings or more, so none can be chosen for a kernel that the model has not seen",
            args.file.display()
        )));
    }
    if args.json {
        return print::json(&halt);
    }
    print::line(format!(
        "Does race-to-halt save energy here? {}: the fastest setting spends more than the best for {} of {} kernels{}.",
        if halt.pays { "Yes" } else { "No" },
        halt.fastest.wrong,
        halt.kernels,
        match halt.fastest.wrong {
            0 => String::new(),
            _ => format!(", {} more on average for these", percent(halt.fastest.mean)),
        }
    ));
    let row = |name: &str, l: &dvfs::ExcessEnergy| {
        vec![
            name.to_owned(),
            format!("{} of {}", l.wrong, halt.kernels),
            percent(l.mean),
            percent(l.least),
            percent(l.largest),
        ]
    };
    print::line(
        "Settings chosen for kernels that the model has not seen, against the one that spends least:",
    );
    print::table(
        &[
            "chosen by",
            "not the best for",
            "energy lost there",
            "least",
            "largest",
        ],
        vec![
            row("model", &halt.model),
            row("time (race to halt)", &halt.fastest),
        ],
    );
    print::line("power was measured; times follow from utilisations, since the data has none");
    Ok(())
}
