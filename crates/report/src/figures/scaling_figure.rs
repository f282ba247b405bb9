//! Series over problem size or time.

use crate::chart::{Axis, Chart, Layer, Mark, Scale, Sign, Unit};
use crate::si::three;

/// With more points than this a series is drawn without marks.
const MARKED: usize = 60;

/// One config or quantity.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name for the legend.
    pub name: String,
    /// Points (x, median, low, high) by increasing x.
    pub points: Vec<(f64, f64, f64, f64)>,
}

/// A panel: what is drawn, and in which unit.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Quantity.
    pub label: String,
    /// Unit of the values; empty for a number.
    pub unit: String,
    /// The series.
    pub series: Vec<Series>,
}

/// Panels over problem size, with a common legend.
pub fn scaling(title: &str, x_label: &str, panels: &[Panel]) -> Chart {
    figure(title, Axis::new(x_label, Unit::None, Scale::Log2), panels)
}

/// Panels over time.
pub fn over_time(title: &str, x: &str, unit: Unit, panels: &[Panel]) -> Chart {
    figure(title, Axis::new(x, unit, Scale::Linear), panels)
}

fn figure(title: &str, x: Axis, panels: &[Panel]) -> Chart {
    // One colour a name in all panels.
    let mut names: Vec<&str> = Vec::new();
    for s in panels.iter().flat_map(|p| &p.series) {
        if !names.contains(&s.name.as_str()) {
            names.push(&s.name);
        }
    }
    let drawn = |p: &Panel| {
        let unit = if p.unit.is_empty() {
            Unit::None
        } else {
            Unit::si(&p.unit)
        };
        // From zero: heights are to be compared by eye.
        let y = Axis::new(&p.label, unit.clone(), Scale::Linear).from_zero();
        let mut panel = crate::chart::Panel::new("", x.clone(), y);
        panel.height = crate::chart::Height::Ratio(0.55);
        for s in &p.series {
            let k = names.iter().position(|n| *n == s.name).unwrap_or(0);
            let line = s.points.iter().map(|q| (q.0, q.1)).collect();
            panel.push(Layer::line(k, line, s.name.clone()));
            // Traces of many points are lines.
            if s.points.len() <= MARKED {
                let marks = s
                    .points
                    .iter()
                    .map(|q| Mark {
                        x: q.0,
                        y: q.1,
                        interval: (q.3 > q.2).then_some((q.2, q.3)),
                        tip: format!("{}: {} at {}", s.name, unit.show(q.1), three(q.0)),
                    })
                    .collect();
                panel.push(Layer::points(k, marks, 7.0));
            }
        }
        panel
    };
    Chart {
        title: title.to_owned(),
        series: crate::chart::Series::all(names.iter().copied(), Sign::Line),
        panels: panels.iter().map(drawn).collect(),
        least_width: 480.0,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn every_series_is_drawn() {
        let series = |name: &str, k: f64| Series {
            name: name.into(),
            points: [256.0, 512.0, 1024.0]
                .map(|x| (x, k * x, 0.9 * k * x, 1.1 * k * x))
                .to_vec(),
        };
        let panel = |unit: &str| Panel {
            label: "performance".into(),
            unit: unit.into(),
            series: vec![series("a", 1.0), series("b <", 2.0)],
        };
        let text = scaling("t", "n", &[panel("flop/s"), panel("flop/J")]).svg(Style::Light, 900.0);
        // A point is drawn twice: its outline and itself.
        assert_eq!(text.matches("h0").count(), 24);
        assert!(text.contains("b &lt;") && text.contains(">512<"));
        let text = over_time("t", "time", Unit::si("s"), &[panel("J")]).svg(Style::Light, 900.0);
        assert_eq!(text.matches("h0").count(), 12);
        assert!(!text.contains(">512<"));
    }
}
