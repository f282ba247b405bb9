//! Figures of a study: costs of a step by order, and power over time.

use super::WORK;
use super::record::{Row, Study, spaces};
use crate::session::settings::Assembly;
use greenup_report::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};
use greenup_report::cost_figure::{self, Case};

const ASSEMBLIES: [Assembly; 2] = [Assembly::Full, Assembly::Partial];

fn orders(rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all: Vec<usize> = rows.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Time, energy and power of a step: a bar for each order and assembly; `None` without any step.
pub fn costs(rows: &[Row]) -> Option<Chart> {
    let quantities = [
        ("time of a step", "s"),
        ("energy of a step", "J"),
        ("power of a step", "W"),
    ];
    let case = |r: &Row| Case {
        row: r.spaces(),
        bar: format!("{} assembly", r.assembly.name()),
        costs: vec![
            Some((r.seconds, r.seconds * r.seconds_error)),
            r.joules.map(|j| (j, 0.0)),
            r.watts.map(|w| (w, 0.0)),
        ],
    };
    let steps: Vec<Case> = (rows.iter().filter(|r| r.work == "step"))
        .map(case)
        .collect();
    let title = "a step of the Sedov problem, by order and assembly";
    let chart = cost_figure::costs(title, &quantities, &steps);
    (!chart.panels.is_empty()).then_some(chart)
}

/// Power over time: a panel for each order and kind of work, a line for each assembly, all on the same axes; `None`
/// without any trace.
pub fn power(rows: &[Row]) -> Option<Chart> {
    let from_start = |t: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let first = t.first().map_or(0.0, |p| p.0);
        t.iter().map(|(s, w)| (s - first, *w)).collect()
    };
    let all = || rows.iter().flat_map(|r| from_start(&r.trace));
    let most =
        |of: fn((f64, f64)) -> f64| all().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (last, highest) = (most(|p| p.0), most(|p| p.1));
    if last <= 0.0 || highest <= 0.0 {
        return None;
    }
    let mut panels = Vec::new();
    for order in orders(rows.iter().map(|r| r.order)) {
        for (work, _) in WORK {
            let mut panel = Panel::new(
                &format!("{}, {work}", spaces(order)),
                Axis::new("time", Unit::si("s"), Scale::Linear).over(0.0, last),
                Axis::new("power", Unit::si("W"), Scale::Linear).over(0.0, 1.08 * highest),
            );
            panel.height = Height::Ratio(0.6);
            for (k, assembly) in ASSEMBLIES.into_iter().enumerate() {
                let of = (order, assembly, work);
                let same = |r: &&Row| (r.order, r.assembly, r.work.as_str()) == of;
                for r in rows.iter().filter(same).filter(|r| r.trace.len() > 1) {
                    let tip = format!("{}, {work}, {} assembly", r.spaces(), assembly.name());
                    panel.push(Layer::line(k, from_start(&r.trace), tip));
                }
            }
            if !panel.layers.is_empty() {
                panels.push(panel);
            }
        }
    }
    (!panels.is_empty()).then(|| Chart {
        title: "power over time".into(),
        series: (ASSEMBLIES.into_iter().enumerate())
            .map(|(k, a)| Series::new(format!("{} assembly", a.name()), Ink::Series(k), Sign::Line))
            .collect(),
        panels,
        least_width: 280.0,
        ..Chart::default()
    })
}

impl Study {
    /// Figures with captions, for a page.
    pub fn figures(&self) -> Vec<(Chart, &'static str)> {
        let intervals = self.rows.iter().any(|r| r.seconds_error > 0.0);
        let caption = match intervals {
            true => "Bars through the ends: 95 % intervals.",
            false => "",
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

    fn traces() -> Vec<Row> {
        let mut all = Vec::new();
        for order in [2, 3, 4] {
            for assembly in ASSEMBLIES {
                for (work, _) in WORK {
                    let trace = (0..40)
                        .map(|i| (3.0 + 0.1 * f64::from(i), 100.0 + 10.0 * order as f64))
                        .collect();
                    all.push(Row {
                        work: work.into(),
                        trace,
                        ..row(order, assembly, None)
                    });
                }
            }
        }
        all
    }

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
            joules_per_unknown: None,
            device: String::new(),
            host_watts: None,
            predicted: None,
            trace: Vec::new(),
        }
    }

    fn clear(chart: &Chart) {
        for width in [300.0, 400.0, 900.0, 1200.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
    }

    #[test]
    fn every_trace_is_drawn_and_named() {
        let mut all = traces();
        let chart = power(&all).unwrap();
        assert_eq!((chart.panels.len(), chart.series.len()), (9, 2));
        assert!(chart.panels.iter().all(|p| p.layers.len() == 2));
        clear(&chart);
        // One that failed leaves the others.
        all[0].trace.clear();
        assert_eq!(power(&all).unwrap().panels[0].layers.len(), 1);
        // Without a sensor there is nothing to draw.
        all.iter_mut().for_each(|r| r.trace.clear());
        assert!(power(&all).is_none());
        all.iter_mut().for_each(|r| r.trace.push((1.0, f64::NAN)));
        assert!(power(&all).is_none());
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
