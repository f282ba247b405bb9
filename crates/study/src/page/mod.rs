//! The study as a page.

mod kernels;
mod machine;
mod tuning;

use crate::study::Study;
use greenup_model::{EnergyRoofline, Label, Machine, MachineError, Op};
use greenup_report::page::{Cell, Fact, Figure, Header, LegendItem, Page, Section, Table};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Line, Point};
use greenup_report::si::{si, three};
use greenup_report::svg::colour;

/// The figure of the measured side: this machine, its kernels, its calibration points.
pub fn roofline_figure(study: &Study) -> Result<RooflineFigure, MachineError> {
    let line = Line::of(&study.machine, Op::F64)?;
    let points = study
        .kernels
        .iter()
        .filter_map(|k| {
            let m = k.measured.as_ref()?;
            let rate = |s: &greenup_meter::Summary| Interval {
                value: k.flops / s.median,
                lo: k.flops / s.hi,
                hi: k.flops / s.lo,
            };
            Some(Point {
                name: k.name.clone(),
                line: 0,
                intensity: k.intensity,
                flops_per_s: rate(&m.time_s),
                flops_per_j: m.energy_j.as_ref().map(rate),
                power_w: m.power_w.map(|p| Interval {
                    value: p.median,
                    lo: p.lo,
                    hi: p.hi,
                }),
            })
        })
        .collect();
    Ok(RooflineFigure {
        title: format!("{}, double precision", study.machine.title),
        lines: vec![line],
        points,
        intensity: (1.0 / 16.0, 512.0),
        label_points: true,
    })
}

/// Builds the page.
///
/// # Errors
/// When the calibrated machine lacks a class that the page draws.
pub fn page(study: &Study) -> Result<Page, MachineError> {
    let figure = roofline_figure(study)?;
    let mut sections = vec![lines(study, &figure)?, kernels::section(study)];
    if let Some(assumed) = &study.assume {
        sections.push(assumed_energy(study, assumed)?);
    }
    sections.extend(tuning::section(study));
    sections.push(next_steps(study));
    sections.push(machine::constants(study));
    sections.push(machine::facts(study));
    sections.push(machine::calibration_points(study));
    Ok(Page {
        title: format!("Energy roofline of {}", study.machine.name),
        subtitle: format!(
            "{}{}",
            study.machine.title,
            if study.interrupted {
                " — interrupted: what had been measured"
            } else {
                ""
            }
        ),
        headline: headline(study),
        sections,
        footer: format!("Made by `{}`. Medians with 95 % intervals.", study.command),
    })
}

fn rate(machine: &Machine, op: Op) -> Option<f64> {
    machine.time_of(op).ok().map(|t| 1.0 / t)
}

/// The few numbers that the terminal shows as well.
pub fn headline(study: &Study) -> Vec<Fact> {
    let m = &study.machine;
    let mut facts = Vec::new();
    for (name, op, unit) in [
        ("double precision", Op::F64, "flop/s"),
        ("single precision", Op::F32, "flop/s"),
        ("slow memory", Op::Dram, "B/s"),
    ] {
        if let Some(r) = rate(m, op) {
            facts.push(Fact::new(name, si(r, unit)));
        }
    }
    if let (Ok(f), Ok(d)) = (m.time_of(Op::F64), m.time_of(Op::Dram)) {
        facts.push(Fact::new(
            "time balance",
            format!("{} flop/B", three(d / f)),
        ));
    }
    match m.roofline(Op::F64, Op::Dram) {
        Ok(r) => {
            facts.push(Fact::new("constant power", si(r.pi0, "W")));
            facts.push(Fact::new(
                "energy balance",
                format!("{} flop/B", three(r.energy_balance())),
            ));
        }
        Err(_) => facts.push(Fact::new("energy", "not measured (no sensor)")),
    }
    facts
}

fn legend(figure: &RooflineFigure) -> Vec<LegendItem> {
    figure
        .lines
        .iter()
        .enumerate()
        .map(|(i, l)| LegendItem {
            name: l.name.clone(),
            series: format!("s{i}"),
            colour: colour(i),
        })
        .collect()
}

fn panels(figure: &RooflineFigure) -> Vec<Figure> {
    figure
        .panels()
        .into_iter()
        .map(|p| Figure {
            svg: figure.panel_svg(p),
            caption: String::new(),
        })
        .collect()
}

