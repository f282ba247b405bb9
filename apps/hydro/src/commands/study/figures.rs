//! Figures of a study.

use super::cases::ASSEMBLIES;
use super::power::power;
use super::record::Study;
use super::row::Row;
use crate::session::settings::Assembly;
use greenup_report::chart::Chart;
use greenup_report::cost_figure::{self, Case};

/// Time, energy and power of a step: a bar for each order and assembly; `None` without any step.
pub fn costs(rows: &[Row]) -> Option<Chart> {
    let quantities = [
        ("time of a step", "s"),
        ("energy of a step", "J"),
        ("power of a step", "W"),
    ];
    let bar = |a: Assembly| format!("{} assembly", a.name());
    let case = |r: &Row| Case {
        row: r.spaces(),
        bar: bar(r.assembly),
        costs: vec![
            Some((r.seconds, r.seconds * r.seconds_error)),
            r.joules.map(|j| (j, 0.0)),
            r.watts.map(|w| (w, 0.0)),
        ],
    };
    let mut steps: Vec<&Row> = rows.iter().filter(|r| r.work == "step").collect();
    steps.sort_by_key(|r| r.order);
    let steps: Vec<Case> = steps.into_iter().map(case).collect();
    let title = "a step of the Sedov problem, by order and assembly";
    let chart = cost_figure::costs(title, &quantities, &ASSEMBLIES.map(bar), &steps);
    (!chart.panels.is_empty()).then_some(chart)
}

impl Study {
    /// Figures with captions, for a page.
    pub fn figures(&self) -> Vec<(Chart, &'static str)> {
        let intervals = self.rows.iter().any(|r| r.seconds_error > 0.0);
        let caption = if intervals {
            "Bars through the ends: 95 % intervals."
        } else {
            ""
        };
        let costs = costs(&self.rows).map(|c| (c, caption));
        let power = power(&self.rows).map(|c| {
            (
                c,
                "All panels have the same axes; time begins with the first reading.",
            )
        });
        costs.into_iter().chain(power).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(order: usize, assembly: Assembly, joules: Option<f64>) -> Row {
        Row {
            order,
            assembly,
            work: "step".into(),
            zones: 8,
            unknowns: 100,
            seconds: 1e-3 * order as f64,
            seconds_error: 0.02,
            watts: joules.map(|j| j / (1e-3 * order as f64)),
            joules,
            ..Row::default()
        }
    }

    fn clear(chart: &Chart) {
        for width in [300.0, 400.0, 900.0, 1200.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
    }

    #[test]
    fn costs_have_a_panel_for_what_was_measured() {
        assert!(costs(&[]).is_none());
        let mut rows = Vec::new();
        for order in 1..=8 {
            for assembly in ASSEMBLIES {
                rows.push(row(order, assembly, None));
            }
        }
        let chart = costs(&rows).unwrap();
        assert_eq!(chart.panels.len(), 1);
        clear(&chart);
        rows.iter_mut()
            .for_each(|r| *r = row(r.order, r.assembly, Some(12.0)));
        let chart = costs(&rows).unwrap();
        assert_eq!(chart.panels.len(), 3);
        clear(&chart);
        rows[0].seconds = f64::NAN;
        clear(&costs(&rows[..1]).unwrap());
    }
}
