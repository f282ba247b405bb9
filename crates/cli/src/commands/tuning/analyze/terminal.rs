//! The analysis for people at a terminal.

use greenup_app::print;
use greenup_report::table::Columns;
use greenup_study::pages::sweep::findings::{against_baseline, gain, headline, learnt};
use greenup_study::pages::sweep::parameters::ranked;
use greenup_study::pages::sweep::tables;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation};

pub fn print(a: &Analysis, sweep: &Sweep) {
    print::line(format!(
        "{} on {}: {} trials, {} failed",
        print::bold(&a.name),
        a.device,
        a.trials,
        a.failed
    ));
    if let Some(stopped) = sweep.stopped_in_words() {
        print::line(stopped);
    }
    for row in &tables::best(a, sweep).rows {
        let known = row.iter().filter(|c| !c.is_missing());
        let texts: Vec<&str> = known.map(|c| c.text.as_str()).collect();
        if let [name, numbers @ .., config] = &texts[..] {
            let name = match name.len() {
                ..10 => format!("{name:<10}"),
                _ => format!("{name}\n          "),
            };
            print::line(format!("{name}{}\n          {config}", numbers.join("  ")));
        }
    }
    if a.lowest_energy.is_some() {
        for line in headline(a, sweep) {
            print::line(format!("  {line}"));
        }
    } else {
        print::note("no energy in this sweep: time only");
    }
    if let Some(b) = sweep.against_baseline() {
        print::line(format!("baseline  {}", against_baseline(sweep, &b)));
    }
    if let Some(g) = sweep.gain() {
        print::line(format!("gain      {}", gain(sweep, &g)));
    }
    if let Some(front) = &a.front {
        let points = match front.points.len() {
            1 => "1 point".to_owned(),
            n => format!("{n} points"),
        };
        print::line(format!("\nPareto front, {points}:"));
        print::table(&tables::front(a, sweep, &front.points));
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
    print::table(&tables::importance(a, ranked(a)));
    for (what, l) in [("time", &a.learnt_time), ("energy", &a.learnt_energy)] {
        if let Some(l) = l {
            print::line(learnt(what, l));
        }
    }
}
