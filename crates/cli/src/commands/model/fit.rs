//! `greenup fit`.

use crate::args::FitArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::progress::Bars;
use greenup_app::provenance::Provenance;
use greenup_app::{output, print};
use greenup_calibrate::dvfs::{self, PowerFit, PowerModel};
use greenup_calibrate::fit::clocked::{ClockedFit, fit_clocked};
use greenup_calibrate::fit::leakage::{LeakageFit, fit_leakage};
use greenup_calibrate::fit::{Constant, Errors, Fit, FitOptions, fit};
use greenup_calibrate::machine::of_records;
use greenup_calibrate::record::{self, Record};
use greenup_files::{Outputs, read_text};
use greenup_meter::Observer as _;
use greenup_model::Machine;
use greenup_model::dvfs::LeakageTemperature;
use greenup_report::si::{percent, si, three};
use greenup_study::pages::calibration::Calibrated;
use serde_json::json;
use std::time::Instant;

pub fn run(args: &FitArgs) -> Result {
    if args.dvfs {
        return run_dvfs(args);
    }
    let mut outputs = Outputs::new();
    outputs.input(&args.file);
    let to = output::optional(&mut outputs, args.out.as_deref(), &["toml"], args.json)?;
    let page_to = (args.page.as_deref())
        .map(|path| Output::file(&mut outputs, path, &["html", "htm"]))
        .transpose()?;
    let mut from = Provenance::of_process();
    let start = Instant::now();
    let records = record::read(&args.file)?;
    let options = FitOptions {
        method: args.method.into(),
        resamples: args.resamples.max(20),
        ..FitOptions::default()
    };
    if args.clocked {
        return run_clocked(args, &records, &options, to);
    }
    let title = format!("fitted to {}", args.file.display());
    let of_file = |e: String| AppError::new(format!("{}: {e}", args.file.display()));
    let seeded = options.seed;
    let (machine, fit) = if args.roofs {
        let (machine, mut fit, _) = of_records(&args.name, &title, &records, &options)
            .map_err(|e| of_file(e.to_string()))?;
        fit.set_times(&machine);
        (Some(machine), fit)
    } else {
        let fit = fit(&records, &options).map_err(|e| of_file(e.to_string()))?;
        let wanted = to.is_some() || page_to.is_some();
        let machine = wanted.then(|| fit.to_machine(&args.name, &title));
        (machine.transpose()?, fit)
    };
    if let Some(machine) = &machine {
        save(to.as_ref(), machine)?;
        if let Some(to) = &page_to {
            from.took("fit", start.elapsed().as_secs_f64());
            // Only records of a GPU hold its clock.
            let calibrated = Calibrated {
                machine,
                fit: &fit,
                records: &records,
                gpu: machine.clock.is_some(),
            };
            write_page(&calibrated, &from.seeded(Some(seeded)), to)?;
        }
    }
    if args.json {
        return print::json(&fit);
    }
    if to.is_some_and(|to| to.is_stdout()) {
        return Ok(());
    }
    print(&fit);
    if !args.roofs && is_calibration(&records) {
        print::note(
            "times are least squares over all records; `calibrate` and `study` take the best rate that any sustained: --roofs does the same",
        );
    }
    Ok(())
}

/// Whether `greenup calibrate` or `study` wrote these records.
fn is_calibration(records: &[Record]) -> bool {
    records.iter().all(|r| r.note("_time_lo_s").is_some())
}

/// Writes the page of a calibration.
pub fn write_page(calibrated: &Calibrated, from: &Provenance, to: &Output) -> Result {
    let mut page = calibrated.page()?;
    page.provenance = from.facts();
    to.write(page.render()?.as_bytes())?;
    to.print_name();
    Ok(())
}

fn save(to: Option<&Output>, machine: &Machine) -> Result {
    if let Some(to) = to {
        to.write(machine.to_toml()?.as_bytes())?;
        to.print_name();
    }
    Ok(())
}

