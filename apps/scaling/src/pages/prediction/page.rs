//! The pages of predicted scaling and of published scaling studies.

use super::{figure, parts_figure, published_figure};
use crate::published::{Beside, Point};
use crate::{Record, Row};
use greenup_model::Machine;
use greenup_model::machine::Estimate;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::si::three;
use greenup_report::table::{Cell, Columns, Table};

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
        answer: whole_answer(machine, kinds),
        sections,
        footer: "Predicted, not measured. Speedup, powerup and greenup compare with one device that does the same work: T₁/T, P₁/P and E₁/E."
            .into(),
        ..Page::default()
    }
}

/// The answer for all kinds.
fn whole_answer(machine: &Machine, kinds: &[Kind]) -> Answer {
    let mut says: Vec<String> = kinds.iter().filter_map(answer).collect();
    if says.is_empty() {
        says.push("On one device there is nothing to scale.".into());
    }
    let sure = match (&machine.network, &machine.link) {
        (None, None) => {
            "Predicted, not measured on several devices: messages cost nothing here, as this machine has no network."
        }
        _ => {
            "Predicted, not measured on several devices: messages are modelled, jitter and neighbours are not. The network's constants stand below, with intervals where they are known."
        }
    };
    Answer {
        says,
        sure: vec![sure.into()],
        next: vec![
            "`greenup scaling study` measures it where there are several devices or cores, beside the prediction."
                .into(),
        ],
    }
}

/// The most devices with half of the first row's efficiency or more, and what binds on the most; `None` without rows.
fn answer(kind: &Kind) -> Option<String> {
    let (first, others) = kind.rows.split_first()?;
    let name = if kind.weak { "weak" } else { "strong" };
    let over_one = |r: &Row| {
        let greenup = r.greenup.map(|g| format!(" and greenup {}", three(g)));
        let greenup = greenup.unwrap_or_default();
        format!("speedup {}{greenup} over one device", three(r.speedup))
    };
    let devices = |r: &Row| match r.scaled.devices {
        1 => "1 device".to_owned(),
        n => format!("{n} devices"),
    };
    let Some(last) = others.last() else {
        if first.scaled.devices == 1 {
            return None;
        }
        return Some(format!(
            "On {} {name} scaling has {}.",
            devices(first),
            over_one(first)
        ));
    };
    let bound = format!("bound by {}", last.bound_by());
    let Some(half) = others.iter().rev().find(|r| r.efficiency >= 0.5) else {
        return Some(format!(
            "Beyond {} {name} scaling keeps less than half of its efficiency: on {} {}, {bound}.",
            devices(first),
            last.scaled.devices,
            over_one(last)
        ));
    };
    let mut text = format!(
        "From {} to {} devices {name} scaling keeps at least half of its efficiency: {}",
        first.scaled.devices,
        half.scaled.devices,
        over_one(half)
    );
    if last.scaled.devices > half.scaled.devices {
        text += &format!(
            "; on {} the speedup is {}, {bound}",
            last.scaled.devices,
            three(last.speedup)
        );
    }
    Some(text + ".")
}

fn section(kind: &Kind) -> Section {
    let name = kind.name();
    let title = format!("{} scaling", if kind.weak { "Weak" } else { "Strong" });
    let work = if kind.weak {
        "Each device has the same work."
    } else {
        "All devices share the same work."
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
        tables: vec![predicted_table(kind)],
        title,
        ..Section::default()
    }
}

