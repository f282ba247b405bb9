//! What cases cost: a panel for each quantity, a row for each input, a bar for each setting.

use super::bar_rows::{self, Bars, Row, RowBar};
use crate::chart::{Chart, Panel, Series, Sign, Unit};

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

/// Quantities, each with its unit, of some cases, with their `bars` in order. Of cases with the same row and bar the first is
/// drawn. A quantity that no case has has no panel.
pub fn costs(title: &str, quantities: &[(&str, &str)], bars: &[String], cases: &[Case]) -> Chart {
    let mut names: Vec<&String> = Vec::new();
    for case in cases {
        if !names.contains(&&case.row) {
            names.push(&case.row);
        }
    }
    let panel = |(q, (label, unit)): (usize, &(&str, &str))| -> Option<Panel> {
        let unit = Unit::si(unit);
        let bar = |row: &String, bar: &String| {
            let case = cases.iter().find(|c| c.row == *row && c.bar == *bar)?;
            let (value, half) = case.costs[q].filter(|(v, _)| v.is_finite() && *v > 0.0)?;
            Some(RowBar {
                value,
                interval: (half > 0.0).then_some((value - half, value + half)),
                tip: format!("{row}, {bar}: {label} {}", unit.show(value)),
            })
        };
        let rows: Vec<Row> = (names.iter())
            .map(|row| ((*row).clone(), bars.iter().map(|b| bar(row, b)).collect()))
            .collect();
        let any = rows.iter().any(|r| r.1.iter().any(Option::is_some));
        any.then(|| bar_rows::panel("", label, unit.clone(), Bars::Beside, &rows))
    };
    Chart {
        title: title.into(),
        series: Series::all(bars.iter().cloned(), Sign::Area),
        panels: quantities.iter().enumerate().filter_map(panel).collect(),
        least_width: 400.0,
        ..Chart::default()
    }
}
