//! Correlations and sizes, as Figs. 4, 7 and 8 of Anzt et al. (2015).

use greenup_report::chart::Chart;
use greenup_report::scaling_figure::{self, Panel, Series};
use greenup_report::sweep_figure::{SignedBar, signed_bars};
use greenup_report::text;
use greenup_tune::analyze::{Analysis, Correlation};
use greenup_tune::trial::scaling::{Rates, Scaling};

/// A name shortened to `max` characters, as names of profiler metrics are long.
pub(super) fn short(name: &str, max: usize) -> String {
    let n = name.chars().count();
    if n <= max {
        return name.to_owned();
    }
    let head: String = name.chars().take(max / 2).collect();
    let tail: String = name.chars().skip(n - (max - max / 2 - 1)).collect();
    format!("{head}…{tail}")
}

/// Figs. 7 and 8: bar chart of the correlation coefficients, sorted.
pub fn bars(title: &str, a: &Analysis, value: impl Fn(&Correlation) -> Option<f64>) -> Chart {
    let mut bars: Vec<SignedBar> = a
        .correlations
        .iter()
        .filter_map(|c| {
            Some(SignedBar {
                name: short(&c.label(a.rows.len()), 26),
                value: value(c)?,
                marked: c.mover,
                tip: format!("{} {:+.4}", c.name, value(c)?),
            })
        })
        .collect();
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    signed_bars(title, &bars)
}

/// Points in the order of their sizes, whatever was measured first.
fn rising(points: impl Iterator<Item = (f64, f64, f64, f64)>) -> Vec<(f64, f64, f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Fig. 4: selected configs over problem size.
pub fn scaling(a: &Analysis, s: &Scaling) -> Chart {
    let panel = |label: &str, unit: &str, value: &dyn Fn(usize, usize) -> Option<(f64, f64)>| {
        let series: Vec<Series> = s
            .configs
            .iter()
            .enumerate()
            .map(|(c, (why, config))| Series {
                name: format!(
                    "{why}: {}",
                    text::named(
                        s.parameters
                            .iter()
                            .zip(config)
                            .enumerate()
                            // Parameters that all configs share are left out.
                            .filter(|(p, (_, v))| s.configs.iter().any(|(_, o)| o[*p] != **v))
                            .map(|(_, pair)| pair)
                    )
                ),
                points: rising(s.sizes.iter().enumerate().filter_map(|(i, at)| {
                    let (v, e) = value(i, c)?;
                    Some((at.size, v, v * (1.0 - e), v * (1.0 + e)))
                })),
            })
            .collect();
        Panel {
            label: label.into(),
            unit: unit.into(),
            series,
        }
    };
    let baseline = |value: &dyn Fn(Rates) -> Option<f64>| Series {
        name: "baseline".into(),
        points: rising(s.sizes.iter().filter_map(|at| {
            let v = value(s.baseline(at)?)?;
            Some((at.size, v, v, v))
        })),
    };
    let with_baseline = |mut panel: Panel, value: &dyn Fn(Rates) -> Option<f64>| {
        let series = baseline(value);
        if !series.points.is_empty() {
            panel.series.push(series);
        }
        panel
    };
    let rates = |i: usize, c: usize| s.rates(&s.sizes[i], c);
    let speed = panel("performance", a.unit, &|i, c| {
        let r = rates(i, c)?;
        Some((r.per_second, r.relative_error))
    });
    let mut panels = vec![with_baseline(speed, &|r| Some(r.per_second))];
    let green = panel(
        "efficiency",
        &format!("{}/J", a.unit.trim_end_matches("/s")),
        &|i, c| Some((rates(i, c)?.per_joule?, 0.0)),
    );
    if green.series.iter().any(|s| !s.points.is_empty()) {
        panels.push(with_baseline(green, &|r| r.per_joule));
    }
    scaling_figure::scaling(
        &format!("{}: selected configs over problem size", a.name),
        &s.over.replace('+', " = "),
        &panels,
    )
}