/// A row a number of devices, also for the terminal; parts of the time that are 0 everywhere are left out.
pub fn predicted_table(kind: &Kind) -> Table {
    let about = [
        "Share of the time: sending and receiving, one message after another.",
        "Share of the time: sums and largest values of all devices.",
        "Share of the time: lost because ranks of a host share memory, caches and clock.",
        "Share of the time: results of the devices of a host are put together.",
    ];
    let name = |k: usize| kind.rows.first().map_or("", |r| r.parts()[k].0);
    let parts = (1..).zip(about).filter(|(k, _)| {
        let lost = |r: &Row| r.parts()[*k].1 > 0.0;
        *k < 3 || kind.rows.iter().any(lost)
    });
    Columns::<Row>::new()
        .count("nodes", "", |r| r.scaled.nodes as u64)
        .count("devices", "Of all nodes.", |r| r.scaled.devices as u64)
        .si("time", "", "s", |r| r.scaled.time_s)
        .si(
            "energy",
            "Of all devices, with messages and waiting.",
            "J",
            |r| r.scaled.energy_j,
        )
        .percent(
            "efficiency",
            "Speedup a device, relative to the first row.",
            |r| r.efficiency,
        )
        .kept()
        .three("speedup", "T₁/T", |r| r.speedup)
        .three("powerup", "P₁/P", |r| r.powerup)
        .detail()
        .three("greenup", "E₁/E", |r| r.greenup)
        .kept()
        .and_each(parts, |columns, (k, about)| {
            columns.percent(name(k), about, move |r| r.parts()[k].1 / r.scaled.time_s)
        })
        .text("bound by", "The largest part of the time.", |r| {
            r.bound_by().to_owned()
        })
        .kept()
        .table(format!("{} scaling, predicted", kind.name()), &kind.rows)
}

