//! The study as a page.

use crate::study::{KernelResult, Study};
use greenup_model::{EnergyRoofline, Machine, MachineError, Op};
use greenup_report::bar_figure::{Pair, Part, bars};
use greenup_report::page::{Cell, Fact, Figure, Header, LegendItem, Page, Section, Table};
use greenup_report::roofline_figure::{Interval, Line, Point, RooflineFigure};
use greenup_report::si::{percent, si, three};
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
    let mut sections = vec![lines(study, &figure)?, kernels(study)];
    if let Some(assumed) = &study.assume {
        sections.push(assumed_energy(study, assumed)?);
    }
    sections.push(next_steps(study));
    sections.push(constants(study));
    sections.push(facts(study));
    sections.push(calibration_points(study));
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

fn kernels(study: &Study) -> Section {
    let header = [
        ("kernel", ""),
        (
            "flop/B",
            "flops over bytes of slow memory that it must move at least",
        ),
        ("time", "median of one iteration"),
        ("±", "half of the 95 % interval"),
        ("predicted", "time by the calibrated machine"),
        ("error", "(predicted − measured)/measured"),
        ("bound by", "what sets the predicted time"),
        (
            "roof then",
            "the binding roof measured again beside the kernel, over the calibrated one",
        ),
        (
            "of roof",
            "the roof's time over the measured one, with the roof as it then stood",
        ),
        ("rate", ""),
        (
            "headroom",
            "time that a perfect version would save, with the roof as it then stood",
        ),
        ("energy", "median of one iteration"),
        ("predicted E", "energy by the calibrated machine"),
        ("headroom E", "energy that a perfect version would save"),
        (
            "check",
            "largest error against a reference of twice the precision",
        ),
    ];
    let missing = || Cell::text("–");
    let row = |k: &KernelResult| -> Option<Vec<Cell>> {
        let m = k.measured.as_ref()?;
        let t = m.time_s.median;
        let share = k.share_then()?;
        let headroom = |x: f64| Cell::number(x, percent(x.max(0.0)));
        let saved = |measured: f64, predicted: f64| headroom(1.0 - predicted / measured);
        Some(vec![
            Cell::text(&k.name),
            Cell::number(k.intensity, three(k.intensity)),
            Cell::number(t, si(t, "s")),
            Cell::number(
                m.time_s.relative_error(),
                percent(m.time_s.relative_error()),
            ),
            Cell::number(k.predicted.time_s, si(k.predicted.time_s, "s")),
            Cell::number(k.time_error?, percent(k.time_error?)),
            Cell::text(k.predicted.bound.to_string()),
            k.roof_then
                .map_or_else(missing, |r| Cell::number(r, percent(r)))
                .marked(if k.roof_moved() { "bad" } else { "" }),
            Cell::number(share, percent(share)).marked(if share > 1.05 {
                "bad"
            } else if share > 0.85 {
                "good"
            } else {
                ""
            }),
            Cell::number(k.flops / t, si(k.flops / t, "flop/s")),
            headroom(1.0 - share),
            m.energy_j
                .map_or_else(missing, |e| Cell::number(e.median, si(e.median, "J"))),
            k.predicted
                .energy_j
                .map_or_else(missing, |e| Cell::number(e, si(e, "J"))),
            m.energy_j
                .zip(k.predicted.energy_j)
                .map_or_else(missing, |(m, p)| saved(m.median, p)),
            Cell::number(
                k.verification.0,
                format!("{:.0e} ≤ {:.0e}", k.verification.0, k.verification.1),
            ),
        ])
    };
    let mut figures = Vec::new();
    let pairs: Vec<Pair> = study
        .kernels
        .iter()
        .filter_map(|k| {
            let m = k.measured.as_ref()?;
            let (lo, hi) = k.predicted.time_interval_s;
            Some(Pair {
                name: k.name.clone(),
                measured: (m.time_s.median, m.time_s.lo, m.time_s.hi),
                predicted: (k.predicted.time_s, lo, hi),
                parts: vec![],
            })
        })
        .collect();
    if !pairs.is_empty() {
        figures.push(Figure {
            svg: bars("Time: measured against predicted", "s", &pairs),
            caption: "One scale a kernel: 1 is the predicted time.".into(),
        });
    }
    let pairs: Vec<Pair> = study.kernels.iter().filter_map(energy_pair).collect();
    if !pairs.is_empty() {
        figures.push(Figure {
            svg: bars("Energy: measured against predicted", "J", &pairs),
            caption: "The predicted energy split into operations, bytes and constant power.".into(),
        });
    }
    let flags: Vec<Fact> = study
        .kernels
        .iter()
        .flat_map(|k| {
            let flags = k.measured.iter().flat_map(|m| &m.flags);
            flags
                .filter(|f| **f != greenup_meter::Flag::NoEnergy)
                .map(|f| Fact::new(&k.name, f.to_string()))
        })
        .collect();
    Section {
        id: "kernels".into(),
        title: "Real kernels, measured and predicted".into(),
        label: Some("measured"),
        paragraphs: study
            .kernels
            .iter()
            .map(|k| format!("{}: {}.", k.name, k.about))
            .collect(),
        items: flags,
        figures,
        tables: vec![Table {
            caption: "Every time counts only after the result was checked.".into(),
            header: header.iter().map(|(n, a)| Header::new(n, a)).collect(),
            rows: study.kernels.iter().filter_map(row).collect(),
        }],
        ..Section::default()
    }
}

