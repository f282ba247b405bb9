//! Figures of scaling over nodes; [`page`] puts them on a page.

pub mod page;

use crate::Row;
use crate::published::Beside;
use greenup_report::chart::{
    Axis, Chart, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::si::three;

/// Published times over nodes, each study with the model beside it.
pub fn published_figure(all: &[Beside]) -> Chart {
    let panels = all
        .iter()
        .map(|b| {
            let s = &b.study;
            let x = Axis::new("nodes", Unit::None, Scale::Log2);
            let y = Axis::new("time", Unit::si("s"), Scale::Log);
            let mut panel = Panel::new(&format!("{}, {}", s.name, s.figure), x, y);
            panel.height = greenup_report::chart::Height::Ratio(0.55);
            let line = (b.model.iter()).map(|(n, t)| (*n as f64, *t)).collect();
            panel.push(Layer::line(0, line, "model"));
            let marks = (s.points.iter())
                .map(|p| Mark {
                    x: p.nodes as f64,
                    y: p.time_s,
                    interval: None,
                    tip: format!("published: {} at {} nodes", p.stated, p.nodes),
                })
                .collect();
            let published = What::Points {
                points: marks,
                size: 10.0,
                hollow: true,
            };
            panel.push(Layer::of(1, published));
            panel
        })
        .collect();
    Chart {
        title: "Published scaling studies and the model".into(),
        series: vec![
            Series::new("model", Ink::Series(0), Sign::Line),
            Series::new("published", Ink::Text, Sign::Ring),
        ],
        panels,
        least_width: 400.0,
        ..Chart::default()
    }
}

/// Lines of the figure, in the order of their colours.
const LINES: [&str; 4] = ["predicted", "speedup", "powerup", "greenup"];
/// The dashed line.
const IDEAL: usize = LINES.len();

/// Time, energy, efficiency, ratios to one device, and what the time consists of, over the number of devices. With `weak` the
/// work grows with them.
pub fn figure(title: &str, rows: &[Row], weak: bool) -> Chart {
    let value = |f: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        let known = rows
            .iter()
            .filter_map(|r| Some((r.scaled.devices as f64, f(r)?)));
        known.filter(|p| p.1.is_finite() && p.1 > 0.0).collect()
    };
    let first = rows.first();
    let ideal = |f: &dyn Fn(&Row, f64) -> Option<f64>| -> Vec<(f64, f64)> {
        let Some(first) = first else {
            return Vec::new();
        };
        value(&|r| f(first, r.scaled.devices as f64 / first.scaled.devices as f64))
    };
    let mut panels = vec![panel(
        "time",
        (Unit::si("s"), Scale::Log),
        vec![(0, LINES[0], value(&|r| Some(r.scaled.time_s)))],
        ideal(&|one, n| Some(one.scaled.time_s / if weak { 1.0 } else { n })),
    )];
    let energy = value(&|r| r.scaled.energy_j);
    if !energy.is_empty() {
        panels.push(panel(
            "energy of all devices",
            (Unit::si("J"), Scale::Log),
            vec![(0, LINES[0], energy)],
            ideal(&|one, n| Some(one.scaled.energy_j? * if weak { n } else { 1.0 })),
        ));
    }
    panels.push(panel(
        "parallel efficiency",
        (Unit::None, Scale::Linear),
        vec![(0, LINES[0], value(&|r| Some(r.efficiency)))],
        ideal(&|_, _| Some(1.0)),
    ));
    panels.push(panel(
        "ratio to one device",
        (Unit::None, Scale::Log),
        vec![
            (1, LINES[1], value(&|r| Some(r.speedup))),
            (2, LINES[2], value(&|r| r.powerup)),
            (3, LINES[3], value(&|r| r.greenup)),
        ],
        Vec::new(),
    ));
    let mut series: Vec<Series> = Series::all(LINES, Sign::Line);
    series.push(Series::new("ideal", Ink::Quiet, Sign::Dashed));
    Chart {
        title: title.to_owned(),
        series,
        panels,
        least_width: 400.0,
        ..Chart::default()
    }
}

/// A line: its colour, name and points.
type Line<'a> = (usize, &'a str, Vec<(f64, f64)>);

fn panel(
    label: &str,
    (unit, scale): (Unit, Scale),
    lines: Vec<Line<'_>>,
    ideal: Vec<(f64, f64)>,
) -> Panel {
    let zero = scale == Scale::Linear;
    let y = Axis::new(label, unit.clone(), scale);
    let y = if zero { y.from_zero() } else { y };
    let mut panel = Panel::new("", Axis::new("devices", Unit::None, Scale::Log2), y);
    panel.height = greenup_report::chart::Height::Ratio(0.55);
    if ideal.len() > 1 {
        panel.push(Layer::dashed(IDEAL, ideal, 1.0, "2 4", "ideal"));
    }
    for (series, name, points) in lines.into_iter().filter(|l| !l.2.is_empty()) {
        let tip = |p: &(f64, f64)| {
            format!(
                "{label}, {name}: {} on {} devices",
                unit.show(p.1),
                three(p.0)
            )
        };
        let marks = (points.iter())
            .map(|p| Mark {
                x: p.0,
                y: p.1,
                interval: None,
                tip: tip(p),
            })
            .collect();
        panel.push(Layer::line(series, points.clone(), name));
        panel.push(Layer::points(series, marks, 6.0));
    }
    panel
}

/// Parts of the time over the number of devices.
pub fn parts_figure(title: &str, rows: &[Row]) -> Chart {
    let names: Vec<&str> = rows
        .first()
        .map_or(Vec::new(), |r| r.parts().map(|p| p.0).to_vec());
    let lines: Vec<Line<'_>> = (names.iter().enumerate())
        .map(|(k, name)| {
            let of = |r: &Row| (r.scaled.devices as f64, r.parts()[k].1 / r.scaled.time_s);
            (k, *name, rows.iter().map(of).collect::<Vec<_>>())
        })
        .filter(|l| l.2.iter().any(|p| p.1 > 1e-6))
        .collect();
    let mut panel = panel(
        "share of the time",
        (Unit::None, Scale::Linear),
        lines,
        Vec::new(),
    );
    panel.height = greenup_report::chart::Height::Ratio(0.28);
    let series = Series::all(names.iter().copied(), Sign::Line);
    Chart {
        title: title.to_owned(),
        series,
        panels: vec![panel],
        least_width: 400.0,
        ..Chart::default()
    }
}
