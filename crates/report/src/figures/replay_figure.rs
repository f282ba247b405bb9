//! Search strategies beside each other: how near to the optimum of a recording each is after so many trials.

use crate::chart::ink::COLOURS;
use crate::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What};
use crate::si::percent;

/// A strategy with its repetitions.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the strategy.
    pub name: String,
    /// Trials done, then the optimum over the best so far: median, lower and upper end over the repetitions.
    pub course: Vec<(f64, f64, f64, f64)>,
}

/// Shares of the optimum over trials, with bands over the repetitions.
pub fn strategies(title: &str, runs: &[Run]) -> Chart {
    let mut panel = Panel::new(
        "",
        Axis::new("trials", Unit::None, Scale::Log),
        Axis::new("optimum over the best so far", Unit::Percent, Scale::Linear),
    );
    panel.height = Height::Ratio(0.55);
    // All medians are seen; bands of the first trials may reach far below.
    let all = || runs.iter().flat_map(|r| &r.course);
    let least = all().map(|p| p.1).fold(1.0, f64::min);
    let low = (least - 0.25 * (1.0 - least)).max(0.0);
    if least < 1.0 {
        panel.y = panel.y.over(low, 1.0 + 0.05 * (1.0 - low));
    }
    let cut = all().any(|p| p.2 < low);
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
        let points = run.course.iter().map(|p| (p.0, p.2, p.3)).collect();
        panel.push(Layer::of(k, What::Band { points }));
    }
    for (k, run) in runs.iter().enumerate() {
        let line: Vec<(f64, f64)> = run.course.iter().map(|p| (p.0, p.1)).collect();
        let tip = run.course.last().map_or(String::new(), |(n, m, lo, hi)| {
            format!(
                "{}: after {n} trials {} [{} … {}] of the optimum",
                run.name,
                percent(*m),
                percent(*lo),
                percent(*hi)
            )
        });
        panel.push(Layer::dashed(k, line, 2.2, dash(k), tip));
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
    Chart {
        title: title.to_owned(),
        series,
        panels: vec![panel],
        notes: (cut.then(|| "Bands reach below the figure at first.".to_owned()))
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