fn energy_pair(k: &KernelResult) -> Option<Pair> {
    let e = k.measured.as_ref()?.energy_j?;
    let (lo, hi) = k.predicted.energy_interval_j?;
    let mut parts: Vec<Part> = k
        .predicted
        .energy_by_op_j
        .iter()
        .map(|(op, v)| Part {
            name: op.to_string(),
            value: *v,
        })
        .collect();
    parts.push(Part {
        name: "constant power".into(),
        value: k.predicted.constant_energy_j?,
    });
    Some(Pair {
        name: k.name.clone(),
        measured: (e.median, e.lo, e.hi),
        predicted: (k.predicted.energy_j?, lo, hi),
        parts,
    })
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
        label: Some(assumed.label.name()),
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

fn constants(study: &Study) -> Section {
    let m = &study.machine;
    let rows = m
        .cost
        .iter()
        .map(|(op, c)| {
            let unit = op.unit_name();
            let cell = |e: &Option<greenup_model::Estimate>, scale: &str| match e {
                Some(e) => [
                    Cell::number(e.value, si(e.value, &format!("{scale}/{unit}"))),
                    Cell::text(format!("{} … {}", si(e.low(), scale), si(e.high(), scale))),
                ],
                None => [Cell::text("–"), Cell::text("–")],
            };
            let rate = c.time_s.as_ref().map_or_else(
                || Cell::text("–"),
                |t| Cell::number(1.0 / t.value, si(1.0 / t.value, &format!("{unit}/s"))),
            );
            let mut row = vec![Cell::text(op.name()), rate];
            row.extend(cell(&c.time_s, "s"));
            row.extend(cell(&c.energy_j, "J"));
            row
        })
        .collect();
    let mut paragraphs: Vec<String> = m.warnings.clone();
    if let Some(c) = study.fit.condition_number {
        paragraphs.push(format!("Condition number of the energy fit: {}.", three(c)));
    }
    if let Some(e) = &study.fit.time_errors {
        paragraphs.push(format!(
            "The fit's own error in time over {} benchmarks: mean {}, largest {}.",
            e.n,
            percent(e.mean_abs),
            percent(e.max_abs)
        ));
    }
    Section {
        id: "constants".into(),
        title: "Machine constants".into(),
        label: Some("measured"),
        paragraphs,
        tables: vec![Table {
            caption: "All cores together; also in machine.toml".into(),
            header: ["class", "rate", "τ", "95 %", "ε", "95 %"]
                .map(|n| Header::new(n, ""))
                .to_vec(),
            rows,
        }],
        ..Section::default()
    }
}

fn facts(study: &Study) -> Section {
    let items = study
        .machine
        .facts
        .iter()
        .map(|(k, v)| Fact::new(k, v.clone()))
        .chain(study.facts.caches.iter().map(|c| {
            Fact::new(
                &format!("L{}", c.level),
                format!("{} KiB, shared by {}", c.bytes >> 10, c.shared_by),
            )
        }))
        .chain([Fact::new(
            "energy sensor",
            study.sensor.clone().unwrap_or_else(|| "none".into()),
        )])
        .collect();
    Section {
        id: "facts".into(),
        title: "Machine facts".into(),
        items,
        ..Section::default()
    }
}

fn calibration_points(study: &Study) -> Section {
    let rows = study
        .calibration
        .points
        .iter()
        .map(|p| {
            let (op, n) = p
                .work
                .iter()
                .max_by(|a, b| a.0.is_flop().cmp(&b.0.is_flop()))
                .copied()
                .unwrap_or((Op::Dram, 0.0));
            let r = n / p.time_s.median;
            vec![
                Cell::text(&p.name),
                Cell::number(p.threads as f64, p.threads.to_string()),
                Cell::number(r, si(r, &format!("{}/s", op.unit_name()))),
                Cell::number(
                    p.time_s.relative_error(),
                    percent(p.time_s.relative_error()),
                ),
                p.power_w.map_or_else(
                    || Cell::text("–"),
                    |w| Cell::number(w.median, si(w.median, "W")),
                ),
            ]
        })
        .collect();
    Section {
        id: "points".into(),
        title: "Microbenchmarks".into(),
        label: Some("measured"),
        tables: vec![Table {
            caption: "In the random order in which they ran; all columns in records.csv".into(),
            header: ["benchmark", "threads", "rate", "±", "power"]
                .map(|n| Header::new(n, ""))
                .to_vec(),
            rows,
        }],
        ..Section::default()
    }
}
