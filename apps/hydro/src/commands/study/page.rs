//! The page of a study.

use super::comparison::{Comparison, comparisons, of_assemblies};
use super::power::power;
use super::record::Study;
use super::row::Row;
use super::table::{columns, ratios};
use greenup_app::study::Files;
use greenup_app::{Result, print};
use greenup_report::chart::FileStyle;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::provenance::Provenance;
use greenup_report::si::{si, three};

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
        answer: answer(&study.rows),
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

/// The row of a step whose cost is least, and that cost.
fn least(rows: &[Row], cost: impl Fn(&Row) -> Option<f64>) -> Option<(&Row, f64)> {
    let steps = rows.iter().filter(|r| r.work == "step");
    let known = steps.filter_map(|r| Some((r, cost(r).filter(|c| c.is_finite())?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Times within this factor are near each other.
const NEAR: f64 = 1.05;

/// Least time and energy of an unknown and step. Orders have different numbers of unknowns.
fn bests(rows: &[Row]) -> [Option<(&Row, String)>; 2] {
    let time = least(rows, |r| Some(r.seconds / r.unknowns.max(1) as f64));
    let energy = least(rows, |r| r.joules_per_unknown);
    [
        time.map(|(r, t)| (r, si(t, "s"))),
        energy.map(|(r, j)| (r, si(j, "J"))),
    ]
}

fn headline(rows: &[Row]) -> Vec<Fact> {
    let names = ["least time", "least energy"];
    (names.into_iter().zip(bests(rows)))
        .filter_map(|(name, best)| {
            let (row, value) = best?;
            let name = format!("{name} per unknown and step: {}", row.name());
            Some(Fact::new(&name, value))
        })
        .collect()
}

/// How well the times are known.
fn spread(rows: &[Row]) -> String {
    let errors = rows.iter().map(|r| r.seconds_error);
    match errors.clone().all(|e| e > 0.0) {
        true => format!(
            "Within its run a time is known to ±{} or better (95 %).",
            greenup_report::si::percent(errors.fold(0.0, f64::max))
        ),
        false => "No spread was recorded of some times: differences of a few percent may be noise."
            .into(),
    }
}

/// What partial assembly changes, what is best, and what to do next.
fn answer(rows: &[Row]) -> Answer {
    let mut out = Answer::default();
    let all = of_assemblies(rows);
    let ends = |value: &dyn Fn(&Comparison) -> Option<f64>| -> Option<String> {
        let known = all.iter().filter_map(|(name, c)| Some((name, value(c)?)));
        let low = known.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let high = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(if all.len() == 1 {
            format!("{} at {}", three(low.1), low.0)
        } else {
            let (low, high) = ((three(low.1), low.0), (three(high.1), high.0));
            format!("{} ({}) to {} ({})", low.0, low.1, high.0, high.1)
        })
    };
    if let Some(speedup) = ends(&|c| Some(c.speedup)) {
        let greenup = ends(&|c| c.greenup).map_or_else(String::new, |g| format!(", greenup {g}"));
        out.says.push(format!(
            "Partial over full assembly: speedup {speedup}{greenup}."
        ));
    }
    let [time, energy] = bests(rows);
    if let Some((row, value)) = &time {
        let also = match &energy {
            Some((other, j)) if other.name() == row.name() => format!(" and energy, {j}"),
            Some((other, j)) => format!("; {} the least energy, {j}", other.name()),
            None => String::new(),
        };
        out.says.push(format!(
            "{} takes the least time per unknown and step, {value}{also}.",
            row.name()
        ));
        let per = |r: &Row| r.seconds / r.unknowns.max(1) as f64;
        let near: Vec<String> = (rows.iter())
            .filter(|r| r.work == row.work && r.name() != row.name() && per(r) < NEAR * per(row))
            .map(Row::name)
            .collect();
        if !near.is_empty() {
            out.sure.push(format!(
                "The lead in time of {} over {} is small: these runs may not tell which is faster.",
                row.name(),
                near.join(" and ")
            ));
        }
        out.next.push(format!(
            "Run the steps of your own problem with the fastest setting here: `hydro run --order {} --assembly {}`.",
            row.order,
            row.assembly.name()
        ));
    }
    if out.says.is_empty() {
        let what = match rows.is_empty() {
            true => "Nothing was measured.",
            false => "Parts of steps were measured, no whole step.",
        };
        out.says.push(what.into());
    }
    if out.next.is_empty() {
        out.next.push("Measure whole steps: `hydro study`.".into());
    }
    out.sure.push(match rows.is_empty() {
        true => "Nothing is known.".into(),
        false => spread(rows),
    });
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
        // Numbers of the answer are those of the table.
        for words in [
            "Partial over full assembly: speedup 1.00 at Q2Q1.",
            "the least time per unknown and step, 500 µs.",
            " over Q2Q1, partial assembly is small: these runs may not tell",
            "with the fastest setting here: <code>hydro run --order 2 --assembly full</code>",
        ] {
            assert!(html.contains(words), "{words}");
        }
        let html = page(&Study::default()).unwrap();
        assert!(html.contains("Hydrodynamics"));
    }
}
