//! The pages of predicted scaling and of published scaling studies.

use super::{figure, parts_figure, published_figure};
use crate::published::Beside;
use crate::{Record, Row};
use greenup_model::Machine;
use greenup_model::machine::Estimate;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

/// Predictions of one kind.
pub struct Kind {
    /// Whether the work grows with the devices.
    pub weak: bool,
    /// The problem in words.
    pub problem: String,
    /// Each number of devices.
    pub rows: Vec<Row>,
}

impl Kind {
    fn name(&self) -> &'static str {
        if self.weak { "weak" } else { "strong" }
    }
}

/// Builds the page of an application on a machine.
pub fn page(application: &str, machine: &Machine, record: &Record, kinds: &[Kind]) -> Page {
    let headline = kinds.iter().filter_map(headline).collect();
    let mut sections: Vec<Section> = kinds.iter().map(section).collect();
    let measured = |r: &Record| match r.device.as_str() {
        "" => "one device".to_owned(),
        device => format!("one {device}"),
    };
    sections.push(Section {
        id: "from".into(),
        title: "Predicted from".into(),
        label: Some(record.label.name()),
        paragraphs: [
            format!(
                "{} runs of {application} on {}. Each device has its share of the work; messages and all-reduces cost what the network and the \
                 link of the machine say.",
                record.runs.len(),
                measured(record)
            ),
            record.about.clone(),
        ]
        .into_iter()
        .filter(|t| !t.is_empty())
        .collect(),
        items: (record.sources.iter().map(|s| Fact::new("source", s)))
            .chain(record.commands.iter().map(|c| Fact::new("command", c)))
            .collect(),
        ..Section::default()
    });
    sections.push(constants(machine));
    Page {
        title: format!("Scaling of {application}"),
        subtitle: machine.title.clone(),
        headline,
        sections,
        footer: "Predicted, not measured. Speedup, powerup and greenup compare with one device that does the same work: T₁/T, P₁/P and E₁/E."
            .into(),
        ..Page::default()
    }
}

fn headline(kind: &Kind) -> Option<Fact> {
    let half = kind.rows.iter().rev().find(|r| r.efficiency >= 0.5)?;
    Some(Fact::new(
        &format!("{} scaling, efficiency", kind.name()),
        format!("≥ 50 % up to {} devices", half.scaled.devices),
    ))
}

fn section(kind: &Kind) -> Section {
    let name = kind.name();
    let title = format!("{} scaling", if kind.weak { "Weak" } else { "Strong" });
    let work = match kind.weak {
        true => "Each device has the same work.",
        false => "All devices share the same work.",
    };
    Section {
        id: name.into(),
        label: Some("estimated"),
        paragraphs: vec![format!(
            "{} {work} Dashed: no time is lost. Efficiency is relative to the first row.",
            kind.problem
        )],
        figures: vec![
            Figure::chart(&figure(&title, &kind.rows, kind.weak), "").wide(),
            Figure::chart(
                &parts_figure("What the time consists of", &kind.rows),
                "The largest part is what binds.",
            )
            .wide(),
        ],
        tables: vec![table(kind)],
        title,
        ..Section::default()
    }
}

/// Titles, explanations and cells of the columns, also for the terminal; columns that are 0 everywhere are left out.
pub fn columns(rows: &[Row]) -> (Vec<Header>, Vec<Vec<Cell>>) {
    let number = |v: Option<f64>, text: &dyn Fn(f64) -> String| match v {
        Some(v) => Cell::number(v, text(v)),
        None => Cell::text("–"),
    };
    let count = |n: usize| Cell::number(n as f64, n.to_string());
    let mut header = vec![
        Header::new("nodes", ""),
        Header::new("devices", "Of all nodes."),
        Header::new("time", ""),
        Header::new("energy", "Of all devices, with messages and waiting."),
        Header::new("efficiency", "Speedup a device, relative to the first row."),
        Header::new("speedup", "T₁/T"),
        Header::new("powerup", "P₁/P"),
        Header::new("greenup", "E₁/E"),
    ];
    let mut cells: Vec<Vec<Cell>> = (rows.iter())
        .map(|r| {
            let s = &r.scaled;
            vec![
                count(s.nodes),
                count(s.devices),
                number(Some(s.time_s), &|v| si(v, "s")),
                number(s.energy_j, &|v| si(v, "J")),
                number(Some(r.efficiency), &percent),
                number(Some(r.speedup), &three),
                number(r.powerup, &three),
                number(r.greenup, &three),
            ]
        })
        .collect();
    let about = [
        "",
        "Share of the time: sending and receiving, one message after another.",
        "Share of the time: sums and largest values of all devices.",
        "Share of the time: lost because ranks of a host share memory, caches and clock.",
        "Share of the time: results of the devices of a host are put together.",
    ];
    for (k, about) in about.iter().enumerate().skip(1) {
        if k > 2 && rows.iter().all(|r| r.parts()[k].1 <= 0.0) {
            continue;
        }
        let name = rows.first().map_or("", |r| r.parts()[k].0);
        header.push(Header::new(name, about));
        for (row, r) in cells.iter_mut().zip(rows) {
            row.push(number(Some(r.parts()[k].1 / r.scaled.time_s), &percent));
        }
    }
    header.push(Header::new("bound by", "The largest part of the time."));
    for (row, r) in cells.iter_mut().zip(rows) {
        row.push(Cell::text(r.bound_by()));
    }
    (header, cells)
}

