//! Efficiency and greenup over the number of devices: a row an application.

use super::table::devices;
use crate::study::ScalingStudy;
use crate::study::measured::{Point, Predicted, Series as Measured};
use crate::study::sample::Spread;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit, What,
};
use greenup_report::si::three;

/// A ratio that is 1 where nothing is lost.
struct Ratio {
    name: &'static str,
    measured: fn(&Point) -> Option<Spread>,
    predicted: fn(&Predicted) -> Option<f64>,
}

const RATIOS: [Ratio; 2] = [
    Ratio {
        name: "efficiency",
        measured: |p| {
            let n = p.devices as f64;
            let s = p.speedup;
            Some(Spread {
                median: s.median / n,
                lo: s.lo / n,
                hi: s.hi / n,
            })
        },
        predicted: |p| Some(p.speedup / p.devices as f64),
    },
    Ratio {
        name: "greenup",
        measured: |p| p.greenup,
        predicted: |p| p.greenup,
    },
];

/// Top of the axes; values above it make them longer.
const TOP: f64 = 1.1;

/// A row of panels an application: efficiency, and greenup where energies were measured, all with the same axes.
pub fn figure(study: &ScalingStudy) -> Chart {
    let all = by_application(study);
    let of_case = |a: &&Measured, r: &Ratio| -> Vec<f64> {
        let measured = (a.points.iter()).filter_map(|p| Some((r.measured)(p)?.hi));
        let predicted = a.predicted.iter().filter_map(r.predicted);
        measured
            .chain(predicted)
            .filter(|v| v.is_finite())
            .collect()
    };
    let top = (all.iter())
        .flat_map(|a| RATIOS.iter().flat_map(move |r| of_case(a, r)))
        .fold(TOP, |top, v| top.max(1.05 * v));
    let most = study.counts.iter().copied().max().unwrap_or(1) as f64;
    let panels = (names(&all).into_iter())
        .flat_map(|name| {
            let own = all.iter().copied().filter(|a| a.application == name);
            // Each row has the colours from the first on.
            let own: Vec<(usize, &Measured)> = own.enumerate().collect();
            let panels = RATIOS.iter().map(|r| {
                let x = Axis::new(devices(study.gpus), Unit::None, Scale::Log2);
                let y = Axis::new(r.name, Unit::None, Scale::Linear).over(0.0, top);
                // Room for labels after the ends.
                panel(Panel::new(name, x.over(0.9, 1.8 * most), y), r, &own)
            });
            panels.flatten().collect::<Vec<_>>()
        })
        .collect();
    Chart {
        title: format!("Scaling over {} of {}", devices(study.gpus), study.device),
        series: (0..all.len())
            .map(|k| Series::new("", Ink::Series(k), Sign::Dot))
            .collect(),
        panels,
        notes: vec![
            "Dots and solid lines: medians and ranges of the rounds. Dashed lines: predicted from the first run on one. 1: nothing is lost."
                .into(),
        ],
        // Two beside each other.
        least_width: 410.0,
        ..Chart::default()
    }
}

/// The cases, those of an application next to each other.
pub fn by_application(study: &ScalingStudy) -> Vec<&Measured> {
    let all: Vec<&Measured> = study.applications.iter().collect();
    (names(&all).into_iter())
        .flat_map(|name| {
            let own = study.applications.iter();
            own.filter(move |a| a.application == name)
        })
        .collect()
}

/// Names of the applications in the order of their first case.
fn names<'a>(cases: &[&'a Measured]) -> Vec<&'a str> {
    let mut out: Vec<&str> = Vec::new();
    for a in cases {
        if !out.contains(&a.application.as_str()) {
            out.push(&a.application);
        }
    }
    out
}

/// Adds the cases; `None` if none has the ratio.
fn panel(mut panel: Panel, ratio: &Ratio, cases: &[(usize, &Measured)]) -> Option<Panel> {
    panel.height = Height::Ratio(0.3);
    for &(k, a) in cases {
        let marks: Vec<Mark> = (a.points.iter())
            .filter_map(|p| {
                let s = (ratio.measured)(p)?;
                Some(Mark {
                    x: p.devices as f64,
                    y: s.median,
                    interval: Some((s.lo, s.hi)),
                    tip: format!(
                        "{}: {} {} on {}, from {} to {}",
                        a.case,
                        ratio.name,
                        three(s.median),
                        p.devices,
                        three(s.lo),
                        three(s.hi)
                    ),
                })
            })
            .collect();
        let Some(end) = marks.last() else { continue };
        panel.tags.push(Tag {
            text: a.case.clone(),
            at: vec![(end.x, end.y)],
            ink: Ink::Series(k),
            bold: false,
        });
        let predicted: Vec<(f64, f64)> = (a.predicted.iter())
            .filter_map(|p| Some((p.devices as f64, (ratio.predicted)(p)?)))
            .collect();
        let tip = format!("{}: predicted {}", a.case, ratio.name);
        panel.push(Layer::dashed(k, predicted, 1.5, "6 4", tip));
        let line = marks.iter().map(|m| (m.x, m.y)).collect();
        panel.push(Layer::line(k, line, a.case.clone()));
        panel.push(Layer::points(k, marks, 8.0));
    }
    if panel.layers.is_empty() {
        return None;
    }
    let ideal = What::Rule {
        x: None,
        y: Some(1.0),
        dash: "2 4",
    };
    (panel.layers).insert(0, Layer::of(0, ideal).inked(Ink::Quiet));
    Some(panel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_recorded_study_is_a_grid_with_clear_texts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text =
            std::fs::read_to_string(root.join("sweeps/scaling_h100x2/scaling.json")).unwrap();
        let mut study: ScalingStudy = serde_json::from_str(&text).unwrap();
        let chart = figure(&study);
        assert_eq!(chart.panels.len(), 2 * names(&by_application(&study)).len());
        assert!(
            chart
                .panels
                .iter()
                .all(|p| p.y.range == chart.panels[0].y.range)
        );
        for width in [280.0, 400.0, 580.0, 840.0, 1200.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
        // Better predictions than measurements stay within the axes.
        for p in study.applications.iter_mut().flat_map(|a| &mut a.predicted) {
            p.speedup *= 3.0;
        }
        let chart_of_better = figure(&study);
        let (_, top) = chart_of_better.panels[0].y.range.unwrap();
        assert!(
            (study.applications.iter().flat_map(|a| &a.predicted))
                .all(|p| p.speedup < top * p.devices as f64)
        );
        for p in study.applications.iter_mut().flat_map(|a| &mut a.points) {
            p.greenup = None;
        }
        assert_eq!(2 * figure(&study).panels.len(), chart.panels.len());
    }
}
