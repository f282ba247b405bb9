//! Figures of a study: costs of a step by order, and power over time.

use super::WORK;
use super::record::{Row, Study, Trace, Traced, spaces};
use crate::session::settings::Assembly;
use greenup_report::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};

const ASSEMBLIES: [Assembly; 2] = [Assembly::Full, Assembly::Partial];

fn series(sign: Sign) -> Vec<Series> {
    let one = |(k, a): (usize, Assembly)| {
        Series::new(format!("{} assembly", a.name()), Ink::Series(k), sign)
    };
    ASSEMBLIES.into_iter().enumerate().map(one).collect()
}

fn orders(rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all: Vec<usize> = rows.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A quantity of a row: title, unit, value and half width of its interval.
type Quantity = (&'static str, &'static str, fn(&Row) -> Option<(f64, f64)>);

const COSTS: [Quantity; 3] = [
    ("time of a step", "s", |r| {
        Some((r.seconds, r.seconds * r.seconds_error))
    }),
    ("energy of a step", "J", |r| Some((r.joules?, 0.0))),
    ("power of a step", "W", |r| Some((r.watts?, 0.0))),
];

/// Time, energy and power of a step: a bar for each order and assembly. Quantities that were not measured have no
/// panel; `None` without any step.
pub fn costs(rows: &[Row]) -> Option<Chart> {
    let steps: Vec<&Row> = rows.iter().filter(|r| r.work == "step").collect();
    let orders = orders(steps.iter().map(|r| r.order));
    let panels: Vec<Panel> = COSTS
        .iter()
        .filter_map(|q| cost(q, &steps, &orders))
        .collect();
    (!panels.is_empty()).then(|| Chart {
        title: "a step of the Sedov problem, by order and assembly".into(),
        series: series(Sign::Area),
        panels,
        least_width: 280.0,
        ..Chart::default()
    })
}

fn cost((title, unit, of): &Quantity, steps: &[&Row], orders: &[usize]) -> Option<Panel> {
    let value = |r: &&Row| of(r).filter(|(v, _)| v.is_finite());
    let most = (steps.iter().filter_map(value))
        .map(|(v, half)| v + half)
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    // The first on top; room for the values after the bars.
    let names = orders.iter().rev().map(|o| spaces(*o)).collect();
    let mut panel = Panel::new(
        "",
        Axis::new(title, Unit::si(unit), Scale::Linear).over(0.0, 1.4 * most),
        Axis::new("", Unit::None, Scale::Names(names)),
    );
    panel.height = Height::Rows(48.0);
    for (k, assembly) in ASSEMBLIES.into_iter().enumerate() {
        let bars = (orders.iter().rev().enumerate())
            .filter_map(|(row, order)| {
                let same = |r: &&&Row| r.order == *order && r.assembly == assembly;
                let r = steps.iter().find(same)?;
                let (v, half) = value(r)?;
                let text = Unit::si(unit).show(v);
                Some(Bar {
                    at: row as f64 + [0.21, -0.21][k],
                    thick: 0.38,
                    from: 0.0,
                    to: v,
                    interval: (half > 0.0).then_some((v - half, v + half)),
                    ink: None,
                    tip: format!(
                        "{}, {} assembly: {title} {text}",
                        r.spaces(),
                        assembly.name()
                    ),
                    text,
                })
            })
            .collect();
        panel.push(Layer::of(
            k,
            What::Bars {
                bars,
                along_x: true,
            },
        ));
    }
    Some(panel)
}

/// Power over time: a panel for each order and kind of work, a line for each assembly, all on the same axes; `None`
/// without any trace.
pub fn power(traces: &[(Traced, Trace)]) -> Option<Chart> {
    let from_start = |t: &Trace| -> Vec<(f64, f64)> {
        let first = t.first().map_or(0.0, |p| p.0);
        t.iter().map(|(s, w)| (s - first, *w)).collect()
    };
    let all = || traces.iter().flat_map(|(_, t)| from_start(t));
    let most =
        |of: fn((f64, f64)) -> f64| all().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (last, highest) = (most(|p| p.0), most(|p| p.1));
    if last <= 0.0 || highest <= 0.0 {
        return None;
    }
    let mut panels = Vec::new();
    for order in orders(traces.iter().map(|(of, _)| of.order)) {
        for (work, _) in WORK {
            let mut panel = Panel::new(
                &format!("{}, {work}", spaces(order)),
                Axis::new("time", Unit::si("s"), Scale::Linear).over(0.0, last),
                Axis::new("power", Unit::si("W"), Scale::Linear).over(0.0, 1.08 * highest),
            );
            panel.height = Height::Ratio(0.6);
            for (k, assembly) in ASSEMBLIES.into_iter().enumerate() {
                let of = Traced {
                    order,
                    assembly,
                    work,
                };
                for (_, trace) in traces.iter().filter(|(o, t)| *o == of && t.len() > 1) {
                    let tip = format!("{}, {work}, {} assembly", spaces(order), assembly.name());
                    panel.push(Layer::line(k, from_start(trace), tip));
                }
            }
            if !panel.layers.is_empty() {
                panels.push(panel);
            }
        }
    }
    (!panels.is_empty()).then(|| Chart {
        title: "power over time".into(),
        series: series(Sign::Line),
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
        let power = power(&self.traces).map(|c| {
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

    fn traces() -> Vec<(Traced, Trace)> {
        let mut all = Vec::new();
        for order in [2, 3, 4] {
            for assembly in ASSEMBLIES {
                for (work, _) in WORK {
                    let trace = (0..40)
                        .map(|i| (3.0 + 0.1 * f64::from(i), 100.0 + 10.0 * order as f64))
                        .collect();
                    let of = Traced {
                        order,
                        assembly,
                        work,
                    };
                    all.push((of, trace));
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
        all[0].1.clear();
        assert_eq!(power(&all).unwrap().panels[0].layers.len(), 1);
        // Without a sensor there is nothing to draw.
        all.iter_mut().for_each(|(_, t)| t.clear());
        assert!(power(&all).is_none());
        all.iter_mut().for_each(|(_, t)| t.push((1.0, f64::NAN)));
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
