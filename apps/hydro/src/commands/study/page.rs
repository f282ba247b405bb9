//! A study as a page and as text.

use super::record::{Comparison, Row, Study, comparisons};
use greenup_app::{Result, print};
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Columns};

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
        tables: vec![columns().table("Measurements", &study.rows)],
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
            tables: vec![ratios().table("", &all)],
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
    let mut out = Vec::new();
    // Orders have different numbers of unknowns.
    let each = |r: &Row| r.seconds / r.unknowns.max(1) as f64;
    if let Some(r) = steps().min_by(|a, b| each(a).total_cmp(&each(b))) {
        let name = format!("least time per unknown and step: {}", r.name());
        out.push(Fact::new(&name, si(each(r), "s")));
    }
    let each = |r: &Row| r.joules_per_unknown.unwrap_or(f64::INFINITY);
    let least = steps().min_by(|a, b| each(a).total_cmp(&each(b)));
    if let Some(r) = least.filter(|r| each(r).is_finite()) {
        let name = format!("least energy per unknown and step: {}", r.name());
        out.push(Fact::new(&name, si(each(r), "J")));
    }
    out
}

fn columns() -> Columns<'static, Row> {
    Columns::<Row>::new()
        .text("spaces", "orders of velocities and energies", Row::spaces)
        .text("assembly", "", |r| r.assembly.name().into())
        .text("work", "a whole step, or a part of it, once", |r| {
            r.work.clone()
        })
        .si("time", "median", "s", |r| r.seconds)
        .cell("95 % interval", "half width, of the time", |r| {
            let known = Some(r.seconds_error).filter(|e| *e > 0.0);
            Cell::shown(known, |e| format!("± {}", percent(e)))
        })
        .where_known()
        .si("power", "", "W", |r| r.watts)
        .where_known()
        .si("energy", "", "J", |r| r.joules)
        .where_known()
        .si("energy per unknown", "of a step", "J", |r| {
            r.joules_per_unknown
        })
        .where_known()
        .si("CPU power", "while the GPU computes", "W", |r| r.host_watts)
        .where_known()
        .si("predicted time", "by the machine model", "s", |r| {
            Some(r.predicted?.0)
        })
        .where_known()
        .si("predicted energy", "by the machine model", "J", |r| {
            r.predicted?.1
        })
        .where_known()
}

fn ratios() -> Columns<'static, Comparison> {
    let ratio = |v: Option<f64>| {
        let mark = v.map(|v| if v < 1.0 { "bad" } else { "good" });
        Cell {
            mark,
            ..Cell::three(v)
        }
    };
    Columns::<Comparison>::new()
        .text("comparison", "", |c| c.what.clone())
        .cell("speedup", "ratio of times", move |c| ratio(Some(c.speedup)))
        .three("powerup", "ratio of powers, old over new", |c| c.powerup)
        .where_known()
        .cell("greenup", "ratio of energies, old over new", move |c| {
            ratio(c.greenup)
        })
        .where_known()
}

/// Prints the rows, and speedup, powerup and greenup between them.
pub fn print(rows: &[Row]) {
    print::line(columns().table("", rows).lines().join("\n"));
    let all = comparisons(rows);
    if !all.is_empty() {
        print::line(format!("\n{}", ratios().table("", &all).lines().join("\n")));
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
            trace: Vec::new(),
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
