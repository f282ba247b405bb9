//! What fits found, for the terminal.

use greenup_app::print;
use greenup_calibrate::fit::clocked::ClockedFit;
use greenup_calibrate::fit::leakage::LeakageFit;
use greenup_calibrate::fit::{Constant, Errors, Fit, NotKnown};
use greenup_model::dvfs::LeakageTemperature;
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Columns};

/// Leakage over temperature (eq 40).
pub(super) fn print_leakage(fit: &LeakageFit) {
    print::line(format!(
        "\nleakage over temperature (thesis, eq 40), {} records from {:.0} to {:.0} °C:",
        fit.records, fit.temperature_c.0, fit.temperature_c.1
    ));
    let at = format!("leakage at {:.0} °C and the highest clock", fit.reference_c);
    let rows = [
        ("Θ = q V_th/(a k_a)".to_owned(), &fit.theta_k, "K"),
        (at, &fit.leakage_w, "W"),
        ("other constant power".to_owned(), &fit.misc_w, "W"),
    ];
    print_constants(&rows.map(|(name, c, unit)| match c {
        Some(c) => constant(name, c, |x| si(x, unit)),
        None => (name, Cell::missing(), Cell::text("not known")),
    }));
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
    match fit.temperature().and_then(|t| t.doubling_k(kelvin)) {
        Some(k) => print::line(format!("it doubles in {k:.0} K")),
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

/// A constant's name, value and interval.
type Row = (String, Cell, Cell);

fn constant(name: String, c: &Constant, show: impl Fn(f64) -> String) -> Row {
    let interval = c.interval().map_or_else(Cell::missing, |(lo, hi)| {
        Cell::text(format!("{} … {}", show(lo), show(hi)))
    });
    (name, Cell::number(c.value, show(c.value)), interval)
}

fn not_known(n: &NotKnown) -> Row {
    let most = Cell::shown(n.at_most, |x| format!("≤ {}", si(x, &n.unit)));
    (n.constant.clone(), most, Cell::text("not known"))
}

fn print_constants(rows: &[Row]) {
    let columns = Columns::<Row>::new()
        .text("constant", "", |r| r.0.clone())
        .cell("value", "", |r| r.1.clone())
        .cell("95 % interval", "", |r| r.2.clone());
    print::table(&columns.table("", rows));
}

/// What was fitted of the clock, and how it fares on benchmarks that it had not seen.
pub fn print_clocked(fit: &ClockedFit) {
    let mut rows = Vec::new();
    if let Some(slope) = &fit.voltage_slope {
        rows.push(constant("voltage slope".into(), slope, three));
    }
    if let Some(watts) = &fit.constant_power_w {
        rows.push(constant("constant power π₀".into(), watts, |x| {
            si(x, "W")
        }));
    }
    for (op, c) in &fit.energy_j {
        let unit = format!("J/{}", op.unit_name());
        let name = format!("{op} ε at {}", si(fit.highest_hz, "Hz"));
        rows.push(constant(name, c, |x| si(x, &unit)));
    }
    rows.extend(fit.not_known.iter().map(not_known));
    print::line("\nclock and voltage at the cap:");
    print_constants(&rows);
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
    // What was held out, with the errors by the clock and by a flat cap.
    type HeldOut<'a> = (&'a str, Option<(&'a Errors, &'a Errors)>);
    let rows: [HeldOut; 4] = [
        ("time", Some((&h.time, &h.flat_time))),
        ("energy", Some((&h.energy, &h.flat_energy))),
        (
            "time, at the cap",
            h.capped_time.as_ref().zip(h.capped_flat_time.as_ref()),
        ),
        (
            "energy, at the cap",
            h.capped_energy.as_ref().zip(h.capped_flat_energy.as_ref()),
        ),
    ];
    let columns = Columns::<(&str, &Errors, &Errors)>::new()
        .text("", "", |r| r.0.to_owned())
        .count("n", "", |r| r.1.n as u64)
        .percent("clock: mean", "", |r| r.1.mean_abs)
        .percent("largest", "", |r| r.1.max_abs)
        .percent("flat cap: mean", "", |r| r.2.mean_abs)
        .percent("largest", "", |r| r.2.max_abs);
    let known = (rows.into_iter()).filter_map(|(name, e)| e.map(|(c, f)| (name, c, f)));
    print::line("\nbenchmarks held out, predicted from their work alone:");
    print::table(&columns.table("", known));
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
    let row = |name: String, c: &Constant, unit: &str| constant(name, c, |x| si(x, unit));
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
    rows.extend(fit.not_known.iter().map(not_known));
    print_constants(&rows);
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
