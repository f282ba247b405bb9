//! Figures of the page.

use super::kinds::{KindSum, sums_by_kind};
use super::tables::numbered;
use crate::attribution::{Basis, GpuProfile};
use crate::kind::Kind;
use greenup_model::{Machine, Op};
use greenup_report::bar_rows::{self, Bars, RowBar};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Line, Point};
use greenup_report::si::si;
use greenup_report::text::middle;

/// Kernels on the roofline.
const POINTS: usize = 12;
/// Longest name next to a point.
const NAME: usize = 38;
/// The series of the power; groups of kernels follow.
const POWER: usize = 0;

/// Power over the time of the run, and below it what ran; `None` if neither is known.
pub fn timeline(g: &GpuProfile, wall_s: f64) -> Option<Chart> {
    let t = &g.timeline;
    let x = Axis::new("time since the start", Unit::si("s"), Scale::Linear)
        .over(0.0, wall_s.max(t.to_s));
    let panel = |y: Axis, ratio: f64| {
        let mut panel = Panel::new("", x.clone(), y);
        panel.height = Height::Ratio(ratio);
        for pause in &g.pauses {
            panel.push(Layer::of(POWER, What::Range { x: *pause }).inked(Ink::Quiet));
        }
        panel
    };
    let mut panels = Vec::new();
    if g.power.len() >= 4 {
        let y = Axis::new("power", Unit::si("W"), Scale::Linear).from_zero();
        let mut power = panel(y, 0.16);
        power.push(Layer::line(POWER, g.power.clone(), "power by the meter"));
        panels.push(power);
    }
    if !t.shares.is_empty() {
        let y = Axis::new("busy", Unit::Percent, Scale::Linear).over(0.0, 1.0);
        let mut busy = panel(y, 0.2);
        let mut below = vec![0.0; t.shares.values().map(Vec::len).max().unwrap_or(0)];
        for (kind, shares) in &t.shares {
            if shares.iter().all(|s| *s < 0.005) {
                continue;
            }
            // Steps of whole percents: only changes are drawn.
            let mut points: Vec<(f64, f64, f64)> = Vec::new();
            for (k, share) in shares.iter().enumerate() {
                // Rounded shares may add up to more.
                let top = (below[k] + (100.0 * share).round() / 100.0).min(1.0);
                let [from, to] = [k, k + 1].map(|k| t.edge(k));
                match points.last_mut() {
                    Some(last) if last.1 == below[k] && last.2 == top => last.0 = to,
                    _ => points.extend([from, to].map(|x| (x, below[k], top))),
                }
                below[k] = top;
            }
            let top = points.iter().map(|(x, _, top)| (*x, *top)).collect();
            busy.push(Layer::of(series_of(*kind), What::Band { points }));
            busy.push(Layer::dashed(series_of(*kind), top, 1.2, "", kind.name()));
        }
        panels.push(busy);
    }
    if panels.is_empty() {
        return None;
    }
    let pauses = (!g.pauses.is_empty()).then(|| "Shaded: pauses over 100 ms.".to_owned());
    Some(Chart {
        title: "Power, and what ran".into(),
        series: std::iter::once(Series::new("power by the meter", Ink::Text, Sign::Line))
            .chain(
                (Kind::ALL.into_iter().enumerate())
                    .map(|(k, kind)| Series::new(kind.name(), Ink::Series(k), Sign::Area)),
            )
            .collect(),
        panels,
        notes: pauses.into_iter().collect(),
        // Below each other.
        least_width: f64::INFINITY,
        ..Chart::default()
    })
}

fn series_of(kind: Kind) -> usize {
    let at = Kind::ALL.iter().position(|k| *k == kind);
    POWER + 1 + at.unwrap_or_default()
}

/// Energy and time of the groups of kernels.
pub fn shares(g: &GpuProfile) -> Chart {
    let groups = sums_by_kind(g);
    let title = match g.measured_j {
        Some(_) => "energy",
        None => "energy by the model",
    };
    let panel = |quantity: &str, unit: &str, value: &dyn Fn(&KindSum) -> Option<f64>| {
        let rows: Vec<_> = (groups.iter())
            .filter_map(|s| {
                let value = value(s).filter(|v| *v > 0.0 && v.is_finite())?;
                let bar = RowBar {
                    value,
                    interval: None,
                    tip: format!("{}: {}", s.kind.name(), si(value, unit)),
                };
                Some((s.kind.name().to_owned(), vec![Some(bar)]))
            })
            .collect();
        (!rows.is_empty())
            .then(|| bar_rows::panel("", quantity, Unit::si(unit), Bars::Beside, &rows))
    };
    let energy = panel(title, "J", &|s| s.energy_j);
    let time = panel("time of the GPU", "s", &|s| Some(s.share_s));
    Chart {
        title: "Groups of kernels".into(),
        series: vec![Series::new("", Ink::Series(0), Sign::Area)],
        panels: energy.into_iter().chain(time).collect(),
        ..Chart::default()
    }
}

/// Kernels with counters and flops on the lines of their classes; `None` without any.
pub fn roofline(g: &GpuProfile, machine: &Machine) -> Option<RooflineFigure> {
    let mut lines: Vec<(Op, Line)> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    let counted = (g.kernels.iter().enumerate()).filter(|(_, r)| r.basis == Basis::Counters);
    for (k, r) in counted.take(POINTS) {
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
            name: middle(&numbered(k, base), NAME),
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
