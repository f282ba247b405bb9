//! The figure and the page of measured scaling.

use crate::scaling::measured::{Point, Predicted, Series as Measured, Spread};
use crate::scaling::study::ScalingStudy;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::page::{Cell, Fact, Figure, Header, Page, Section, Table};
use greenup_report::si::{percent, si, three};

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

/// What a device is called.
fn devices(study: &ScalingStudy) -> &'static str {
    if study.gpus { "GPUs" } else { "ranks" }
}

/// Speedup, and with energies powerup and greenup, over the number of devices.
pub fn figure(study: &ScalingStudy) -> Chart {
    let mut series: Vec<Series> = (study.applications.iter().enumerate())
        .map(|(k, a)| Series::new(&a.application, Ink::Series(k), Sign::Dot))
        .collect();
    let ideal = series.len();
    series.push(Series::new("ideal", Ink::Quiet, Sign::Dashed));
    let panels = RATIOS
        .iter()
        .filter_map(|ratio| {
            let mut panel = panel(study, ratio)?;
            let most = study.counts.iter().copied().max().unwrap_or(1) as f64;
            let end = match ratio.name {
                "speedup" => most,
                "powerup" => 1.0 / most,
                _ => 1.0,
            };
            let line = vec![(1.0, 1.0), (most, end)];
            panel
                .layers
                .insert(0, Layer::dashed(ideal, line, 1.0, "2 4", "ideal"));
            Some(panel)
        })
        .collect();
    Chart {
        title: format!("Scaling over {} of {}", devices(study), study.device),
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

fn panel(study: &ScalingStudy, ratio: &Ratio) -> Option<Panel> {
    let x = Axis::new(devices(study), Unit::None, Scale::Log2);
    let mut panel = Panel::new("", x, Axis::new(ratio.name, Unit::None, Scale::Log2));
    panel.height = Height::Ratio(0.7);
    for (k, a) in study.applications.iter().enumerate() {
        let marks: Vec<Mark> = (a.points.iter())
            .filter_map(|p| {
                let s = (ratio.measured)(p)?;
                Some(Mark {
                    x: p.devices as f64,
                    y: s.median,
                    interval: Some((s.lo, s.hi)),
                    tip: format!(
                        "{}: {} {} on {}, from {} to {}",
                        a.application,
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
        let predicted: Vec<(f64, f64)> = (a.points.iter())
            .filter_map(|p| Some((p.devices as f64, (ratio.predicted)(p.predicted.as_ref()?)?)))
            .collect();
        let tip = format!("{}: predicted {}", a.application, ratio.name);
        panel.push(Layer::dashed(k, predicted, 1.5, "6 4", tip));
        let line = marks.iter().map(|m| (m.x, m.y)).collect();
        panel.push(Layer::line(k, line, a.application.clone()));
        panel.push(Layer::of(
            k,
            What::Points {
                points: marks,
                size: 8.0,
                hollow: false,
            },
        ));
    }
    (!panel.layers.is_empty()).then_some(panel)
}

/// Builds the page.
pub fn page(study: &ScalingStudy) -> Page {
    let what = devices(study);
    let most = study.counts.iter().copied().max().unwrap_or(1);
    let headline = (study.applications.iter())
        .filter_map(|a| {
            let last = a.points.last().filter(|p| p.devices > 1)?;
            let greenup = last
                .greenup
                .map_or_else(String::new, |g| format!(", greenup {}", three(g.median)));
            let value = format!(
                "speedup {} on {} {what}{greenup}",
                three(last.speedup.median),
                last.devices
            );
            Some(Fact::new(&a.application, value))
        })
        .collect();
    let mut about = vec![format!(
        "Each application solves the same problem on 1 to {most} {what}, in {} interleaved rounds. Speedup, powerup and greenup compare with \
         one: T₁/T, P₁/P and E₁/E.",
        study.rounds
    )];
    about.push(match study.gpus {
        true => "Energies are those of the GPUs' own counters, without the host. hydro's are of its steps; those of the others are of an \
                 evaluation that is repeated on all GPUs at the same time, whose time can differ from the evaluation that the speedup compares."
            .into(),
        false => "A rank has one thread. Energies of ranks are not measured.".to_owned(),
    });
    about.push(format!(
        "Predictions are made before any run on several {what}: from the first run on one, and from messages over the link ({}). {}",
        study.link,
        match study.gpus {
            true => "They leave out that GPUs share the power of a host.",
            false => "They have the bandwidth of memory and caches and the clock that the ranks share, where the link's measurement has them.",
        }
    ));
    if study.interrupted {
        about.push("Interrupted: these are the measurements so far.".into());
    }
    let mut sections = vec![Section {
        id: "scaling".into(),
        title: "Speedup, powerup, greenup".into(),
        label: Some("measured"),
        paragraphs: about,
        figures: vec![Figure::chart(&figure(study), "").wide()],
        ..Section::default()
    }];
    sections.extend(study.applications.iter().map(|a| section(a, what)));
    if let Some(link) = &study.constants {
        sections.push(Section {
            id: "link".into(),
            title: "Link".into(),
            paragraphs: vec![format!("Between the {what}: {}.", study.link)],
            items: (link.constants().into_iter())
                .map(|(name, unit, e)| Fact::new(name, si(e.value, unit)))
                .collect(),
            ..Section::default()
        });
    }
    if !study.missing.is_empty() {
        sections.push(Section {
            id: "missing".into(),
            title: "Not measured".into(),
            paragraphs: study.missing.clone(),
            ..Section::default()
        });
    }
    Page {
        title: format!("Scaling over {what}"),
        subtitle: study.device.clone(),
        headline,
        sections,
        footer: "Medians; ranges are those of the rounds.".into(),
        provenance: study.provenance.facts(),
    }
}

fn section(a: &Measured, what: &str) -> Section {
    Section {
        id: a.application.clone(),
        title: a.application.clone(),
        label: Some("measured"),
        paragraphs: vec![format!("{}: {}", a.problem, a.command)],
        tables: vec![table(a, what)],
        ..Section::default()
    }
}

/// Titles, explanations and texts of the columns, also for the terminal; without energies where there are none.
pub fn columns(a: &Measured, what: &str) -> (Vec<Header>, Vec<Vec<Cell>>) {
    let energies = a.points.iter().any(|p| p.energy_j.is_some());
    let mut header = vec![
        Header::new(what, ""),
        Header::new("time", "Median of the rounds."),
        Header::new("range", "Smallest and largest time."),
        Header::new("predicted", "Time, from the first run on one."),
        Header::new("error", "Of the predicted time."),
        Header::new("speedup", "T₁/T"),
        Header::new("predicted", "Speedup"),
        Header::new("efficiency", "Speedup over the number of devices."),
    ];
    if energies {
        header.extend([
            Header::new("power", "Of all devices."),
            Header::new("energy", "Of all devices."),
            Header::new("powerup", "P₁/P"),
            Header::new("predicted", "Powerup"),
            Header::new("greenup", "E₁/E"),
            Header::new("predicted", "Greenup"),
        ]);
    }
    let number = |v: Option<f64>, text: &dyn Fn(f64) -> String| match v {
        Some(v) => Cell::number(v, text(v)),
        None => Cell::text("–"),
    };
    let median = |s: Option<Spread>| s.map(|s| s.median);
    let rows = (a.points.iter())
        .map(|p| {
            let t = p.time_s;
            let model = p.predicted;
            let mut row = vec![
                Cell::number(p.devices as f64, p.devices.to_string()),
                Cell::number(t.median, si(t.median, "s")),
                Cell::number(
                    t.hi - t.lo,
                    format!("{} … {}", si(t.lo, "s"), si(t.hi, "s")),
                ),
                number(model.map(|m| m.time_s), &|v| si(v, "s")),
                number(model.map(|m| m.time_s / t.median - 1.0), &percent),
                number(Some(p.speedup.median), &three),
                number(model.map(|m| m.speedup), &three),
                number(Some(p.speedup.median / p.devices as f64), &percent),
            ];
            if energies {
                row.extend([
                    number(median(p.power_w), &|v| si(v, "W")),
                    number(median(p.energy_j), &|v| si(v, "J")),
                    number(median(p.powerup), &three),
                    number(model.and_then(|m| m.powerup), &three),
                    number(median(p.greenup), &three),
                    number(model.and_then(|m| m.greenup), &three),
                ]);
            }
            row
        })
        .collect();
    (header, rows)
}

fn table(a: &Measured, what: &str) -> Table {
    let (header, rows) = columns(a, what);
    Table {
        caption: format!("{} on several {what}", a.application),
        header,
        rows,
    }
}
