//! Figures of scaling over nodes.

use crate::scaling::Row;
use crate::scaling::published::Beside;
use greenup_report::chart::{Axis, Chart, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit};
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
            panel.push(Layer::points(1, marks, 8.0));
            panel
        })
        .collect();
    Chart {
        title: "Published scaling studies and the model".into(),
        series: vec![
            Series::new("model", Ink::Series(0), Sign::Line),
            Series::new("published", Ink::Series(1), Sign::Dot),
        ],
        panels,
        least_width: 400.0,
        ..Chart::default()
    }
}

/// Time, energy, efficiency and ratios over the number of devices.
pub fn figure(title: &str, rows: &[Row]) -> Chart {
    let names = ["predicted", "speedup", "powerup", "greenup"];
    let value = |f: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        let known = rows
            .iter()
            .filter_map(|r| Some((r.scaled.devices as f64, f(r)?)));
        known.filter(|p| p.1.is_finite() && p.1 > 0.0).collect()
    };
    let panel = |label: &str, unit: Unit, scale: Scale, lines: Vec<(usize, Vec<(f64, f64)>)>| {
        let zero = scale == Scale::Linear;
        let y = Axis::new(label, unit.clone(), scale);
        let y = if zero { y.from_zero() } else { y };
        let mut panel = Panel::new("", Axis::new("devices", Unit::None, Scale::Log2), y);
        panel.height = greenup_report::chart::Height::Ratio(0.55);
        for (series, points) in lines.into_iter().filter(|l| !l.1.is_empty()) {
            let tip =
                |p: &(f64, f64)| format!("{}: {} at {}", names[series], unit.show(p.1), three(p.0));
            let marks = (points.iter())
                .map(|p| Mark {
                    x: p.0,
                    y: p.1,
                    interval: None,
                    tip: tip(p),
                })
                .collect();
            panel.push(Layer::line(series, points.clone(), names[series]));
            panel.push(Layer::points(series, marks, 6.0));
        }
        panel
    };
    let mut panels = vec![panel(
        "time",
        Unit::si("s"),
        Scale::Log,
        vec![(0, value(&|r| Some(r.scaled.time_s)))],
    )];
    let energy = value(&|r| r.scaled.energy_j);
    if !energy.is_empty() {
        panels.push(panel(
            "energy",
            Unit::si("J"),
            Scale::Log,
            vec![(0, energy)],
        ));
    }
    panels.push(panel(
        "efficiency",
        Unit::None,
        Scale::Linear,
        vec![(0, value(&|r| Some(r.efficiency)))],
    ));
    panels.push(panel(
        "over one device",
        Unit::None,
        Scale::Log,
        vec![
            (1, value(&|r| Some(r.speedup))),
            (2, value(&|r| r.powerup)),
            (3, value(&|r| r.greenup)),
        ],
    ));
    Chart {
        title: title.to_owned(),
        series: names
            .iter()
            .enumerate()
            .map(|(k, n)| Series::new(*n, Ink::Series(k), Sign::Line))
            .collect(),
        panels,
        least_width: 400.0,
        ..Chart::default()
    }
}
