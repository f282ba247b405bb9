//! Named rows with a dot a series, joined by a line, the first row on top.

use crate::chart::{Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What};

/// A row: its name, and a value a series where it has one.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the row.
    pub name: String,
    /// Values in the order of the series.
    pub values: Vec<Option<f64>>,
}

/// The rows over an axis. A series alone has lines from zero.
pub fn dumbbells(title: &str, x: Axis, series: &[&str], rows: &[Row]) -> Chart {
    let names = rows.iter().rev().map(|r| r.name.clone()).collect();
    let unit = x.unit.clone();
    let straddles = x.range.is_some_and(|(lo, hi)| lo < 0.0 && hi > 0.0);
    let mut panel = Panel::new("", x, Axis::new("", Unit::None, Scale::Names(names)));
    panel.height = Height::Rows(24.0);
    let known = |r: &Row| -> Vec<f64> {
        let finite = |v: &Option<f64>| v.filter(|v| v.is_finite());
        r.values.iter().filter_map(finite).collect()
    };
    let mut lines = Vec::new();
    for (at, row) in rows.iter().rev().enumerate() {
        let mut ends = known(row);
        if series.len() == 1 {
            ends.push(0.0);
        }
        let lo = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if lo < hi {
            let at = at as f64;
            lines.extend([(lo, at), (hi, at), (f64::NAN, f64::NAN)]);
        }
    }
    let beyond = series.len();
    if straddles {
        let zero = What::Rule {
            x: Some(0.0),
            y: None,
            dash: "",
        };
        panel.push(Layer::of(beyond, zero).inked(Ink::Quiet));
    }
    panel.push(Layer::dashed(beyond, lines, 2.0, "", "").inked(Ink::Quiet));
    for (k, name) in series.iter().enumerate() {
        let mark = |(at, row): (usize, &Row)| {
            let x = row.values.get(k).copied().flatten()?;
            Some(Mark {
                x,
                y: at as f64,
                interval: None,
                tip: format!("{}: {name} {}", row.name, unit.show(x)),
            })
        };
        let points = rows.iter().rev().enumerate().filter_map(mark).collect();
        panel.push(Layer::points(k, points, 9.0));
    }
    Chart {
        title: title.to_owned(),
        series: Series::all(series.iter().copied(), Sign::Dot),
        panels: vec![panel],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_is_on_top_and_a_line_joins_its_values() {
        let row = |name: &str, values: [Option<f64>; 2]| Row {
            name: name.into(),
            values: values.to_vec(),
        };
        let rows = [
            row("a", [Some(0.5), Some(-0.5)]),
            row("b", [Some(0.1), None]),
        ];
        let axis = Axis::new("correlation", Unit::None, Scale::Linear).over(-1.0, 1.0);
        let chart = dumbbells("t", axis.clone(), &["time", "energy"], &rows);
        let layers = &chart.panels[0].layers;
        let What::Line { points, .. } = &layers[1].what else {
            panic!("a line");
        };
        assert_eq!(points[..2], [(-0.5, 1.0), (0.5, 1.0)]);
        assert_eq!(points.len(), 3, "a value alone has no line");
        let alone = dumbbells("t", axis, &["time"], &rows);
        let What::Line { points, .. } = &alone.panels[0].layers[1].what else {
            panic!("a line");
        };
        assert_eq!(points.len(), 6, "a series alone has lines from zero");
    }
}
