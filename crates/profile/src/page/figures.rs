//! Figures of the page.

use super::tables::numbered;
use crate::attribution::{Basis, GpuProfile, Row};
use crate::names::cut;
use greenup_model::{Machine, Op};
use greenup_report::bar_rows::{self, Bars, RowBar};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Line, Point};
use greenup_report::si::si;

/// Bars of a figure.
const BARS: usize = 12;
/// Longest name next to a bar.
const NAME: usize = 38;

/// Kernels and the rest by energy, and by time.
pub fn shares(g: &GpuProfile) -> Vec<Chart> {
    let kernels = (g.kernels.iter().enumerate()).map(|(k, r)| (numbered(k, &r.name), r));
    let others = g.others.iter().map(|r| (r.name.clone(), r));
    let rows: Vec<(String, &Row)> = kernels.chain(others).collect();
    let energy = |r: &Row| g.energy(r);
    let mut out = Vec::new();
    let title = match g.measured_j {
        Some(_) => "Energy",
        None => "Energy by the model",
    };
    if rows.iter().any(|(_, r)| energy(r).is_some()) {
        out.push(bars(title, "energy", "J", &rows, &energy));
    }
    out.push(bars("Time of the GPU", "time", "s", &rows, &|r| {
        Some(r.share_s)
    }));
    out
}

fn bars(
    title: &str,
    quantity: &str,
    unit: &str,
    rows: &[(String, &Row)],
    value: &dyn Fn(&Row) -> Option<f64>,
) -> Chart {
    let mut all: Vec<(String, f64, bool)> = (rows.iter())
        .filter_map(|(name, r)| Some((name.clone(), value(r)?, r.grid.is_some())))
        .filter(|(_, v, _)| *v > 0.0 && v.is_finite())
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    if all.len() > BARS {
        let rest = all.split_off(BARS - 1);
        let sum = rest.iter().map(|r| r.1).sum();
        all.push((format!("{} others", rest.len()), sum, false));
    }
    let rows: Vec<_> = (all.into_iter())
        .map(|(name, value, kernel)| {
            let bar = Some(RowBar {
                value,
                interval: None,
                tip: format!("{name}: {}", si(value, unit)),
            });
            let bars = if kernel { vec![bar] } else { vec![None, bar] };
            (cut(&name, NAME), bars)
        })
        .collect();
    let panel = bar_rows::panel("", quantity, Unit::si(unit), Bars::Summed, &rows);
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new("kernels", Ink::Series(0), Sign::Area),
            Series::new("copies and the rest", Ink::Quiet, Sign::Area),
        ],
        panels: vec![panel],
        ..Chart::default()
    }
}

/// Power over the time of the run.
pub fn watts(g: &GpuProfile) -> Option<Chart> {
    if g.power.len() < 4 {
        return None;
    }
    let mut panel = Panel::new(
        "",
        Axis::new("time", Unit::si("s"), Scale::Linear),
        Axis::new("power", Unit::si("W"), Scale::Linear).from_zero(),
    );
    panel.height = Height::Ratio(0.25);
    panel.push(Layer::of(
        1,
        What::Range {
            x: (g.window.from_s, g.window.to_s),
        },
    ));
    panel.push(Layer::line(0, g.power.clone(), "power by the meter"));
    Some(Chart {
        title: "Power of the GPU".into(),
        series: vec![
            Series::new("power by the meter", Ink::Series(0), Sign::Line),
            Series::new("from the first to the last work", Ink::Quiet, Sign::Area),
        ],
        panels: vec![panel],
        ..Chart::default()
    })
}

/// Kernels with counters and flops on the lines of their classes; `None` without any.
pub fn roofline(g: &GpuProfile, machine: &Machine) -> Option<RooflineFigure> {
    let mut lines: Vec<(Op, Line)> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    let counted = (g.kernels.iter().enumerate()).filter(|(_, r)| r.basis == Basis::Counters);
    for (k, r) in counted.take(BARS) {
        let (Some(flops), Some(intensity)) = (r.flops, r.intensity) else {
            continue;
        };
        let main = (r.work.iter())
            .filter(|(op, _)| op.is_flop())
            .max_by(|a, b| a.1.total_cmp(b.1));
        let Some((&op, _)) = main else { continue };
        if r.median_s <= 0.0 {
            continue;
        }
        let line = match lines.iter().position(|(o, _)| *o == op) {
            Some(k) => k,
            None => {
                let Ok(mut line) = Line::of(machine, op) else {
                    continue;
                };
                line.name = format!("{} {op}", machine.name);
                if !lines.is_empty() {
                    line.levels.clear();
                }
                lines.push((op, line));
                lines.len() - 1
            }
        };
        let exact = |value: f64| Interval {
            value,
            lo: value,
            hi: value,
        };
        let joules = (g.energy(r).filter(|j| *j > 0.0)).map(|j| j / r.launches as f64);
        let base = r.name.split(['<', '(']).next().unwrap_or(&r.name);
        points.push(Point {
            name: cut(&numbered(k, base), NAME),
            line,
            intensity,
            flops_per_s: exact(flops / r.median_s),
            flops_per_j: joules.map(|j| exact(flops / j)),
            power_w: r.power_w.map(exact),
            calibration: false,
            roof: None,
        });
    }
    let low = points.iter().map(|p| p.intensity).fold(0.125, f64::min);
    let high = points.iter().map(|p| p.intensity).fold(512.0, f64::max);
    (!points.is_empty()).then(|| RooflineFigure {
        title: machine.title.clone(),
        lines: lines.into_iter().map(|(_, l)| l).collect(),
        points,
        intensity: (low.log2().floor().exp2(), high.log2().ceil().exp2()),
        label_points: true,
    })
}
