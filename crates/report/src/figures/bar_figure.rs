//! Measured against predicted, each split into what costs.

use crate::chart::{Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What};
use crate::si::{percent, si};

/// A piece of a bar.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is, for the legend.
    pub name: String,
    /// Its length in the unit of the bar.
    pub value: f64,
}

/// One kernel: what was measured, and what the model says.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Name of the kernel.
    pub name: String,
    /// Value, lower and upper end of its interval.
    pub measured: (f64, f64, f64),
    /// Predicted value, lower and upper end of its interval.
    pub predicted: (f64, f64, f64),
    /// Parts of the predicted value that add up to it; empty for one bar.
    pub parts: Vec<Part>,
}

/// Measured against predicted; the measured value of each kernel is 100 %.
pub fn bars(title: &str, unit: &str, pairs: &[Pair]) -> Chart {
    let known =
        |p: &&Pair| p.measured.0 > 0.0 && p.measured.0.is_finite() && p.predicted.0.is_finite();
    let pairs: Vec<&Pair> = pairs.iter().filter(known).collect();
    let mut names: Vec<String> = Vec::new();
    for part in pairs.iter().flat_map(|p| p.parts.iter()) {
        if !names.contains(&part.name) {
            names.push(part.name.clone());
        }
    }
    let mut series = vec![Series::new("measured", Ink::Quiet, Sign::Area)];
    if names.is_empty() {
        series.push(Series::new("predicted", Ink::Series(0), Sign::Area));
    }
    for (i, n) in names.iter().enumerate() {
        series.push(Series::new(
            format!("predicted: {n}"),
            Ink::Series(i),
            Sign::Area,
        ));
    }
    let shares = |p: &&Pair| {
        [
            p.measured.1,
            p.measured.2,
            p.predicted.0,
            p.predicted.1,
            p.predicted.2,
        ]
        .map(|v| v / p.measured.0)
    };
    let longest = pairs
        .iter()
        .flat_map(shares)
        .filter(|v| v.is_finite())
        .fold(1.0, f64::max)
        .min(4.0);
    // Room for the values after the bars.
    let mut panel = Panel::new(
        "",
        Axis::new("of the measured value", Unit::Percent, Scale::Linear).over(0.0, 1.42 * longest),
        // The first on top.
        Axis::new(
            "",
            Unit::None,
            Scale::Names(pairs.iter().rev().map(|p| p.name.clone()).collect()),
        ),
    );
    panel.height = Height::Rows(52.0);
    for (row, p) in pairs.iter().rev().enumerate() {
        let at = row as f64;
        let m = p.measured.0;
        let share = |v: f64| v / m;
        let interval = |(_, lo, hi): (f64, f64, f64)| Some((share(lo), share(hi)));
        let bar = |at: f64, from: f64, to: f64| Bar {
            at,
            thick: 0.36,
            from,
            to,
            ..Bar::default()
        };
        let words = |what: &str, v: (f64, f64, f64)| {
            format!(
                "{}, {what}: {} [{} … {}]",
                p.name,
                si(v.0, unit),
                si(v.1, unit),
                si(v.2, unit)
            )
        };
        let measured = Bar {
            interval: interval(p.measured),
            text: si(m, unit),
            tip: words("measured", p.measured),
            ..bar(at + 0.2, 0.0, 1.0)
        };
        panel.push(Layer::bars(0, vec![measured]));
        let total = format!(
            "{} ({})",
            si(p.predicted.0, unit),
            percent(share(p.predicted.0))
        );
        let mut from = 0.0;
        let parts: Vec<(usize, f64, String)> = if p.parts.is_empty() {
            vec![(1, p.predicted.0, words("predicted", p.predicted))]
        } else {
            p.parts
                .iter()
                .map(|part| {
                    let k = names.iter().position(|n| *n == part.name).unwrap_or(0);
                    let tip = format!(
                        "{}, predicted: {} {} ({} of the prediction)",
                        p.name,
                        part.name,
                        si(part.value, unit),
                        percent(part.value / p.predicted.0)
                    );
                    (k + 1, part.value, tip)
                })
                .collect()
        };
        let last = parts.len() - 1;
        for (i, (series, value, tip)) in parts.into_iter().enumerate() {
            let to = from + share(value);
            panel.push(Layer::bars(
                series,
                vec![Bar {
                    interval: if i == last {
                        interval(p.predicted)
                    } else {
                        None
                    },
                    text: if i == last {
                        total.clone()
                    } else {
                        String::new()
                    },
                    tip,
                    ..bar(at - 0.2, from, to)
                }],
            ));
            from = to;
        }
    }
    panel.push(
        Layer::of(
            0,
            What::Rule {
                x: Some(1.0),
                y: None,
                dash: "4 3",
            },
        )
        .inked(Ink::Text),
    );
    Chart {
        title: title.to_owned(),
        series,
        panels: vec![panel],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn two_bars_a_kernel() {
        let mut pair = Pair {
            name: "triad".into(),
            measured: (2.0, 1.9, 2.1),
            predicted: (1.0, 0.9, 1.1),
            parts: vec![],
        };
        let svg = bars("Time", "s", &[pair.clone()]).svg(Style::Light, 500.0);
        assert!(
            svg.contains("2.00 s") && svg.contains("1.00 s (50.0 %)"),
            "{svg}"
        );
        pair.parts = [("arithmetic", 0.4), ("constant power", 0.6)]
            .map(|(name, value)| Part {
                name: name.into(),
                value,
            })
            .to_vec();
        let chart = bars("Time", "s", &[pair.clone(), pair]);
        assert!(!chart.svg(Style::Light, 500.0).contains("NaN"));
        for width in crate::chart::PAGE_WIDTHS {
            crate::chart::assert_clear(&chart, f64::from(width));
        }
    }
}
