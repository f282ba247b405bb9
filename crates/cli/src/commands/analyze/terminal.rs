//! The analysis for people at a terminal.

use super::{alpha, config, efficiency, headline, learnt, rate};
use crate::out;
use greenup_report::si::{percent, si};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Row};

pub fn print(a: &Analysis, sweep: &Sweep) {
    out::line(format!(
        "{} on {}: {} trials, {} failed",
        out::bold(&a.name),
        a.device,
        a.trials,
        a.failed
    ));
    let f = &a.rows[a.fastest];
    let of = |r: &Row| {
        let again = sweep
            .best_known_cost(r.trial)
            .filter(|(_, again)| *again)
            .map(|(c, _)| format!("({} in the final rounds)", si(c.time_s, "s")));
        [
            Some(si(r.time_s, "s")),
            r.energy_j.map(|e| si(e, "J")),
            Some(rate(a, r)),
            efficiency(a, r),
            again,
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("  ")
    };
    out::line(format!(
        "fastest   {}\n          {}",
        of(f),
        config(sweep, f)
    ));
    if let Some(g) = a.greenest.map(|g| &a.rows[g]) {
        out::line(format!(
            "greenest  {}\n          {}",
            of(g),
            config(sweep, g)
        ));
        for line in headline(a) {
            out::line(format!("  {line}"));
        }
    } else {
        out::note("no energy in this sweep: time only");
    }
    if let Some(front) = &a.front {
        out::line(format!("\nPareto front, {} points:", front.points.len()));
        let rows = front
            .points
            .iter()
            .map(|p| {
                let r = &a.rows[p.row];
                vec![
                    si(r.time_s, "s"),
                    si(r.energy_j.unwrap_or(f64::NAN), "J"),
                    alpha(p.alpha),
                    config(sweep, r),
                ]
            })
            .collect();
        out::table(&["time", "energy", "wins for α", "config"], rows);
    }
    out::line(
        "\ncorrelation with performance, efficiency and their product (* moves between them):",
    );
    let coefficient = |x: Option<f64>| x.map_or_else(String::new, |v| format!("{v:+.3}"));
    let rows = a
        .correlations
        .iter()
        .map(|c| {
            vec![
                format!(
                    "{}{}",
                    c.label(a.rows.len()),
                    if c.mover { " *" } else { "" }
                ),
                coefficient(Some(c.performance)),
                coefficient(c.efficiency),
                coefficient(c.product),
            ]
        })
        .collect();
    out::table(&["", "performance", "efficiency", "product"], rows);
    out::line("\nshare of the variation that each parameter explains:");
    let rows = a
        .parameters
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let share = |v: Option<&Vec<f64>>| {
                v.and_then(|v| v.get(i))
                    .map_or_else(String::new, |x| percent(*x))
            };
            vec![
                p.clone(),
                share(Some(&a.importance_time)),
                share(a.importance_energy.as_ref()),
            ]
        })
        .collect();
    out::table(&["parameter", "time", "energy"], rows);
    for (what, l) in [("time", &a.learnt_time), ("energy", &a.learnt_energy)] {
        if let Some(l) = l {
            out::line(learnt(what, l));
        }
    }
}
