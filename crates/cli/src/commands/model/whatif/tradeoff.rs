//! `greenup whatif tradeoff`.

use super::view;
use crate::args::WhatifArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, print};
use greenup_model::tradeoff::{Case, Gain, Tradeoff};
use greenup_report::table::Columns;
use serde_json::{Value, json};

pub fn tradeoff(args: &WhatifArgs, name: &str, intensity: &[f64], (f, m): (f64, f64)) -> Result {
    if ![f, m].iter().all(|x| x.is_finite() && *x > 1.0) {
        return Err(AppError::new("f and m must both be above 1, and finite")
            .hint("the trade is more flops (f) for fewer bytes (m)"));
    }
    let machine = machine::load(name)?;
    let r = view(args, &machine)?;
    let all: Vec<(f64, Gain)> = (intensity.iter())
        .map(|&intensity| {
            let trade = Tradeoff {
                intensity,
                extra_work: f,
                less_traffic: m,
            };
            (intensity, r.tradeoff(trade))
        })
        .collect();
    if args.json {
        let values: Vec<Value> = all.iter().map(json).collect();
        return match values.as_slice() {
            [one] => print::json(one),
            several => print::json(&several),
        };
    }
    match all.as_slice() {
        [(_, one)] => lines(&machine.title, one),
        several => table(&machine.title, several),
    }
    Ok(())
}

fn case(g: &Gain) -> &'static str {
    match g.case {
        Case::Memory => "both memory bound",
        Case::Crossing => "memory bound before, compute bound after",
        Case::Compute => "both compute bound",
    }
}

fn json((intensity, g): &(f64, Gain)) -> Value {
    json!({ "intensity": intensity, "case": case(g), "speedup": g.speedup, "greenup": g.greenup,
        "powerup": g.greenup / g.speedup, "greenup_bounds": g.greenup_bounds,
        "max_extra_work": g.max_extra_work,
        "max_extra_work_any_traffic": g.max_extra_work_any_traffic })
}

fn lines(title: &str, g: &Gain) {
    print::line(format!("{title}: {}", case(g)));
    print::line(format!("  speedup  {:.3}", g.speedup));
    print::line(format!("  powerup  {:.3}", g.greenup / g.speedup));
    print::line(format!(
        "  greenup  {:.3}   bounds of this case {:.3} … {:.3}",
        g.greenup, g.greenup_bounds.0, g.greenup_bounds.1
    ));
    print::line(format!(
        "  saves energy while f < {:.3} at this m, and never for f ≥ {:.3}",
        g.max_extra_work, g.max_extra_work_any_traffic
    ));
}

fn table(title: &str, all: &[(f64, Gain)]) {
    let of = |value: fn(&Gain) -> f64| move |r: &(f64, Gain)| format!("{:.3}", value(&r.1));
    let columns = Columns::<(f64, Gain)>::new()
        .three("flop/B", "", |r| r.0)
        .text("speedup", "", of(|g| g.speedup))
        .text("powerup", "", of(|g| g.greenup / g.speedup))
        .text("greenup", "", of(|g| g.greenup))
        .text("saves while f <", "", of(|g| g.max_extra_work))
        .text("case", "", |r| case(&r.1).to_owned());
    print::line(title);
    print::table(&columns.table("", all));
}
