//! Energies of many cases, split into their parts.

use crate::chart::{Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What};
use crate::si::percent;

/// Cases of one application.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name of the application.
    pub name: String,
    /// Of each case, its name and its parts over the measured value, in the order of the names.
    pub cases: Vec<(String, Vec<f64>)>,
}

/// A column a case, a panel an application; the line at 100 % is what was measured.
pub fn shares(title: &str, names: &[&str], groups: &[Group]) -> Chart {
    let highest = groups
        .iter()
        .flat_map(|g| &g.cases)
        .map(|c| c.1.iter().sum::<f64>())
        .filter(|v| v.is_finite())
        .fold(1.0, f64::max)
        .min(2.0);
    let panel = |g: &Group| {
        let mut panel = Panel::new(
            &g.name,
            Axis::new(
                "case",
                Unit::None,
                Scale::Names((1..=g.cases.len()).map(|k| k.to_string()).collect()),
            ),
            Axis::new("of the measured energy", Unit::Percent, Scale::Linear)
                .over(0.0, 1.05 * highest),
        );
        panel.height = Height::Ratio(0.6);
        for (part, name) in names.iter().enumerate() {
            let bars = g
                .cases
                .iter()
                .enumerate()
                .map(|(i, (case, parts))| {
                    let from: f64 = parts.iter().take(part).sum();
                    let value = parts.get(part).copied().unwrap_or(0.0);
                    Bar {
                        at: i as f64,
                        thick: 0.86,
                        from,
                        to: from + value,
                        tip: format!("{case}: {name} {} of the measured energy", percent(value)),
                        ..Bar::default()
                    }
                })
                .collect();
            panel.push(Layer::columns(part, bars));
        }
        let measured = What::Rule {
            x: None,
            y: Some(1.0),
            dash: "4 3",
        };
        panel.push(Layer::of(0, measured).inked(Ink::Text));
        panel
    };
    Chart {
        title: title.to_owned(),
        series: Series::all(names.iter().copied(), Sign::Area),
        panels: groups.iter().map(panel).collect(),
        least_width: 260.0,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn every_part_is_drawn() {
        let g = Group {
            name: "a".into(),
            cases: vec![("p".into(), vec![0.5, 0.4]), ("q".into(), vec![0.2, 2.0])],
        };
        let svg = shares("t", &["x", "y"], &[g]).svg(Style::Light, 500.0);
        // Four parts, two of the legend, frame, background, and two that the pointer meets.
        assert_eq!(svg.matches("<rect").count(), 10);
        assert!(!svg.contains("NaN"));
    }
}