/// The cap through the clock.
fn run_clocked(
    args: &FitArgs,
    records: &[Record],
    options: &FitOptions,
    to: Option<Output>,
) -> Result {
    let fit = fit_clocked(records, options.resamples).map_err(|e| {
        AppError::new(format!("{}: {e}", args.file.display()))
            .hint("records need the columns energy_j and _clock_hz; `greenup calibrate --device cuda` writes them")
    })?;
    if to.is_some() {
        let title = format!("fitted to {}", args.file.display());
        let (machine, ..) = of_records(&args.name, &title, records, options)?;
        save(to.as_ref(), &machine)?;
    }
    // Records of other programs may hold no temperature.
    let leakage = fit_leakage(records, options.resamples.min(60)).ok();
    if args.json {
        let mut all = serde_json::to_value(&fit)?;
        if let Some(all) = all.as_object_mut() {
            all.insert("leakage".into(), serde_json::to_value(&leakage)?);
        }
        return print::json(&all);
    }
    if !to.is_some_and(|to| to.is_stdout()) {
        print_clocked(&fit);
        if let Some(leakage) = &leakage {
            print_leakage(leakage);
        }
    }
    Ok(())
}

/// Leakage over temperature (eq 40).
fn print_leakage(fit: &LeakageFit) {
    let row = |name: String, c: &Constant, unit: &str| {
        vec![
            name,
            si(c.value, unit),
            format!("{} … {}", si(c.lo, unit), si(c.hi, unit)),
        ]
    };
    print::line(format!(
        "\nleakage over temperature (eq 40), {} records from {:.0} to {:.0} °C:",
        fit.records, fit.temperature_c.0, fit.temperature_c.1
    ));
    let at = format!("leakage at {:.0} °C and the highest clock", fit.reference_c);
    let rows = vec![
        row("Θ = q V_th/(a k_a)".into(), &fit.theta_k, "K"),
        row(at, &fit.leakage_w, "W"),
        row("other constant power".into(), &fit.misc_w, "W"),
    ];
    print::table(&["constant", "value", "95 % interval"], rows);
    print::line(format!(
        "energy error with measured time and clock: mean {}, against {} with one constant power",
        percent(fit.mean_abs_error),
        percent(fit.mean_abs_error_constant)
    ));
    if let Some((with, without)) = fit.held_out {
        print::line(format!(
            "of benchmarks left out of the fit: mean {}, against {}",
            percent(with),
            percent(without)
        ));
    }
    let kelvin = fit.reference_c + LeakageTemperature::ZERO_C;
    match (fit.distinguished, fit.temperature().doubling_k(kelvin)) {
        (true, Some(k)) => print::line(format!("it doubles in {k:.0} K")),
        _ => print::line(
            "these records do not tell leakage from other constant power: measure at more temperatures",
        ),
    }
    if fit.correlation > 0.5 {
        print::warn(format!(
            "temperature and power of the operations rise together in the records (correlation {:.2}): part of this leakage may be power of the load. Fix: measure the same benchmarks on a cold and on a hot device",
            fit.correlation
        ));
    }
}

/// What was fitted of the clock, and how it fares on benchmarks that it had not seen.
pub fn print_clocked(fit: &ClockedFit) {
    let row = |name: String, c: &Constant, value: &dyn Fn(f64) -> String| {
        vec![
            name,
            value(c.value),
            format!("{} … {}", value(c.lo), value(c.hi)),
        ]
    };
    let mut rows = vec![
        row("voltage slope".into(), &fit.voltage_slope, &|x| three(x)),
        row("constant power π₀".into(), &fit.constant_power_w, &|x| {
            si(x, "W")
        }),
    ];
    for (op, c) in &fit.energy_j {
        let unit = format!("J/{}", op.unit_name());
        rows.push(row(
            format!("{op} ε at {}", si(fit.highest_hz, "Hz")),
            c,
            &|x| si(x, &unit),
        ));
    }
    print::line("\nclock and voltage at the cap:");
    print::table(&["constant", "value", "95 % interval"], rows);
    if fit.cap_w.is_finite() {
        print::line(format!("cap: {}", si(fit.cap_w, "W")));
    }
    if let Some(e) = &fit.energy_errors {
        print::line(format!(
            "energy error with measured time and clock: mean {}, largest {} over {} records",
            percent(e.mean_abs),
            percent(e.max_abs),
            e.n
        ));
    }
    let Some(h) = &fit.held_out else { return };
    let both = |c: &Errors, f: &Errors| {
        vec![
            c.n.to_string(),
            percent(c.mean_abs),
            percent(c.max_abs),
            percent(f.mean_abs),
            percent(f.max_abs),
        ]
    };
    let mut table = Vec::new();
    let mut add = |name: &str, c: Option<&Errors>, f: Option<&Errors>| {
        if let (Some(c), Some(f)) = (c, f) {
            let mut r = vec![name.to_owned()];
            r.extend(both(c, f));
            table.push(r);
        }
    };
    add("time", Some(&h.time), Some(&h.flat_time));
    add("energy", Some(&h.energy), Some(&h.flat_energy));
    add(
        "time, at the cap",
        h.capped_time.as_ref(),
        h.capped_flat_time.as_ref(),
    );
    add(
        "energy, at the cap",
        h.capped_energy.as_ref(),
        h.capped_flat_energy.as_ref(),
    );
    print::line("\nbenchmarks held out, predicted from their work alone:");
    print::table(
        &[
            "",
            "n",
            "clock: mean",
            "largest",
            "flat cap: mean",
            "largest",
        ],
        table,
    );
    if !h.skipped.is_empty() {
        print::line(format!(
            "not held out, as they alone reach the roof of a class: {}",
            h.skipped.join(", ")
        ));
    }
    print::line(format!(
        "clock: mean error {}, largest {}",
        percent(h.clock.mean_abs),
        percent(h.clock.max_abs)
    ));
}

