//! One kernel tuned for time and for energy: part of the section on the tuning run.

use crate::tradeoff::{Tradeoff, Winner};
use greenup_meter::Summary;
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::si::si;
use greenup_report::sweep_figure::{Dot, Scatter};
use greenup_report::table::{Cell, Columns};

/// Adds both winners, what energy costs in time, and the Pareto front of the trials.
pub fn add(t: &Tradeoff, section: &mut Section) {
    section.paragraphs.push(t.describe());
    if !t.same {
        let config: Vec<String> = (t.lowest_energy.config.iter().zip(&t.fastest.config))
            .filter(|(low, fast)| low != fast)
            .map(|((name, value), _)| format!("{name} = {value}"))
            .collect();
        section.items.push(Fact::new(
            "The lowest-energy kernel differs in",
            config.join(", "),
        ));
    }
    let mut rows = vec![("fastest", &t.fastest), ("lowest energy", &t.lowest_energy)];
    rows.extend(t.library.iter().map(|(name, w)| (name.as_str(), w)));
    let interval = |s: &Summary, unit: &str| Cell::range(Some((s.lo, s.hi)), unit);
    let ratio = |v: f64| format!("{v:.3}");
    section.tables.push(
        Columns::<(&str, &Winner)>::new()
            .text("kernel", "", |(name, _)| (*name).to_owned())
            .si("time", "", "s", |(_, w)| w.time_s.median)
            .cell("95 %", "", |(_, w)| interval(&w.time_s, "s"))
            .si("energy", "", "J", |(_, w)| w.energy_j.median)
            .cell("95 %", "", |(_, w)| interval(&w.energy_j, "J"))
            .si("power", "", "W", |(_, w)| w.power_w.median)
            .shown("T / T_fastest", "", ratio, |(_, w)| {
                w.time_s.median / t.fastest.time_s.median
            })
            .shown("E / E_fastest", "", ratio, |(_, w)| {
                w.energy_j.median / t.fastest.energy_j.median
            })
            .table(
                "Tuned for time and for energy, measured again in the same rounds",
                rows,
            ),
    );
    if !t.trials.is_empty() {
        section.figures.push(front(t));
    }
}

/// All trials as runs per second and per joule.
fn front(t: &Tradeoff) -> Figure {
    let dots = (t.trials.iter())
        .map(|p| Dot {
            x: 1.0 / p.time_s,
            y: 1.0 / p.energy_j,
            tip: format!("{}, {}", si(p.time_s, "s"), si(p.energy_j, "J")),
            colour: usize::from(p.on_front),
        })
        .collect();
    let least = |of: fn(&crate::tradeoff::TrialPoint) -> f64| {
        (0..t.trials.len()).min_by(|&a, &b| of(&t.trials[a]).total_cmp(&of(&t.trials[b])))
    };
    let figure = Scatter {
        title: "Trials: products per second and per joule".into(),
        x_label: "products per second".into(),
        y_label: "products per joule".into(),
        x_unit: "/s".into(),
        y_unit: "/J".into(),
        dots,
        hull: Vec::new(),
        fastest: least(|p| p.time_s),
        lowest_energy: least(|p| p.energy_j),
        legend: vec!["trial".into(), "Pareto front".into()],
        tip_names: Vec::new(),
        ..Scatter::default()
    };
    Figure::chart(
        &figure.chart(),
        "A trial of the Pareto front is beaten by no other in both time and energy.",
    )
}
