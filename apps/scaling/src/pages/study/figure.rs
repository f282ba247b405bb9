//! Speedup, powerup and greenup over the number of devices.

use super::table::devices;
use crate::study::ScalingStudy;
use crate::study::measured::{Point, Predicted, Series as Measured};
use crate::study::sample::Spread;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::si::three;

/// A ratio to one device.
struct Ratio {
    name: &'static str,
    measured: fn(&Point) -> Option<Spread>,
    predicted: fn(&Predicted) -> Option<f64>,
}

const RATIOS: [Ratio; 3] = [
    Ratio {
        name: "speedup",
        measured: |p| Some(p.speedup),
        predicted: |p| Some(p.speedup),
    },
    Ratio {
        name: "powerup",
        measured: |p| p.powerup,
        predicted: |p| p.powerup,
    },
    Ratio {
        name: "greenup",
        measured: |p| p.greenup,
        predicted: |p| p.greenup,
    },
];

/// More cases than these have panels by application.
const TOGETHER: usize = 4;

/// The cases of a study, those of an application in a panel of their own if they are many.
pub fn figure(study: &ScalingStudy) -> Chart {
    let all = by_application(study);
    let cases: Vec<(usize, &Measured)> = all.iter().copied().enumerate().collect();
    let mut series: Vec<Series> = (cases.iter())
        .map(|(k, a)| Series::new(&a.case, Ink::Series(*k), Sign::Dot))
        .collect();
    series.push(Series::new("ideal", Ink::Quiet, Sign::Dashed));
    let groups: Vec<(&str, Vec<(usize, &Measured)>)> = if cases.len() > TOGETHER {
        (names(&all).into_iter())
            .map(|name| {
                let own = cases.iter().filter(|c| c.1.application == name);
                (name, own.copied().collect())
            })
            .collect()
    } else {
        vec![("", cases)]
    };
    let panels = (groups.iter())
        .flat_map(|(title, cases)| {
            let panels = RATIOS
                .iter()
                .map(|r| panel(study, (title, all.len()), r, cases));
            panels.flatten().collect::<Vec<_>>()
        })
        .collect();
    Chart {
        title: format!("Scaling over {} of {}", devices(study.gpus), study.device),
        series,
        panels,
        notes: vec![
            "Dots and solid lines: medians and ranges of the rounds. Dashed lines: predicted from the first run on one."
                .into(),
        ],
        least_width: 340.0,
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

fn panel(
    study: &ScalingStudy,
    (title, ideal): (&str, usize),
    ratio: &Ratio,
    cases: &[(usize, &Measured)],
) -> Option<Panel> {
    let x = Axis::new(devices(study.gpus), Unit::None, Scale::Log2);
    let mut panel = Panel::new(title, x, Axis::new(ratio.name, Unit::None, Scale::Log2));
    panel.height = Height::Ratio(0.7);
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
        if marks.is_empty() {
            continue;
        }
        let predicted: Vec<(f64, f64)> = (a.predicted.iter())
            .filter_map(|p| Some((p.devices as f64, (ratio.predicted)(p)?)))
            .collect();
        let tip = format!("{}: predicted {}", a.case, ratio.name);
        panel.push(Layer::dashed(k, predicted, 1.5, "6 4", tip));
        let line = marks.iter().map(|m| (m.x, m.y)).collect();
        panel.push(Layer::line(k, line, a.case.clone()));
        panel.push(Layer::of(
            k,
            What::Points {
                points: marks,
                size: 8.0,
                hollow: false,
            },
        ));
    }
    if panel.layers.is_empty() {
        return None;
    }
    let most = study.counts.iter().copied().max().unwrap_or(1) as f64;
    let end = match ratio.name {
        "speedup" => most,
        "powerup" => 1.0 / most,
        _ => 1.0,
    };
    let line = vec![(1.0, 1.0), (most, end)];
    (panel.layers).insert(0, Layer::dashed(ideal, line, 1.0, "2 4", "ideal"));
    Some(panel)
}
