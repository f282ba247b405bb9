//! The page of a study.

use super::record::{Comparison, Row, Study, comparisons};
use greenup_app::Result;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

/// The page, as HTML.
///
/// # Errors
/// The template is wrong.
pub fn page(study: &Study) -> Result<String> {
    let energy = study.rows.iter().any(|r| r.joules.is_some());
    let mut costs = Section {
        id: "costs".into(),
        title: "Time, energy and power".into(),
        label: Some("measured"),
        tables: vec![rows(&study.rows, energy)],
        ..Section::default()
    };
    if !energy {
        costs.paragraphs.push(
            "No energy: there was no sensor for this device, or none was wanted. \
                   `greenup doctor` names the sensors and how to enable them."
                .into(),
        );
    }
    let figures = study.figures();
    costs.figures = (figures.iter())
        .map(|(chart, caption)| Figure::chart(chart, caption).wide())
        .collect();
    let mut sections = vec![costs];
    let all = comparisons(&study.rows);
    if !all.is_empty() {
        sections.push(Section {
            id: "comparisons".into(),
            title: match energy {
                true => "Speedup, powerup and greenup of steps".into(),
                false => "Speedup of steps".into(),
            },
            label: Some("derived"),
            tables: vec![compared(&all)],
            ..Section::default()
        });
    }
    let page = Page {
        title: "Hydrodynamics: steps and their parts".into(),
        subtitle: subtitle(&study.rows),
        headline: headline(&study.rows),
        sections,
        footer: "Sedov problem after a few steps; corner: forces at the quadrature points; solve: conjugate gradients \
                 for the accelerations. Medians of repeated measurements."
            .into(),
        provenance: study.provenance.clone(),
        ..Page::default()
    };
    Ok(page.render()?)
}

fn subtitle(rows: &[Row]) -> String {
    let least = rows.iter().map(|r| r.unknowns).min().unwrap_or(0);
    let most = rows.iter().map(|r| r.unknowns).max().unwrap_or(0);
    match least == most {
        true => format!("{most} unknowns at each order"),
        false => format!("{least} to {most} unknowns"),
    }
}

fn headline(rows: &[Row]) -> Vec<Fact> {
    let steps = || rows.iter().filter(|r| r.work == "step");
    let named = |r: &Row| format!("{}, {} assembly", r.spaces(), r.assembly.name());
    let mut out = Vec::new();
    // Orders have different numbers of unknowns.
    let each = |r: &Row| r.seconds / r.unknowns.max(1) as f64;
    if let Some(r) = steps().min_by(|a, b| each(a).total_cmp(&each(b))) {
        let name = format!("least time per unknown and step: {}", named(r));
        out.push(Fact::new(&name, si(each(r), "s")));
    }
    let each = |r: &Row| r.joules_per_unknown.unwrap_or(f64::INFINITY);
    let least = steps().min_by(|a, b| each(a).total_cmp(&each(b)));
    if let Some(r) = least.filter(|r| each(r).is_finite()) {
        let name = format!("least energy per unknown and step: {}", named(r));
        out.push(Fact::new(&name, si(each(r), "J")));
    }
    out
}

fn number(v: Option<f64>, unit: &str) -> Cell {
    v.map_or_else(Cell::missing, |v| Cell::number(v, si(v, unit)))
}

fn rows(rows: &[Row], energy: bool) -> Table {
    let predicted = rows.iter().any(|r| r.predicted.is_some());
    let mut header = vec![
        Header::new("spaces", "orders of velocities and energies"),
        Header::new("assembly", ""),
        Header::new("work", "a whole step, or a part of it, once"),
        Header::new("time", "median"),
    ];
    let intervals = rows.iter().any(|r| r.seconds_error > 0.0);
    if intervals {
        header.push(Header::new("95 % interval", "half width, of the time"));
    }
    if energy {
        header.push(Header::new("power", ""));
        header.push(Header::new("energy", ""));
        header.push(Header::new("energy per unknown", "of a step"));
    }
    let host = rows.iter().any(|r| r.host_watts.is_some());
    if host {
        header.push(Header::new("CPU power", "while the GPU computes"));
    }
    if predicted {
        header.push(Header::new("predicted time", "by the machine model"));
        header.push(Header::new("predicted energy", "by the machine model"));
    }
    let row = |r: &Row| {
        let mut out = vec![
            Cell::text(r.spaces()),
            Cell::text(r.assembly.name()),
            Cell::text(r.work.as_str()),
            number(Some(r.seconds), "s"),
        ];
        if intervals {
            out.push(match r.seconds_error {
                e if e > 0.0 => Cell::number(e, format!("± {}", percent(e))),
                _ => Cell::missing(),
            });
        }
        if energy {
            out.extend([
                number(r.watts, "W"),
                number(r.joules, "J"),
                number(r.joules_per_unknown, "J"),
            ]);
        }
        if host {
            out.push(number(r.host_watts, "W"));
        }
        if predicted {
            out.push(number(r.predicted.map(|p| p.0), "s"));
            out.push(number(r.predicted.and_then(|p| p.1), "J"));
        }
        out
    };
    Table {
        caption: "Measurements".into(),
        header,
        rows: rows.iter().map(row).collect(),
    }
}

fn compared(all: &[Comparison]) -> Table {
    let energy = all.iter().any(|c| c.greenup.is_some());
    let mut header = vec![
        Header::new("comparison", ""),
        Header::new("speedup", "ratio of times"),
    ];
    if energy {
        header.push(Header::new("powerup", "ratio of powers, old over new"));
        header.push(Header::new("greenup", "ratio of energies, old over new"));
    }
    let ratio = |v: Option<f64>| match v {
        Some(v) => Cell::number(v, three(v)).marked(if v < 1.0 { "bad" } else { "good" }),
        None => Cell::missing(),
    };
    let row = |c: &Comparison| {
        let mut out = vec![Cell::text(c.what.as_str()), ratio(Some(c.speedup))];
        if energy {
            let power = c
                .powerup
                .map_or_else(Cell::missing, |v| Cell::number(v, three(v)));
            out.extend([power, ratio(c.greenup)]);
        }
        out
    };
    Table {
        caption: String::new(),
        header,
        rows: all.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::settings::Assembly;

    #[test]
    fn a_page_without_energy_says_so_once() {
        let row = |order: usize, assembly: Assembly| Row {
            order,
            assembly,
            work: "step".into(),
            zones: 4,
            unknowns: 1000,
            seconds: 0.25 * order as f64,
            seconds_error: 0.0,
            watts: None,
            joules: None,
            joules_per_unknown: None,
            device: String::new(),
            host_watts: None,
            predicted: None,
        };
        let study = Study {
            rows: vec![row(2, Assembly::Full), row(2, Assembly::Partial)],
            ..Study::default()
        };
        let html = page(&study).unwrap();
        assert_eq!(html.matches("No energy").count(), 1);
        assert!(!html.contains("greenup of") && !html.contains(">powerup<"));
        assert!(html.contains("speedup") && html.contains("Q2Q1"));
        let html = page(&Study::default()).unwrap();
        assert!(html.contains("Hydrodynamics"));
    }
}
