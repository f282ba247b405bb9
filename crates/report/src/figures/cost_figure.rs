//! What cases cost: a panel for each quantity, a row for each input, a bar for each setting.

use crate::chart::{Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What};

/// A case of a study.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of its row.
    pub row: String,
    /// Name of its bar.
    pub bar: String,
    /// Value and half width of its interval, of each quantity; `None` where it was not measured.
    pub costs: Vec<Option<(f64, f64)>>,
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut out: Vec<&String> = Vec::new();
    for name in names {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Quantities, each with its unit, of some cases. One that no case has has no panel.
pub fn costs(title: &str, quantities: &[(&str, &str)], cases: &[Case]) -> Chart {
    let mut rows = distinct(cases.iter().map(|c| &c.row));
    // The first on top.
    rows.reverse();
    let bars = distinct(cases.iter().map(|c| &c.bar));
    let thick = 0.84 / bars.len().max(1) as f64;
    let panel = |(q, (label, unit)): (usize, &(&str, &str))| {
        let cost = |c: &Case| c.costs[q].filter(|(v, _)| v.is_finite() && *v > 0.0);
        let most = (cases.iter().filter_map(cost)).fold(0.0, |m: f64, (v, half)| m.max(v + half));
        if most <= 0.0 {
            return None;
        }
        let names = rows.iter().map(|r| (*r).clone()).collect();
        // Room for the values after the bars.
        let mut panel = Panel::new(
            "",
            Axis::new(label, Unit::si(unit), Scale::Linear).over(0.0, 1.4 * most),
            Axis::new("", Unit::None, Scale::Names(names)),
        );
        panel.height = Height::Rows(16.0 * bars.len() as f64 + 12.0);
        for (k, name) in bars.iter().enumerate() {
            let bars = (cases.iter().filter(|c| c.bar == **name))
                .filter_map(|c| {
                    let row = rows.iter().position(|r| **r == c.row)?;
                    let (v, half) = cost(c)?;
                    let text = Unit::si(unit).show(v);
                    Some(Bar {
                        at: row as f64 + 0.42 - thick * (k as f64 + 0.5),
                        thick: 0.94 * thick,
                        from: 0.0,
                        to: v,
                        interval: (half > 0.0).then_some((v - half, v + half)),
                        ink: None,
                        tip: format!("{}; {name}: {label} {text}", c.row),
                        text,
                    })
                })
                .collect();
            let along_x = true;
            panel.push(Layer::of(k, What::Bars { bars, along_x }));
        }
        Some(panel)
    };
    Chart {
        title: title.into(),
        series: (bars.iter().enumerate())
            .map(|(k, s)| Series::new((*s).clone(), Ink::Series(k), Sign::Area))
            .collect(),
        panels: quantities.iter().enumerate().filter_map(panel).collect(),
        least_width: 400.0,
        ..Chart::default()
    }
}
