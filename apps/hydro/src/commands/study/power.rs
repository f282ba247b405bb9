//! Power over time.

use super::cases::{ASSEMBLIES, WORK};
use super::row::{Row, spaces};
use greenup_report::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};

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
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.sort_unstable();
    orders.dedup();
    for order in orders {
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
                        order,
                        assembly,
                        ..Row::default()
                    });
                }
            }
        }
        all
    }

    #[test]
    fn every_trace_is_drawn_and_named() {
        let mut all = traces();
        let chart = power(&all).unwrap();
        assert_eq!((chart.panels.len(), chart.series.len()), (9, 2));
        assert!(chart.panels.iter().all(|p| p.layers.len() == 2));
        for width in [300.0, 400.0, 900.0, 1200.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
        // One that failed leaves the others.
        all[0].trace.clear();
        assert_eq!(power(&all).unwrap().panels[0].layers.len(), 1);
        // Without a sensor there is nothing to draw.
        all.iter_mut().for_each(|r| r.trace.clear());
        assert!(power(&all).is_none());
        all.iter_mut().for_each(|r| r.trace.push((1.0, f64::NAN)));
        assert!(power(&all).is_none());
    }
}