fn table(kind: &Kind) -> Table {
    let (header, rows) = columns(&kind.rows);
    Table {
        caption: format!("{} scaling, predicted", kind.name()),
        header,
        rows,
    }
}

/// Network, link and host of the machine.
fn constants(machine: &Machine) -> Section {
    let mut rows = Vec::new();
    let mut put = |of: &str, name: &str, unit: &str, e: &Estimate| {
        let interval = match (e.lo, e.hi) {
            (None, None) => "–".to_owned(),
            _ => format!("{} … {}", si(e.low(), unit), si(e.high(), unit)),
        };
        rows.push(vec![
            Cell::text(of),
            Cell::text(name),
            Cell::number(e.value, si(e.value, unit)),
            Cell::text(interval),
            Cell::text(e.label.unwrap_or(machine.label).name()),
            Cell::text(e.source.clone().unwrap_or_default()),
        ]);
    };
    if let Some(n) = &machine.network {
        for (name, unit, e) in n.constants() {
            put("network, between nodes", name, unit, e);
        }
    }
    if let Some(l) = &machine.link {
        for (name, unit, e) in l.constants() {
            put("link, within a node", name, unit, e);
        }
    }
    if let Some(h) = &machine.host {
        for (name, unit, e) in h.constants() {
            put("host", &name, unit, &e);
        }
    }
    let mut paragraphs = Vec::new();
    if rows.is_empty() {
        paragraphs.push(format!(
            "`{}` has no network and no link: messages cost nothing. `greenup calibrate --network` measures them.",
            machine.name
        ));
    }
    Section {
        id: "machine".into(),
        title: format!("Network of {}", machine.name),
        items: vec![Fact::new(
            "devices of a node",
            machine.devices_per_node().to_string(),
        )],
        paragraphs,
        tables: match rows.is_empty() {
            true => Vec::new(),
            false => vec![Table {
                caption: "Constants, with their intervals and sources".into(),
                header: ["of", "constant", "value", "interval", "label", "source"]
                    .map(|n| Header::new(n, ""))
                    .to_vec(),
                rows,
            }],
        },
        ..Section::default()
    }
}

/// Builds the page of published studies; `without` are figures that cannot be compared, with the reason.
pub fn published_page(application: &str, all: &[Beside], without: &[&str]) -> Page {
    let mut sections = vec![Section {
        id: "studies".into(),
        title: "Published and predicted".into(),
        label: Some("published"),
        paragraphs: vec![
            "The time of a node follows from the rate that a paper prints for a node, so that the scaling alone is compared. Efficiency: work a \
             node and second, relative to one node, in weak scaling to the first point."
                .into(),
        ],
        figures: vec![Figure::chart(&published_figure(all), "").wide()],
        ..Section::default()
    }];
    sections.extend(all.iter().map(study));
    if !without.is_empty() {
        sections.push(Section {
            id: "without".into(),
            title: "Not compared".into(),
            paragraphs: without.iter().map(|w| (*w).to_owned()).collect(),
            ..Section::default()
        });
    }
    Page {
        title: format!("Published scaling of {application}"),
        subtitle: "The papers' values and the model".into(),
        sections,
        footer: "The model has the published time of a node and the network alone: no jitter, no hyperblocks, no input and output.".into(),
        ..Page::default()
    }
}

fn study(b: &Beside) -> Section {
    let s = &b.study;
    let kind = if s.weak { "weak" } else { "strong" };
    let (header, rows) = published_columns(b);
    let mut paragraphs = vec![format!("{}.", s.about.trim_end_matches('.'))];
    if !s.reason.is_empty() {
        paragraphs.push(format!("Why they differ: {}.", s.reason));
    }
    Section {
        id: s.name.clone(),
        title: format!("{}, {}", s.name, s.figure),
        paragraphs,
        items: vec![Fact::new("source", &s.source)],
        tables: vec![Table {
            caption: format!("{kind} scaling of {} on {}", s.name, s.machine),
            header,
            rows,
        }],
        ..Section::default()
    }
}

/// Columns of a published study, also for the terminal.
pub fn published_columns(b: &Beside) -> (Vec<Header>, Vec<Vec<Cell>>) {
    let header = [
        ("nodes", ""),
        ("published", "Time"),
        ("as stated", "In the paper"),
        ("model", "Time"),
        ("ratio", "Time of the model over that of the paper"),
        ("efficiency", "Of the paper"),
        ("model's efficiency", "Of the model"),
        ("within 10 %", "Ratio from 0.9 to 1.1"),
    ];
    let rows = (b.study.points.iter().zip(&b.predicted_s).enumerate())
        .map(|(k, (p, t))| {
            let ratio = t / p.time_s;
            vec![
                Cell::number(p.nodes as f64, p.nodes.to_string()),
                Cell::number(p.time_s, si(p.time_s, "s")),
                Cell::text(&p.stated),
                Cell::number(*t, si(*t, "s")),
                Cell::number(ratio, three(ratio)),
                Cell::number(b.efficiency[k], percent(b.efficiency[k])),
                Cell::number(
                    b.predicted_efficiency[k],
                    percent(b.predicted_efficiency[k]),
                ),
                Cell::text(if (ratio - 1.0).abs() > 0.1 {
                    "miss"
                } else {
                    ""
                }),
            ]
        })
        .collect();
    let header = header.map(|(n, about)| Header::new(n, about)).to_vec();
    (header, rows)
}
