//! The analysis for people at a terminal.

use greenup_app::print;
use greenup_report::si::si;
use greenup_report::table::Columns;
use greenup_study::pages::sweep::as_known;
use greenup_study::pages::sweep::findings::{
    against_baseline, alpha, config, efficiency, headline, learnt, rate,
};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation, FrontPoint, MeasuredConfig};

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
        let row = |p: &FrontPoint| &a.rows[p.row];
        let columns = Columns::<FrontPoint>::new()
            .si("time", "", "s", |p| row(p).time_s)
            .si("energy", "", "J", |p| row(p).energy_j)
            .text("optimal for α", "", |p| alpha(p.alpha))
            .text("config", "", |p| config(sweep, row(p)));
        print::table(&columns.table("", &front.points));
    }
    print::line(
        "\ncorrelation with performance, efficiency and their product (*: rank differs between them):",
    );
    let coefficient = |x: f64| format!("{x:+.3}");
    let columns = Columns::<Correlation>::new()
        .text("", "", |c| {
            let star = if c.mover { " *" } else { "" };
            format!("{}{star}", c.label(a.rows.len()))
        })
        .shown("performance", "", coefficient, |c| c.performance)
        .shown("efficiency", "", coefficient, |c| c.efficiency)
        .shown("product", "", coefficient, |c| c.product);
    print::table(&columns.table("", &a.correlations));
    print::line("\nshare of the variation that each parameter explains:");
    let share = |of: Option<&Vec<f64>>, i: usize| of.and_then(|v| v.get(i).copied());
    let columns = Columns::<(usize, &String)>::new()
        .text("parameter", "", |(_, name)| (*name).clone())
        .percent("time", "", |(i, _)| share(Some(&a.importance_time), *i))
        .percent("energy", "", |(i, _)| {
            share(a.importance_energy.as_ref(), *i)
        });
    print::table(&columns.table("", a.parameters.iter().enumerate()));
    for (what, l) in [("time", &a.learnt_time), ("energy", &a.learnt_energy)] {
        if let Some(l) = l {
            print::line(learnt(what, l));
        }
    }
}
