//! Search strategies beside each other: how near to the optimum of a recording each is after so many trials.

use crate::chart::ink::COLOURS;
use crate::chart::{Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What};
use crate::si::percent;

/// A strategy with its repetitions.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the strategy.
    pub name: String,
    /// Trials done, then the optimum over the best so far: median, lower and upper end over the repetitions.
    pub course: Vec<(f64, f64, f64, f64)>,
}

/// The lowest share that is shown, unless a strategy ends below.
const LOWEST: f64 = 0.85;

/// Shares of the optimum over trials: medians, and at the end the intervals over the repetitions.
pub fn strategies(title: &str, runs: &[Run]) -> Chart {
    let ends = || runs.iter().filter_map(|r| r.course.last());
    // All medians at the end are seen.
    let least = ends().map(|p| p.1).fold(1.0, f64::min);
    let low = match least > LOWEST + 0.02 {
        true => LOWEST,
        false => (least - 0.25 * (1.0 - least)).max(0.0),
    };
    let last = ends().map(|p| p.0).fold(1.0, f64::max);
    // Intervals stand side by side after the last trial.
    let apart = last.powf(0.02).max(1.02);
    let right = last * apart.powi(runs.len() as i32 + 1);
    let mut panel = Panel::new(
        "",
        Axis::new("trials", Unit::None, Scale::Log).over(1.0, right),
        Axis::new("optimum over the best so far", Unit::Percent, Scale::Linear)
            .over(low, 1.0 + 0.04 * (1.0 - low)),
    );
    panel.height = Height::Ratio(0.5);
    let optimum = runs.len();
    let mut series = Vec::new();
    // Colours return after a while: then dashed.
    let dash = |k: usize| if k < COLOURS { "" } else { "6 3" };
    for (k, run) in runs.iter().enumerate() {
        let sign = if k < COLOURS {
            Sign::Line
        } else {
            Sign::Dashed
        };
        series.push(Series::new(&run.name, Ink::Series(k), sign));
        let line: Vec<(f64, f64)> = run.course.iter().map(|p| (p.0, p.1)).collect();
        let Some((n, m, lo, hi)) = run.course.last() else {
            continue;
        };
        let tip = format!(
            "{}: after {n} trials {} [{} … {}] of the optimum",
            run.name,
            percent(*m),
            percent(*lo),
            percent(*hi)
        );
        panel.push(Layer::dashed(k, line, 2.2, dash(k), tip.clone()));
        let end = Mark {
            x: last * apart.powi(k as i32 + 1),
            y: *m,
            interval: Some((*lo, *hi)),
            tip,
        };
        panel.push(Layer::points(k, vec![end], 7.0));
    }
    let rule = What::Rule {
        x: None,
        y: Some(1.0),
        dash: "4 3",
    };
    if !runs.is_empty() {
        panel.push(Layer::of(optimum, rule));
    }
    series.push(Series::new(
        "optimum of the recording",
        Ink::Text,
        Sign::Dashed,
    ));
    let below = ends().filter(|p| p.2 < low).count();
    Chart {
        title: title.to_owned(),
        series,
        panels: vec![panel],
        notes: (below > 0)
            .then(|| format!("Intervals that reach below the figure: {below}."))
            .into_iter()
            .collect(),
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn the_legend_names_strategies_and_the_optimum() {
        let run = |name: &str| Run {
            name: name.into(),
            course: vec![(1.0, 0.5, 0.4, 0.6), (10.0, 0.9, 0.8, 1.0)],
        };
        let svg = strategies("t", &[run("forest"), run("random")]).svg(Style::Light, 600.0);
        for name in ["forest", "random", "optimum of the recording"] {
            assert!(svg.contains(&format!(">{name}<")), "{name}");
        }
        assert!(!svg.contains("NaN"));
    }
}