fn lines(study: &Study, figure: &RooflineFigure) -> Result<Section, MachineError> {
    let mut paragraphs = vec![
        "Solid: what this machine can reach at each intensity, with its 95 % band; dashed: the caches' own roofs. Points: the measured kernels with their intervals."
            .to_owned(),
    ];
    if !study.machine.has_energy() {
        paragraphs.push(
            "No sensor of this host measures energy, so only the time side is drawn. `greenup doctor` says what is missing; `--assume MACHINE` adds a published machine's energy side, apart from the measurements."
                .to_owned(),
        );
    }
    let above = figure.above_roof();
    if !above.is_empty() {
        paragraphs.push(format!(
            "Above the roof (ringed red): {}. A point there means that the roof or the count of bytes is wrong.",
            above.join(", ")
        ));
    }
    let mut section = Section {
        id: "lines".into(),
        title: "Where this machine's limits are".into(),
        label: Some("measured"),
        paragraphs,
        legend: legend(figure),
        figures: panels(figure),
        ..Section::default()
    };
    if let Ok(r) = study.machine.roofline(Op::F64, Op::Dram) {
        section.items = balances(&r);
    }
    Ok(section)
}

fn balances(r: &EnergyRoofline) -> Vec<Fact> {
    vec![
        Fact::new(
            "Time balance",
            format!(
                "{} flop/B: below it a kernel waits for memory",
                three(r.time_balance())
            ),
        ),
        Fact::new(
            "Energy balance",
            format!(
                "{} flop/B: below it bytes cost more joules than flops",
                three(r.energy_balance())
            ),
        ),
        Fact::new(
            "Half of the best flop/J",
            format!("at {} flop/B", three(r.half_efficiency_intensity())),
        ),
        Fact::new("Largest power", si(r.max_power(), "W")),
    ]
}

/// The energy side of a published machine, with nothing measured in it.
fn assumed_energy(study: &Study, assumed: &Machine) -> Result<Section, MachineError> {
    let flop = if assumed.cost.contains_key(&Op::F64) {
        Op::F64
    } else {
        Op::F32
    };
    let figure = RooflineFigure {
        title: assumed.title.clone(),
        lines: vec![Line::of(assumed, flop)?],
        points: vec![],
        intensity: (1.0 / 16.0, 512.0),
        label_points: false,
    };
    let rows = study
        .kernels
        .iter()
        .filter_map(|k| {
            let p = k.assumed.as_ref()?;
            Some(vec![
                Cell::text(&k.name),
                Cell::number(p.time_s, si(p.time_s, "s")),
                p.energy_j
                    .map_or_else(|| Cell::text("–"), |e| Cell::number(e, si(e, "J"))),
                p.power_w
                    .map_or_else(|| Cell::text("–"), |w| Cell::number(w, si(w, "W"))),
                Cell::text(p.bound.to_string()),
            ])
        })
        .collect::<Vec<_>>();
    let mut paragraphs = vec![format!(
        "{} — {} numbers ({}), not of this host and not measured here. They show what the same work would cost on that machine.",
        assumed.title,
        assumed.label.name(),
        assumed.sources.join("; ")
    )];
    if rows.is_empty() {
        paragraphs.push(format!(
            "The kernels are double precision, for which {} has no cost.",
            assumed.name
        ));
    }
    let tables = if rows.is_empty() {
        vec![]
    } else {
        vec![Table {
            caption: format!("The kernels' work on {}", assumed.name),
            header: ["kernel", "time", "energy", "power", "bound by"]
                .map(|n| Header::new(n, ""))
                .to_vec(),
            rows,
        }]
    };
    Ok(Section {
        id: "assumed".into(),
        title: format!("Energy, assumed: {}", assumed.name),
        label: Some(match assumed.label {
            Label::Estimated => "estimated",
            // Derived from printed numbers; a machine measured elsewhere is as good as printed.
            _ => "published",
        }),
        paragraphs,
        figures: panels(&figure),
        tables,
        ..Section::default()
    })
}

fn next_steps(study: &Study) -> Section {
    let items = study
        .kernels
        .iter()
        .map(|k| Fact::new(&k.name, k.advice.join(" ")))
        .collect();
    Section {
        id: "next".into(),
        title: "What to do next".into(),
        items,
        ..Section::default()
    }
}
