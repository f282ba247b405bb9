//! The page of a study.

use super::comparison::comparisons;
use super::power::power;
use super::record::Study;
use super::row::Row;
use super::table::{columns, ratios};
use greenup_app::study::Files;
use greenup_app::{Result, print};
use greenup_report::chart::FileStyle;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::provenance::Provenance;
use greenup_report::si::si;

impl Study {
    /// Writes the page, and the figure of the traces if there are any, beside the file of the rows.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_drawings(&self, files: &Files, from: &Provenance, look: &FileStyle) -> Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        files.write("html", || Ok(page(self)?.into()))?;
        let mut wrote = vec!["json", "html"];
        if let Some(mut chart) = power(&self.rows) {
            chart.origin = from.pairs();
            files.write("png", || Ok(chart.file("png", look)?))?;
            wrote.push("png");
        }
        let wrote = wrote.into_iter().filter_map(|e| files.file(e));
        wrote.for_each(|file| print::note(format!("wrote {}", file.display())));
        Ok(())
    }
}

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
            title: if energy {
                "Speedup, powerup and greenup of steps".into()
            } else {
                "Speedup of steps".into()
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
    if least == most {
        format!("{most} unknowns at each order")
    } else {
        format!("{least} to {most} unknowns")
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
            ..Row::default()
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
