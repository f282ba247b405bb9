//! The analysis for people at a terminal.

use greenup_app::print;
use greenup_report::si::{percent, si};
use greenup_study::pages::sweep::as_known;
use greenup_study::pages::sweep::findings::{
    against_baseline, alpha, config, efficiency, headline, learnt, rate,
};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, MeasuredConfig};

pub fn print(a: &Analysis, sweep: &Sweep) {
    print::line(format!(
        "{} on {}: {} trials, {} failed",
        print::bold(&a.name),
        a.device,
        a.trials,
        a.failed
    ));
    let f = &a.rows[a.fastest];
    let of = |r: &MeasuredConfig| {
        let single = r.time_s;
        let r = &as_known(sweep, r);
        let again = (r.time_s != single)
            .then(|| format!("(in the final rounds; {} in its trial)", si(single, "s")));
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
    print::line(format!(
        "fastest   {}\n          {}",
        of(f),
        config(sweep, f)
    ));
    if let Some(g) = a.lowest_energy.map(|g| &a.rows[g]) {
        print::line(format!(
            "lowest energy\n          {}\n          {}",
            of(g),
            config(sweep, g)
        ));
        for line in headline(a) {
            print::line(format!("  {line}"));
        }
    } else {
        print::note("no energy in this sweep: time only");
    }
    if let Some(b) = sweep.against_baseline() {
        print::line(format!("baseline  {}", against_baseline(sweep, &b)));
    }
    if let Some(front) = &a.front {
        print::line(format!("\nPareto front, {} points:", front.points.len()));
        let rows = front
            .points
            .iter()
            .map(|p| {
                let r = &a.rows[p.row];
                vec![
                    si(r.time_s, "s"),
                    r.energy_j.map_or_else(|| "—".to_owned(), |e| si(e, "J")),
                    alpha(p.alpha),
                    config(sweep, r),
                ]
            })
            .collect();
        print::table(&["time", "energy", "optimal for α", "config"], rows);
    }
    print::line(
        "\ncorrelation with performance, efficiency and their product (*: rank differs between them):",
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
    print::table(&["", "performance", "efficiency", "product"], rows);
    print::line("\nshare of the variation that each parameter explains:");
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
    print::table(&["parameter", "time", "energy"], rows);
    for (what, l) in [("time", &a.learnt_time), ("energy", &a.learnt_energy)] {
        if let Some(l) = l {
            print::line(learnt(what, l));
        }
    }
}
