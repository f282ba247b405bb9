//! The course of a search: its best so far over trials and time.

use super::figures::{tip, tip_names};
use greenup_report::best_figure::{Course, Trial, best_so_far};
use greenup_report::chart::Chart;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, MeasuredConfig};

/// Time and, where it was measured, energy: the best so far over trials, and over time where it was recorded.
pub fn chart(a: &Analysis, sweep: &Sweep) -> Chart {
    let clock = sweep.clock();
    let of = |label: &str, unit: &str, value: &dyn Fn(&MeasuredConfig) -> Option<f64>| Course {
        label: label.into(),
        unit: unit.into(),
        trials: (a.rows.iter())
            .filter_map(|r| {
                Some(Trial {
                    number: r.trial + 1,
                    clock_s: clock.as_ref().map(|c| c[r.trial]),
                    value: value(r)?,
                    tip: tip(sweep, r),
                })
            })
            .collect(),
    };
    let mut courses = vec![of("time", "s", &|r| Some(r.time_s))];
    if a.lowest_energy.is_some() {
        courses.push(of("energy", "J", &|r| r.energy_j));
    }
    let title = format!("{}: best so far", a.name);
    best_so_far(&title, &courses, tip_names(sweep))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::sweep::tests::sweep;
    use greenup_tune::analyze::analyze;

    #[test]
    fn a_panel_a_quantity_and_axis_that_was_recorded() {
        for (energy, clock, panels) in [(true, true, 4), (true, false, 2), (false, true, 2)] {
            let sweep = sweep(energy, clock);
            let a = analyze(&sweep, 0.5, 1).unwrap();
            assert_eq!(chart(&a, &sweep).panels.len(), panels, "{energy} {clock}");
        }
    }
}
