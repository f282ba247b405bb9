//! The simulated image as one HTML page: picture, cuts, facts and the sample.

use super::axes::{Axes, View};
use super::colours::ColourRange;
use super::cut::{Cut, Measure};
use super::{curves, figure};
use crate::GisaxsError;
use crate::detector::Detector;
use crate::scattering::dwba::Scene;
use greenup_report::chart::Chart;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::three;

/// What a picture or page of an image shows, and how.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Title of the page.
    pub title: String,
    /// Names and values of the headline.
    pub facts: Vec<(String, String)>,
    /// Name and text of the sample's input file.
    pub input: (String, String),
    /// Cuts to draw. On a page, if empty, those through the brightest pixel.
    pub cuts: Vec<Cut>,
    /// Whether the pixels hold counted photons instead of mean intensities.
    pub counted: bool,
    /// Axes of the image.
    pub axes: Axes,
    /// Range of the colours.
    pub range: ColourRange,
    /// Where the image comes from: date, host, version, command.
    pub provenance: Vec<(String, String)>,
}

/// What is drawn on the axes, for captions.
pub const AXES_NOTE: &str = "q = k_f − k_i: q_y along the horizon, q_z upward.";

/// The picture of an image.
pub fn picture(pixels: &[f64], scene: &Scene, about: &About) -> Chart {
    let view = View::new(scene, about.axes);
    let mut chart = figure::chart(
        &view,
        pixels,
        figure::quantity(about.counted),
        about.range.over(pixels),
        &about.cuts,
    );
    chart.notes.extend(about.range.note());
    if view.averaged() {
        chart
            .notes
            .push("Pixels of the picture are means of pixels of the detector.".into());
    }
    chart.origin = about.provenance.clone();
    chart
}

/// The HTML page.
///
/// # Errors
/// A cut misses the detector, or the page cannot be rendered.
pub fn page(pixels: &[f64], scene: &Scene, about: &About) -> Result<Vec<u8>, GisaxsError> {
    let mut about = about.clone();
    if about.cuts.is_empty() {
        about.cuts = brightest(pixels, &scene.detector);
    }
    let view = View::new(scene, about.axes);
    let quantity = figure::quantity(about.counted);
    let (lo, hi) = about.range.over(pixels);
    let caption = format!(
        "Logarithmic colours from {} to {} {}; the cuts below are dashed. {AXES_NOTE}",
        three(lo),
        three(hi),
        figure::UNIT
    );
    let figures = vec![
        Figure::chart(&picture(pixels, scene, &about), &caption).wide(),
        Figure::chart(
            &curves::chart(&view, pixels, quantity, &about.cuts)?,
            "The intensities along the cuts.",
        )
        .wide(),
    ];
    let (name, text) = &about.input;
    let page = Page {
        title: about.title.clone(),
        subtitle: "Simulated image of X-rays that a sample scatters".into(),
        headline: headline(&about.facts),
        sections: vec![
            Section {
                id: "image".into(),
                title: "Image".into(),
                figures,
                ..Section::default()
            },
            Section {
                id: "input".into(),
                title: "Input".into(),
                figures: vec![Figure::folded(name, text)],
                ..Section::default()
            },
        ],
        provenance: headline(&about.provenance),
        ..Page::default()
    };
    Ok(page.render().map_err(|e| e.to_string())?.into_bytes())
}

/// Facts of names and values.
pub fn headline(facts: &[(String, String)]) -> Vec<Fact> {
    facts
        .iter()
        .map(|(name, value)| Fact::new(name, value.clone()))
        .collect()
}

/// Both cuts through the brightest pixel; empty for an image without finite pixels.
pub fn brightest(pixels: &[f64], detector: &Detector) -> Vec<Cut> {
    let finite = pixels.iter().enumerate().filter(|p| p.1.is_finite());
    let Some((at, _)) = finite.max_by(|a, b| a.1.total_cmp(b.1)) else {
        return Vec::new();
    };
    let columns = detector.columns();
    let (x, y) = detector.in_units((at % columns) as f64 + 0.5, (at / columns) as f64 + 0.5);
    [(true, y), (false, x)]
        .map(|(across, at)| Cut {
            across,
            at: rounded(at, detector),
            half: 0.0,
            measure: Measure::Detector,
        })
        .to_vec()
}

/// A coordinate with few digits, in the same pixel.
fn rounded(at: f64, detector: &Detector) -> f64 {
    let [(_, a, b), (_, c, d)] = detector.axes();
    let pixel = ((b - a) / detector.columns() as f64).min((d - c) / detector.rows() as f64);
    let unit = 10_f64.powf((0.2 * pixel).log10().floor());
    // Dividing leaves the fewest digits in decimal.
    let per = (1.0 / unit).round();
    if per >= 1.0 {
        (at * per).round() / per
    } else {
        at
    }
}
