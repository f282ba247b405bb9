//! The HTML page of a fit.

use super::{Report, chi2};
use crate::GisaxsError;
use crate::fit::{FitInput, Noise};
use crate::image::{AXES_NOTE, figure::UNIT, headline};
use greenup_report::chart::Chart;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use std::path::Path;

const CUTS_CAPTION: &str = "Bars: one standard deviation of the data.";

/// Where a fit comes from.
pub struct Sources<'a> {
    /// Path of the fit's input file.
    pub path: &'a Path,
    /// What it says.
    pub input: &'a FitInput,
    /// Names and texts of the input files, shown folded.
    pub texts: Vec<(String, String)>,
    /// The command.
    pub command: String,
    /// Duration of the search, s.
    pub seconds: f64,
    /// Date, host, version and the like.
    pub provenance: Vec<(String, String)>,
}

/// The HTML page.
///
/// # Errors
/// A cut misses the detector, or the page cannot be rendered.
pub fn page(report: &Report, sources: &Sources) -> Result<Vec<u8>, GisaxsError> {
    let mut sections = vec![report.result_section()?];
    sections.extend(report.residuals_section());
    sections.extend(report.cuts_section()?);
    sections.push(report.convergence_section(sources.seconds));
    sections.push(report.input_section(sources)?);
    let stem = sources.path.file_stem().unwrap_or_default();
    let file = sources.path.file_name().unwrap_or_default();
    let page = Page {
        title: format!("Fit: {}", stem.to_string_lossy()),
        answer: report.answer(&file.to_string_lossy()),
        sections,
        provenance: headline(&sources.provenance),
        ..Page::default()
    };
    Ok(page.render().map_err(|e| e.to_string())?.into_bytes())
}

impl Report<'_> {
    /// Parameters on the left; data and model on the right.
    fn result_section(&self) -> Result<Section, GisaxsError> {
        let mut figures: Vec<Figure> = match self.target.cut {
            None => vec![Figure::chart(&self.images_chart(), &self.images_caption()).wide()],
            Some(_) => (self.cut_charts()?.iter())
                .map(|c| Figure::chart(c, CUTS_CAPTION).wide())
                .collect(),
        };
        let caption = "Near ±1 the data hardly tell the two parameters apart.";
        figures.extend((self.correlations()).map(|c| Figure::chart(&c, caption).aside()));
        // An image has a section of its own for them.
        let residuals = self.target.cut.map(|_| self.residuals_figure().aside());
        figures.extend(residuals);
        Ok(Section {
            id: "parameters".into(),
            title: "Parameters, data and model".into(),
            beside: true,
            figures_last: true,
            figures,
            tables: vec![self.parameters()],
            ..Section::default()
        })
    }

    fn images_caption(&self) -> String {
        let out = self.data.iter().filter(|d| d.is_nan()).count();
        let mut caption = format!("Marks at the edges: the cuts below. {AXES_NOTE}");
        if let Some(note) = self.range.note() {
            caption.push_str(&format!(" {note}"));
        }
        if out > 0 {
            caption.push_str(&format!(
                " {out} of {} pixels are left out: they have no colour.",
                self.data.len()
            ));
        }
        caption
    }

    fn residuals_figure(&self) -> Figure {
        let (noise, found) = (self.noise_words(), self.distribution());
        Figure::chart(
            &self.residuals_chart(),
            &format!("σ of the data: {noise}. {found}"),
        )
    }

    /// The map of an image's residuals and their histogram.
    fn residuals_section(&self) -> Option<Section> {
        self.target.cut.is_none().then(|| Section {
            id: "residuals".into(),
            title: "Residuals".into(),
            figures: vec![self.residuals_figure()],
            ..Section::default()
        })
    }

    fn noise_words(&self) -> String {
        match self.target.noise {
            Noise::Poisson => "as of counts, signed roots of the Poisson deviance".into(),
            Noise::Relative => format!(
                "{} of the intensity, estimated from the scatter",
                percent(self.found.noise_scale)
            ),
            Noise::Uniform => format!(
                "{} {UNIT} everywhere, estimated from the scatter",
                three(self.found.noise_scale)
            ),
        }
    }

    /// Cuts through an image; of data along a cut, its points.
    fn cuts_section(&self) -> Result<Option<Section>, GisaxsError> {
        if self.target.cut.is_some() {
            return Ok(Some(Section {
                id: "points".into(),
                title: "Points".into(),
                folded: true,
                tables: vec![self.table()?],
                ..Section::default()
            }));
        }
        let one = |chart: &Chart| Figure {
            wide: self.cuts.len() == 1,
            ..Figure::chart(chart, CUTS_CAPTION)
        };
        Ok((!self.cuts.is_empty()).then_some(Section {
            id: "cuts".into(),
            title: "Cuts".into(),
            figures: self.cut_charts()?.iter().map(one).collect(),
            ..Section::default()
        }))
    }

    fn convergence_section(&self, seconds: f64) -> Section {
        let found = self.found;
        let mut paragraphs = vec![format!("The iteration {}.", found.termination)];
        if found.starts.len() > 1 {
            let least = found.starts.iter().copied().fold(f64::INFINITY, f64::min);
            let near = found.starts.iter().filter(|c| **c < 1.001 * least).count();
            paragraphs.push(format!(
                "{near} of {} starts reached the least χ² within 0.1 %.",
                found.starts.len()
            ));
        }
        let caption = "χ² of the best position of each step of the swarm, which minimises differences of logarithms, \
                       then of each step of Levenberg–Marquardt.";
        Section {
            id: "convergence".into(),
            title: "Convergence".into(),
            folded: true,
            paragraphs,
            items: vec![
                Fact::new("χ² per degree of freedom", chi2(found.chi2)),
                Fact::new("Data", found.points.to_string()),
                Fact::new("Models computed", found.models.to_string()),
                Fact::new("Duration", si(seconds, "s")),
            ],
            figures: vec![Figure::chart(&self.convergence(), caption).wide()],
            tables: vec![self.way()],
            ..Section::default()
        }
    }

    fn input_section(&self, sources: &Sources) -> Result<Section, GisaxsError> {
        let used: Vec<f64> = (self.data.iter().copied())
            .filter(|d| !d.is_nan())
            .collect();
        let (rows, columns) = (self.scene.detector.rows(), self.scene.detector.columns());
        let size = match self.target.cut {
            Some(_) => format!("{} points", self.data.len()),
            None => format!("{columns} × {rows} pixels"),
        };
        let top = used.iter().copied().fold(0.0, f64::max);
        let sum: f64 = used.iter().sum();
        let items = vec![
            Fact::new(
                "Data",
                format!(
                    "{}: {size}, {} used, sum {sum:.4e}, maximum {top:.4e}",
                    sources.input.data.display(),
                    used.len()
                ),
            ),
            Fact::new("Noise", self.noise_words()),
            Fact::new(
                "Search",
                format!(
                    "{} starts, swarm of {} over {} steps, seed {}",
                    sources.input.starts,
                    sources.input.swarm,
                    sources.input.steps,
                    sources.input.seed
                ),
            ),
        ];
        let fitted = self.target.sample(&self.found.values)?.text();
        let mut copied = vec![
            Fact::new("The sample with the fitted values", fitted),
            Fact::new("Command", &*sources.command),
        ];
        copied.extend(
            sources
                .texts
                .iter()
                .map(|(name, text)| Fact::new(name, &**text)),
        );
        Ok(Section {
            id: "input".into(),
            title: "Input, and the sample with the fitted values".into(),
            short: "Input".into(),
            folded: true,
            items,
            copied,
            ..Section::default()
        })
    }
}
