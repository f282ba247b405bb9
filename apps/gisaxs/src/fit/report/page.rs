//! The HTML page of a fit.

use super::Report;
use crate::GisaxsError;
use crate::fit::{FitInput, Noise};
use crate::image::{AXES_NOTE, figure::UNIT, headline};
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::three;
use std::path::Path;

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
    let found = report.found;
    let mut sections = Vec::new();
    if report.target.cut.is_none() {
        sections.push(report.maps_section());
    }
    sections.push(report.cuts_section()?);
    sections.push(report.parameters_section());
    sections.push(report.convergence_section());
    sections.push(report.input_section(sources)?);
    let name = sources.path.file_stem().unwrap_or_default();
    let mut facts = vec![
        Fact::new("χ² per degree of freedom", format!("{:.4}", found.chi2)),
        Fact::new("data", found.points.to_string()),
        Fact::new("parameters", found.values.len().to_string()),
        Fact::new("models computed", found.models.to_string()),
        Fact::new("duration", format!("{:.1} s", sources.seconds)),
    ];
    if !found.at_bounds.is_empty() {
        facts.push(Fact::new("at a bound", found.at_bounds.join(", ")));
    }
    let warnings = found.warnings(report.target);
    if !warnings.is_empty() {
        facts.push(Fact::new("not known", warnings.join("; ")));
    }
    let page = Page {
        title: format!("Fit: {}", name.to_string_lossy()),
        subtitle: found.termination.clone(),
        headline: facts,
        sections,
        provenance: headline(&sources.provenance),
        ..Page::default()
    };
    Ok(page.render().map_err(|e| e.to_string())?.into_bytes())
}

impl Report<'_> {
    fn maps_section(&self) -> Section {
        let (lo, hi) = self.ends();
        let out = self.data.iter().filter(|d| d.is_nan()).count();
        let mut caption = format!(
            "Data and model have one scale of colours, from {} to {} {UNIT}; cuts dashed. {AXES_NOTE}",
            three(lo),
            three(hi)
        );
        if let Some(note) = self.range.note() {
            caption.push_str(&format!(" {note}"));
        }
        if out > 0 {
            caption.push_str(&format!(
                " {out} of {} pixels are left out: they have no colour.",
                self.data.len()
            ));
        }
        let mut residual = format!(
            "In standard deviations of the data, {}.",
            self.noise_words()
        );
        let beyond = self.beyond();
        if beyond > 0 {
            residual.push_str(&format!(
                " {beyond} pixels deviate by more than {} σ, the ends of the colours.",
                self.end()
            ));
        }
        let captions = [caption, "On the scale of the data.".into(), residual];
        let figures = (self.map_charts().iter().zip(captions))
            .map(|(chart, caption)| Figure::chart(chart, &caption).wide())
            .collect();
        Section {
            id: "maps".into(),
            title: "Images".into(),
            figures,
            ..Section::default()
        }
    }

    fn noise_words(&self) -> String {
        match self.target.noise {
            Noise::Poisson => "as of counts: signed roots of the Poisson deviance".into(),
            Noise::Relative => format!(
                "{:.3} of the intensity, estimated from the scatter",
                self.found.noise_scale
            ),
            Noise::Uniform => format!(
                "{:.3e} everywhere, estimated from the scatter",
                self.found.noise_scale
            ),
        }
    }

    fn cuts_section(&self) -> Result<Section, GisaxsError> {
        let caption = "Bars: one standard deviation of the data. Below: what is left, in standard deviations. \
                       A drag over a panel enlarges a part of it.";
        let tables = match self.target.cut {
            Some(_) => vec![self.table()?],
            None => Vec::new(),
        };
        Ok(Section {
            id: "cuts".into(),
            title: if tables.is_empty() {
                "Cuts"
            } else {
                "Data and model"
            }
            .into(),
            figures: vec![Figure::chart(&self.cuts_chart()?, caption).wide()],
            tables,
            ..Section::default()
        })
    }

    fn parameters_section(&self) -> Section {
        let caption = "Correlations near ±1: the data hardly tell the two parameters apart.";
        let figures = self.correlations().map(|c| Figure::chart(&c, caption));
        let bounds: Vec<String> = (self.found.at_bounds.iter())
            .map(|path| format!("{path} is at one of its bounds: its uncertainty has no meaning."))
            .collect();
        Section {
            id: "parameters".into(),
            title: "Parameters".into(),
            paragraphs: bounds,
            figures: figures.into_iter().collect(),
            tables: vec![self.parameters()],
            ..Section::default()
        }
    }

    fn convergence_section(&self) -> Section {
        let found = self.found;
        let mut paragraphs = vec![format!(
            "{} models, those of derivatives included. The iteration {}.",
            found.models, found.termination
        )];
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
            paragraphs,
            figures: vec![Figure::chart(&self.convergence(), caption).wide()],
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
            Fact::new("Command", &*sources.command),
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
        let mut figures: Vec<Figure> = (sources.texts.iter())
            .map(|(name, text)| Figure::folded(name, text))
            .collect();
        let fitted = self.target.sample(&self.found.values)?.text();
        figures.push(Figure::folded("The sample with the fitted values", &fitted));
        Ok(Section {
            id: "input".into(),
            title: "Input".into(),
            items,
            figures,
            ..Section::default()
        })
    }
}
