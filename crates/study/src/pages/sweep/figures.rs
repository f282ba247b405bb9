//! Figures of the analysis, as Figs. 4 to 9 of Anzt et al. (2015).

use greenup_report::chart::Chart;
use greenup_report::scaling_figure::{self, Panel, Series};
use greenup_report::si::{si, three};
use greenup_report::sweep_figure::{Dot, Scatter, SignedBar, signed_bars};
use greenup_report::text;
use greenup_space::Value;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation, MeasuredConfig};
use greenup_tune::trial::scaling::{Rates, Scaling};

/// Fig. 5: all configs by performance and energy efficiency; `None` without energy.
pub fn scatter(a: &Analysis, sweep: &Sweep) -> Option<Scatter> {
    let lowest_energy = a.lowest_energy?;
    Some(Scatter {
        title: format!("{}: efficiency against performance", a.name),
        x_label: "performance".into(),
        y_label: "efficiency".into(),
        x_unit: a.unit.into(),
        y_unit: format!("{}/J", a.unit.trim_end_matches("/s")),
        dots: a
            .rows
            .iter()
            .map(|r| Dot {
                x: r.performance,
                y: r.efficiency.unwrap_or(f64::NAN),
                tip: tip(sweep, r),
                colour: 0,
            })
            .collect(),
        hull: a
            .hull
            .as_ref()
            .map(|h| h.corners.clone())
            .unwrap_or_default(),
        fastest: Some(a.fastest),
        lowest_energy: Some(lowest_energy),
        tip_names: tip_names(sweep),
        ..Scatter::default()
    })
}

/// Dots drawn at most in each of the small figures that split all configs.
const SPLIT: usize = 1500;

/// Time, energy and parameters of a config, as many as [`tip_names`].
pub(super) fn tip(sweep: &Sweep, r: &MeasuredConfig) -> String {
    let energy = r.energy_j.map_or("–".into(), |e| si(e, "J"));
    let values = sweep.trials[r.trial].config.iter().map(Value::to_string);
    let all: Vec<String> = [si(r.time_s, "s"), energy]
        .into_iter()
        .chain(values)
        .collect();
    all.join("\t")
}

pub(super) fn tip_names(sweep: &Sweep) -> Vec<String> {
    let first = ["time", "energy"].map(str::to_owned);
    first
        .into_iter()
        .chain(sweep.facts.parameters.iter().cloned())
        .collect()
}

/// Performance by rank, for sweeps without energy.
pub fn ranking(a: &Analysis, sweep: &Sweep) -> Scatter {
    let mut order: Vec<usize> = (0..a.rows.len()).collect();
    order.sort_by(|&i, &j| a.rows[j].performance.total_cmp(&a.rows[i].performance));
    Scatter {
        title: format!("{}: configs by performance", a.name),
        x_label: "rank".into(),
        y_label: "performance".into(),
        x_unit: String::new(),
        y_unit: a.unit.into(),
        dots: order
            .iter()
            .enumerate()
            .map(|(rank, &i)| Dot {
                x: rank as f64 + 1.0,
                y: a.rows[i].performance,
                tip: tip(sweep, &a.rows[i]),
                colour: 0,
            })
            .collect(),
        tip_names: tip_names(sweep),
        ..Scatter::default()
    }
}

/// Fig. 9: all configs by performance and energy efficiency, coloured by whether a parameter or metric is above its
/// mean; `None` without energy.
pub fn split_scatter(a: &Analysis, sweep: &Sweep, name: &str, mean: f64) -> Option<Chart> {
    let p = a.parameters.iter().position(|n| n == name);
    let mut s = scatter(a, sweep)?;
    let values = a.rows.iter().map(|r| {
        let t = &sweep.trials[r.trial];
        match p {
            Some(p) => t.config[p].as_float(),
            None => t.metrics.get(name).copied(),
        }
    });
    // Configs of which it is not known are on no side.
    s.dots = std::mem::take(&mut s.dots)
        .into_iter()
        .zip(values)
        .filter_map(|(mut d, v)| {
            d.colour = usize::from(v? <= mean);
            Some(d)
        })
        .collect();
    s.title = format!("split by {}", short(name, 40));
    s.hull = Vec::new();
    s.fastest = None;
    s.lowest_energy = None;
    s.most = SPLIT;
    s.legend = vec![
        format!("above {}", three(mean)),
        format!("at or below {}", three(mean)),
    ];
    Some(s.chart())
}

/// A name shortened to `max` characters, as names of profiler metrics are long.
fn short(name: &str, max: usize) -> String {
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
