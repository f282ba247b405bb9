//! What the power cap slows: `greenup whatif schedule` and `no-throttle` (slides 95 to 101 of Choi et al.).

use super::view::view;
use crate::args::{Intensities, WhatifArgs};
use greenup_app::args::FigureArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, output, print};
use greenup_files::Outputs;
use greenup_model::cap::Regime;
use greenup_model::{EnergyRoofline, Machine, Op};
use greenup_report::si::{si, three};
use greenup_report::table::Columns;
use greenup_study::pages::throttling;
use serde_json::{Value, json};
use std::path::Path;

fn limit(r: &EnergyRoofline, intensity: f64) -> &'static str {
    match r.regime(intensity) {
        Regime::Memory => "memory",
        Regime::Cap => "power cap",
        Regime::Compute => "compute",
    }
}

/// The flop class that the two-class view shows.
fn class(args: &WhatifArgs, m: &Machine) -> Op {
    args.flop.or(m.main_flop()).unwrap_or(Op::F64)
}

/// A machine whose clock follows the cap is slowed less: the voltage falls too.
fn note_clock(m: &Machine) {
    if m.clock.is_some() {
        print::note(format!(
            "{} lowers clock and voltage at its cap, which slows it less than this flat cap: `greenup predict` uses its clock",
            m.name
        ));
    }
}

pub fn schedule(
    args: &WhatifArgs,
    name: &str,
    watts: Option<f64>,
    intensity: &Intensities,
    out: Option<&Path>,
    look: &FigureArgs,
) -> Result {
    let mut outputs = Outputs::new();
    let m = machine::input(name, &mut outputs)?;
    let figure = output::figure(&mut outputs, out, args.json)?;
    let bounded = match watts {
        Some(w) => m.power_bounded(w)?,
        None => m.clone(),
    };
    let r = view(args, &bounded)?;
    if r.dpi.is_none() {
        return Err(
            AppError::new(format!("machine `{}` has no power cap", m.name))
                .hint("bound its total power with --watts"),
        );
    }
    if let Some(to) = &figure {
        let (least, most) = intensity.span();
        let range = if least < most {
            (least, most)
        } else {
            (0.25 * least, 4.0 * least)
        };
        to.write_chart(
            &throttling::figure(&[(m.title.clone(), r)], range),
            &look.look(),
        )?;
        if to.is_stdout() {
            return Ok(());
        }
    }
    let (minus, plus) = (r.balance_minus(), r.balance_plus());
    if args.json {
        let points: Vec<Value> = (intensity.0.iter())
            .map(|&i| {
                let (t, time) = (r.throttling(i), r.time_per_flop(i));
                json!({ "intensity": i, "limit": limit(&r, i), "slowdown_flop": t.flop,
                        "slowdown_mem": t.mem, "flops_per_s": 1.0 / time,
                        "bytes_per_s": 1.0 / (i * time), "power_w": r.power(i) })
            })
            .collect();
        return print::json(&json!({ "machine": m.name, "flop": class(args, &m).name(),
            "constant_power_w": r.pi0, "usable_power_w": r.dpi,
            // Without an end where the cap binds for ever.
            "cap_binds_from": minus, "cap_binds_to": plus.is_finite().then_some(plus),
            "points": points }));
    }
    print::line(format!(
        "{}: {} and slow memory, at most {}",
        m.title,
        class(args, &m),
        si(r.pi0 + r.dpi.unwrap_or(0.0), "W")
    ));
    let (from, to) = (three(minus), three(plus));
    print::line(match (minus > 0.0, plus.is_finite()) {
        _ if minus >= plus => "The power cap slows no intensity.".to_owned(),
        (true, true) => format!("The power cap slows intensities from {from} to {to} flop/B."),
        (true, false) => format!("The power cap slows intensities above {from} flop/B."),
        (false, true) => format!("The power cap slows intensities below {to} flop/B."),
        (false, false) => "The power cap slows every intensity.".to_owned(),
    });
    let columns = Columns::<f64>::new()
        .three("flop/B", "", |i| *i)
        .text("limit", "", |i| limit(&r, *i).to_owned())
        .text("s_flop", "", |i| format!("{:.3}", r.throttling(*i).flop))
        .text("s_mem", "", |i| format!("{:.3}", r.throttling(*i).mem))
        .si("flops", "", "flop/s", |i| 1.0 / r.time_per_flop(*i))
        .si("memory", "", "B/s", |i| 1.0 / (i * r.time_per_flop(*i)))
        .si("power", "", "W", |i| r.power(*i));
    print::table(&columns.table("", &intensity.0));
    print::line("s_flop, s_mem: time of a flop and of a byte over those at their peak");
    note_clock(&m);
    Ok(())
}

pub fn no_throttle(args: &WhatifArgs, name: &str, range: Option<(f64, f64)>) -> Result {
    let (lo, hi) = range.unwrap_or((0.0, f64::INFINITY));
    let m = machine::load(name)?;
    let r = view(args, &m)?;
    let c = r.cap_without_throttling(lo, hi);
    let all = m.full_power();
    // The cap slows the intensity that needs the most power by the ratio of the two.
    let slowdown = r.dpi.map(|dpi| (c.least_w / dpi).max(1.0));
    if args.json {
        return print::json(&json!({ "machine": m.name, "flop": class(args, &m).name(),
            "sufficient_w": c.sufficient_w, "least_w": c.least_w, "at_intensity": c.intensity,
            "constant_power_w": r.pi0, "total_w": r.pi0 + c.least_w,
            "usable_power_w": r.dpi, "largest_slowdown": slowdown, "all_units_w": all }));
    }
    print::line(format!("{}: {} and slow memory", m.title, class(args, &m)));
    let range = match range {
        Some(_) => format!("least Δπ from {} to {} flop/B", three(lo), three(hi)),
        None => "least Δπ over all intensities".to_owned(),
    };
    let mut rows = vec![
        (
            "sufficient: π_flop (1 + Bε/Bτ)",
            Some(c.sufficient_w),
            format!(
                "π_flop {}, Bε {}, Bτ {} flop/B",
                si(r.pi_flop(), "W"),
                three(r.energy_balance()),
                three(r.time_balance())
            ),
        ),
        (
            &range,
            Some(c.least_w),
            format!("needed at {} flop/B", three(c.intensity)),
        ),
        (
            "with constant power π₀",
            Some(r.pi0 + c.least_w),
            format!("π₀ {}", si(r.pi0, "W")),
        ),
    ];
    if let Some(all) = all {
        rows.push((
            "with every unit busy at once",
            Some(all),
            "Δπ for any mix of all classes".to_owned(),
        ));
    }
    let slows = match slowdown {
        Some(s) if s > 1.0 => format!("slows by up to {s:.3}"),
        Some(_) => "slows nothing".to_owned(),
        None => "no cap".to_owned(),
    };
    rows.push(("its usable power Δπ", r.dpi, slows));
    let columns = Columns::<(&str, Option<f64>, String)>::new()
        .text("", "", |r| r.0.to_owned())
        .si("power", "", "W", |r| r.1)
        .text("", "", |r| r.2.clone());
    print::table(&columns.table("", rows));
    note_clock(&m);
    Ok(())
}