/// Network, link and host of the machine.
fn constants(machine: &Machine) -> Section {
    let mut rows: Vec<(&str, String, &str, Estimate)> = Vec::new();
    if let Some(n) = &machine.network {
        let of = "network, between nodes";
        rows.extend(
            (n.constants().into_iter()).map(|(name, u, e)| (of, name.into(), u, e.clone())),
        );
    }
    if let Some(l) = &machine.link {
        let of = "link, within a node";
        rows.extend(
            (l.constants().into_iter()).map(|(name, u, e)| (of, name.into(), u, e.clone())),
        );
    }
    if let Some(h) = &machine.host {
        rows.extend((h.constants().into_iter()).map(|(name, u, e)| ("host", name, u, e)));
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
        tables: if rows.is_empty() {
            Vec::new()
        } else {
            vec![
                Columns::<(&str, String, &str, Estimate)>::new()
                    .text("of", "", |(of, ..)| (*of).to_owned())
                    .text("constant", "", |(_, name, ..)| name.clone())
                    .cell("value", "", |(.., unit, e)| Cell::si(e.value, unit))
                    .cell("interval", "", |(.., unit, e)| {
                        let known = e.lo.is_some() || e.hi.is_some();
                        Cell::range(known.then(|| (e.low(), e.high())), unit)
                    })
                    .text("label", "", |(.., e)| {
                        e.label.unwrap_or(machine.label).name().to_owned()
                    })
                    .text("source", "", |(.., e)| e.source.clone().unwrap_or_default())
                    .table("Constants, with their intervals and sources", rows),
            ]
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
        answer: near(all),
        sections,
        footer: "The model has the published time of a node and the network alone: no jitter, no hyperblocks, no input and output.".into(),
        ..Page::default()
    }
}

/// How many of the published times the model meets, and where it is farthest from them. The point that a study starts from fits by
/// construction.
fn near(all: &[Beside]) -> Answer {
    let mut ratios: Vec<(f64, String)> = (all.iter())
        .flat_map(|b| {
            let points = b.study.points.iter().zip(&b.predicted_s);
            points
                .filter(|(p, _)| p.nodes > b.base_nodes)
                .map(move |(p, t)| {
                    let at = format!("{}, {} nodes", b.study.figure, p.nodes);
                    (t / p.time_s, at)
                })
        })
        .collect();
    let all = ratios.len();
    ratios.retain(|r| (r.0 - 1.0).abs() > 0.1);
    let mut says = vec![format!(
        "Of {all} published times beyond the first of each figure, the model meets {} within 10 %.",
        all - ratios.len()
    )];
    let farthest = (ratios.iter()).max_by(|a, b| a.0.ln().abs().total_cmp(&b.0.ln().abs()));
    let mut sure = vec![
        "The time of a node is the paper's own, so that only the scaling is tested; reasons stand with each study."
            .to_owned(),
    ];
    if let Some((r, at)) = farthest {
        let times = three(*r);
        sure.push(format!(
            "It is farthest from {at}: {times} times the paper's time."
        ));
    }
    if all == 0 {
        says = vec!["No published time is beyond the first of its figure.".into()];
    }
    Answer {
        says,
        sure,
        next: vec![
            "`greenup scaling` predicts problems of your own on machines with a network.".into(),
        ],
    }
}

fn study(b: &Beside) -> Section {
    let s = &b.study;
    let mut paragraphs = vec![format!("{}.", s.about.trim_end_matches('.'))];
    if !s.reason.is_empty() {
        paragraphs.push(format!("Why they differ: {}.", s.reason));
    }
    Section {
        id: s.name.clone(),
        title: format!("{}, {}", s.name, s.figure),
        paragraphs,
        items: vec![Fact::new("source", &s.source)],
        tables: vec![published_table(b)],
        ..Section::default()
    }
}

/// A row a point of a published study, also for the terminal.
pub fn published_table(b: &Beside) -> Table {
    let s = &b.study;
    let kind = if s.weak { "weak" } else { "strong" };
    let ratio = |(_, p, t): &(usize, &Point, f64)| t / p.time_s;
    let rows = s.points.iter().zip(&b.predicted_s).enumerate();
    Columns::<(usize, &Point, f64)>::new()
        .count("nodes", "", |(_, p, _)| p.nodes as u64)
        .si("published", "Time", "s", |(_, p, _)| p.time_s)
        .text("as stated", "In the paper", |(_, p, _)| p.stated.clone())
        .si("model", "Time", "s", |(.., t)| *t)
        .three("ratio", "Time of the model over that of the paper", ratio)
        .percent("efficiency", "Of the paper", |(k, ..)| b.efficiency[*k])
        .percent("model's efficiency", "Of the model", |(k, ..)| {
            b.predicted_efficiency[*k]
        })
        .text("within 10 %", "Ratio from 0.9 to 1.1", |r| {
            let misses = (ratio(r) - 1.0).abs() > 0.1;
            if misses { "miss".into() } else { String::new() }
        })
        .table(
            format!("{kind} scaling of {} on {}", s.name, s.machine),
            rows.map(|(k, (p, t))| (k, p, *t)),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::rows;
    use crate::{Costs, Problem};
    use greenup_model::network::Nodes;
    use greenup_model::shipped;

    #[test]
    fn an_answer_compares_with_one_device() {
        let machine = shipped::find("h200").unwrap().unwrap();
        let record = Record::shipped("hydro", "h200").unwrap();
        let problem = Problem {
            size: 1e8,
            steps: 10.0,
            order: 2,
            dim: 3,
            ..Problem::default()
        };
        let costs = Costs::new(&record, problem).unwrap();
        let at = [8, 16, 32].map(|n| Nodes::of_devices(&machine, n));
        let mut kind = Kind {
            weak: false,
            problem: String::new(),
            rows: rows(&machine, &costs, &at),
        };
        let text = answer(&kind).unwrap();
        let last = &kind.rows[2];
        assert!(last.speedup > 8.0 && last.efficiency >= 0.5, "{last:?}");
        let speedup = format!("speedup {}", three(last.speedup));
        assert!(text.starts_with("From 8 to 32 devices strong"), "{text}");
        assert!(
            text.contains(&speedup) && text.contains("over one device"),
            "{text}"
        );
        kind.rows[1].efficiency = 0.4;
        kind.rows[2].efficiency = 0.3;
        let text = answer(&kind).unwrap();
        assert!(
            text.starts_with("Beyond 8 devices strong scaling keeps less"),
            "{text}"
        );
        assert!(
            text.contains("on 32 ") && text.contains("bound by"),
            "{text}"
        );
        kind.rows.truncate(1);
        let text = answer(&kind).unwrap();
        assert!(
            text.starts_with("On 8 devices strong scaling has speedup"),
            "{text}"
        );
        kind.rows.clear();
        assert_eq!(answer(&kind), None);
    }
}
