//! Fits to measurements at several clocks and voltages.

use crate::args::FitArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_app::progress::Bars;
use greenup_calibrate::dvfs::{self, PowerFit, PowerModel};
use greenup_files::read_text;
use greenup_meter::Observer as _;
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
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
    let name = |e: &dvfs::PowerErrors| match e.model {
        PowerModel::FixedVoltage => "voltage fixed (V = 1)",
        PowerModel::FittedVoltage => "voltage a function of clock",
        PowerModel::Saturating => "… and utilisation saturates",
        PowerModel::KnownKernel => "… for a kernel seen at other settings",
    };
    let columns = Columns::<dvfs::PowerErrors>::new()
        .text("model", "", |e| name(e).to_owned())
        .percent("one setting out", "", |e| e.leave_setting_out)
        .percent("kernels out", "", |e| e.leave_kernels_out);
    print::line(format!(
        "{} samples at {} settings; mean absolute error of power on what was held out:",
        data.samples.len(),
        errors.first().map_or(0, |e| e.settings)
    ));
    print::table(&columns.table("", &errors));
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
    let columns = Columns::<(&str, &dvfs::ExcessEnergy)>::new()
        .text("chosen by", "", |r| r.0.to_owned())
        .text("not the best for", "", |r| {
            format!("{} of {}", r.1.wrong, halt.kernels)
        })
        .percent("energy lost there", "", |r| r.1.mean)
        .percent("least", "", |r| r.1.least)
        .percent("largest", "", |r| r.1.largest);
    print::line(
        "Settings chosen for kernels that the model has not seen, against the one that spends least:",
    );
    let rows = [
        ("model", &halt.model),
        ("time (race to halt)", &halt.fastest),
    ];
    print::table(&columns.table("", rows));
    print::line("power was measured; times follow from utilisations, since the data has none");
    Ok(())
}
