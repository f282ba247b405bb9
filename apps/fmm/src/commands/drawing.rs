//! Pages and figures of the commands: one description, written in the format that the name's ending chooses.

use greenup_app::output::Output;
use greenup_app::{AppError, Result};
use greenup_files::Outputs;
use greenup_report::chart::{Chart, FileStyle};
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::provenance::Provenance;
use greenup_report::table::Table;
use std::path::Path;

/// Endings of pages and figures.
pub const DRAWN: [&str; 4] = ["html", "svg", "png", "pdf"];

/// What a page shows; a figure file shows its first chart.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// Title of the page.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// What the page says.
    pub answer: Answer,
    /// The main results.
    pub headline: Vec<Fact>,
    /// Sentences before the figures.
    pub paragraphs: Vec<String>,
    /// Charts with their captions.
    pub charts: Vec<(Chart, &'static str)>,
    /// Tables below them.
    pub tables: Vec<Table>,
    /// Sources and method.
    pub footer: &'static str,
}

/// Checks the name of a page or a figure before any work.
///
/// # Errors
/// Another ending, or a file that cannot be written.
pub fn check(outputs: &mut Outputs, path: Option<&Path>) -> Result<Option<Output>> {
    Ok(path.map(|p| Output::file(outputs, p, &DRAWN)).transpose()?)
}

impl Drawing {
    /// Writes the page or the figure, and prints where it went.
    ///
    /// # Errors
    /// The file cannot be written, or there is no figure.
    pub fn write(mut self, to: &Output, look: &FileStyle, provenance: &Provenance) -> Result {
        if !to.has_ending(DRAWN[0]) {
            if self.charts.is_empty() {
                return Err(AppError::new(
                    "there is nothing to draw: no sum was evaluated",
                ));
            }
            let (mut chart, _) = self.charts.swap_remove(0);
            chart.origin = provenance.pairs();
            return to.write_chart(&chart, look);
        }
        let page = Page {
            title: self.title,
            subtitle: self.subtitle,
            answer: self.answer,
            headline: self.headline,
            sections: vec![Section {
                id: "results".into(),
                title: "Results".into(),
                label: Some("measured"),
                paragraphs: self.paragraphs,
                figures: (self.charts.iter())
                    .map(|(chart, caption)| Figure::chart(chart, caption).wide())
                    .collect(),
                tables: self.tables,
                ..Section::default()
            }],
            footer: self.footer.into(),
            provenance: provenance.facts(),
            ..Page::default()
        };
        to.write(page.render()?.as_bytes())?;
        to.print_name();
        Ok(())
    }
}