/// The fit as a table.
pub fn print(fit: &Fit) {
    let row = |name: String, c: &Constant, unit: &str| {
        vec![
            name,
            si(c.value, unit),
            format!("{} … {}", si(c.lo, unit), si(c.hi, unit)),
        ]
    };
    let mut rows = Vec::new();
    for (op, c) in &fit.time_s {
        rows.push(row(format!("{op} τ"), c, &format!("s/{}", op.unit_name())));
    }
    for (op, c) in &fit.energy_j {
        rows.push(row(format!("{op} ε"), c, &format!("J/{}", op.unit_name())));
    }
    if let Some(c) = &fit.constant_power_w {
        rows.push(row("constant power π₀".into(), c, "W"));
    }
    if let Some(c) = &fit.usable_power_w {
        rows.push(row("usable power Δπ".into(), c, "W"));
    }
    print::table(&["constant", "value", "95 % interval"], rows);
    print::line("");
    let errors = |what: &str, e: &Option<greenup_calibrate::fit::Errors>| {
        if let Some(e) = e {
            print::line(format!(
                "{what}: mean {}, sd {}, largest {} over {} records",
                percent(e.mean_abs),
                percent(e.sd),
                percent(e.max_abs),
                e.n
            ));
        }
    };
    errors("time error of the fit", &fit.time_errors);
    errors("energy error of the fit", &fit.energy_errors);
    if let Some(v) = &fit.validation {
        errors("energy error on settings held out", &v.by_setting);
        errors("energy error on benchmarks held out", &v.by_benchmark);
        if let Some(ks) = &v.capped_against_uncapped {
            print::line(format!(
                "capped against uncapped: mean error of performance {} against {}, Kolmogorov–Smirnov D = {}, p = {}",
                percent(ks.mean_abs_error_capped),
                percent(ks.mean_abs_error_uncapped),
                three(ks.statistic),
                three(ks.p_value)
            ));
        }
    }
    if let Some(c) = fit.condition_number {
        print::line(format!(
            "condition number of the energy design: {}",
            three(c)
        ));
    }
    for w in &fit.warnings {
        print::warn(w);
    }
}

fn run_dvfs(args: &FitArgs) -> Result {
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
    let fit = PowerFit::new(&data, &all, PowerModel::Saturating);
    if args.json {
        return print::json(
            &json!({ "samples": data.samples.len(), "fit": fit, "errors": errors }),
        );
    }
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
                percent(e.leave_setting_out),
                e.leave_kernels_out.map_or("–".into(), percent),
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
    for (name, v) in [("core", &fit.core_voltage), ("memory", &fit.mem_voltage)] {
        let top = v.max_clock_hz;
        print::line(format!(
            "{name} voltage: flat up to {}, then rising to {:.2} of its floor at {}",
            si(v.knee * top, "Hz"),
            v.volt(top),
            si(top, "Hz")
        ));
    }
    Ok(())
}

/// The thesis's table 8 for a device.
fn run_races(args: &FitArgs, data: &dvfs::PowerData) -> Result {
    let halt = {
        let bars = Bars::new();
        bars.stage("choosing settings", 1);
        dvfs::race_to_halt(data, PowerModel::Saturating)
    };
    if args.json {
        return print::json(&halt);
    }
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
        "settings chosen for kernels that the model has not seen, against the one that spends least:",
    );
    print::table(
        &["chosen by", "wrong", "energy lost", "least", "largest"],
        vec![
            row("model", &halt.model),
            row("time (race to halt)", &halt.fastest),
        ],
    );
    print::line("power was measured; times follow from utilisations, since the data has none");
    Ok(())
}
