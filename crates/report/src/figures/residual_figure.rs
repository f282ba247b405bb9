//! What a model misses of each benchmark: relative errors in rows.

use crate::chart::{Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What};
use crate::si::percent;

/// A benchmark at one setting.
#[derive(Clone, Debug)]
pub struct Residual {
    /// Name of the benchmark, the row.
    pub name: String,
    /// Setting, shown on hovering.
    pub setting: String,
    /// Predicted over measured − 1, with the interval of the measurement; for each quantity, `None` where it has none.
    pub errors: Vec<Option<(f64, f64, f64)>>,
}

/// Rows of benchmarks, a colour a quantity.
pub fn residuals(title: &str, quantities: &[&str], all: &[Residual]) -> Chart {
    let mut names: Vec<&str> = Vec::new();
    for r in all.iter().rev() {
        if !names.contains(&r.name.as_str()) {
            names.push(&r.name);
        }
    }
    let texts = names.iter().map(|n| (*n).to_owned()).collect();
    let mut panel = Panel::new(
        "",
        Axis::new("predicted over measured − 1", Unit::Percent, Scale::Linear).from_zero(),
        Axis::new("", Unit::None, Scale::Names(texts)),
    );
    panel.height = Height::Rows(19.0);
    let zero = What::Rule {
        x: Some(0.0),
        y: None,
        dash: "",
    };
    panel.push(Layer::of(0, zero).inked(Ink::Text));
    const BREAK: (f64, f64) = (f64::NAN, f64::NAN);
    for (k, quantity) in quantities.iter().enumerate() {
        // Quantities of a benchmark side by side.
        let shift = 0.28 * (0.5 * (quantities.len() as f64 - 1.0) - k as f64);
        let (mut marks, mut bars) = (Vec::new(), Vec::new());
        for r in all {
            let Some(Some((value, lo, hi))) = r.errors.get(k) else {
                continue;
            };
            let row = names.iter().position(|n| *n == r.name).unwrap_or(0);
            let y = row as f64 + shift;
            bars.extend([(*lo, y), (*hi, y), BREAK]);
            marks.push(Mark {
                x: *value,
                y,
                interval: None,
                tip: format!(
                    "{} on {}: {quantity} {} [{} … {}]",
                    r.name,
                    r.setting,
                    percent(*value),
                    percent(*lo),
                    percent(*hi)
                ),
            });
        }
        if !marks.is_empty() {
            panel.push(Layer::dashed(k, bars, 1.4, "", ""));
            panel.push(Layer::points(k, marks, 6.0));
        }
    }
    Chart {
        title: title.to_owned(),
        series: Series::all(quantities.iter().copied(), Sign::Dot),
        panels: vec![panel],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_benchmark_share_a_row() {
        let residual = |name: &str, setting: &str, energy: bool| Residual {
            name: name.into(),
            setting: setting.into(),
            errors: vec![Some((0.1, 0.05, 0.2)), energy.then_some((-0.1, -0.1, -0.1))],
        };
        let all = [
            residual("read", "1 core", true),
            residual("read", "2 cores", false),
            residual("copy", "1 core", false),
        ];
        let chart = residuals("t", &["time", "energy"], &all);
        // The first on top.
        assert_eq!(
            chart.panels[0].y.scale,
            Scale::Names(vec!["copy".into(), "read".into()])
        );
        let points: Vec<usize> = (chart.panels[0].layers.iter())
            .filter_map(|l| match &l.what {
                What::Points { points, .. } => Some(points.len()),
                _ => None,
            })
            .collect();
        assert_eq!(points, [3, 1]);
    }
}
