//! The course of a search: its best so far.

use super::plane::{tip, tip_names};
use greenup_report::best_figure::{Course, Trial, best_so_far};
use greenup_report::chart::Chart;
use greenup_report::si::si;
use greenup_tune::analyze::{Analysis, MeasuredConfig};
use greenup_tune::{Objective, Sweep};

/// What the search minimised, time or energy: the best so far over its trials.
pub fn chart(a: &Analysis, sweep: &Sweep) -> Chart {
    let by_energy = a.lowest_energy.is_some()
        && matches!(
            sweep.own_objective(),
            Ok(Objective::Energy | Objective::EnergyUnderTime(_))
        );
    let value = |r: &MeasuredConfig| match by_energy {
        true => r.energy_j,
        false => Some(r.time_s),
    };
    let (label, unit) = if by_energy {
        ("energy", "J")
    } else {
        ("time", "s")
    };
    let course = Course {
        label: label.into(),
        unit: unit.into(),
        trials: (a.rows.iter())
            .filter_map(|r| {
                Some(Trial {
                    number: r.trial + 1,
                    value: value(r)?,
                    tip: tip(sweep, r),
                })
            })
            .collect(),
    };
    let title = format!("{}: best so far", a.name);
    best_so_far(&title, &course, tip_names(sweep))
}

/// What the chart shows, and how long the search took.
pub fn caption(sweep: &Sweep) -> String {
    let rounds = match sweep.finals {
        Some(_) => ", which the final rounds may not confirm",
        None => "",
    };
    let dots = format!(
        "Each dot is a config in its trial; the line is the best single trial until then{rounds}."
    );
    let last = sweep.clock().and_then(|c| c.last().copied());
    match last.filter(|s| *s > 0.0) {
        Some(s) if s < 600.0 => format!("{dots} The search took {}.", si(s, "s")),
        Some(s) => format!("{dots} The search took {:.0} min.", s / 60.0),
        None => dots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::sweep::tests::sweep;
    use greenup_tune::analyze::analyze;

    #[test]
    fn the_objective_is_shown_and_the_duration_told() {
        let mut sweep = sweep(true, true);
        let a = analyze(&sweep, 0.5, 1).unwrap();
        let label = |sweep: &Sweep| chart(&a, sweep).panels[0].y.title.clone();
        assert_eq!(label(&sweep), "time");
        sweep.facts.objective = Some("energy".into());
        assert_eq!(label(&sweep), "energy");
        assert!(caption(&sweep).contains("The search took "));
        assert!(!caption(&super::super::tests::sweep(true, false)).contains("took"));
    }
}
