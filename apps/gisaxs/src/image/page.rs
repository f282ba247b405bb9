//! The image as one HTML page: picture, cuts, facts and the sample.

use super::cut::{Cut, curves};
use super::figure::chart;
use crate::detector::Detector;
use greenup_report::chart::Chart;
use greenup_report::page::{Fact, Figure, Page, Section};

/// What the HTML page shows in addition to the image.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Title of the page.
    pub title: String,
    /// Names and values of the headline.
    pub facts: Vec<(String, String)>,
    /// Text of the sample's input file.
    pub text: String,
    /// Cuts to draw; if empty, those through the brightest pixel.
    pub cuts: Vec<Cut>,
    /// Figures instead of cuts.
    pub figures: Vec<Chart>,
}

/// The HTML page.
///
/// # Errors
/// A cut misses the detector, or the picture or the page cannot be rendered.
pub fn page(
    pixels: &[f64],
    detector: &Detector,
    about: &About,
) -> Result<Vec<u8>, crate::GisaxsError> {
    let cuts = if about.cuts.is_empty() {
        brightest(pixels, detector)
    } else {
        about.cuts.clone()
    };
    let mut figures = vec![Figure::chart(
        &chart(pixels, detector, "intensity", &cuts),
        "Logarithmic colours; dashed: the cuts below.",
    )];
    for c in &about.figures {
        figures.push(Figure::chart(c, "Data and model."));
    }
    for (k, c) in cuts.iter().enumerate().filter(|_| about.figures.is_empty()) {
        let caption = if c.across {
            "A cut along the azimuth."
        } else {
            "A cut upward."
        };
        figures.push(Figure::chart(
            &curves(&[c.of(pixels, detector)?], k + 1, false),
            caption,
        ));
    }
    let page = Page {
        title: about.title.clone(),
        subtitle: "scattering of X-rays".into(),
        headline: about
            .facts
            .iter()
            .map(|(name, value)| Fact::new(name, value.clone()))
            .collect(),
        sections: vec![
            Section {
                id: "image".into(),
                title: "Image".into(),
                figures,
                ..Section::default()
            },
            Section {
                id: "sample".into(),
                title: "Sample".into(),
                figures: vec![Figure::text(&about.text)],
                ..Section::default()
            },
        ],
        footer: format!("gisaxs {}", env!("CARGO_PKG_VERSION")),
        provenance: Vec::new(),
    };
    page.render()
        .map(String::into_bytes)
        .map_err(|e| e.to_string().into())
}

/// Both cuts through the brightest pixel; empty for an image without pixels.
pub fn brightest(pixels: &[f64], detector: &Detector) -> Vec<Cut> {
    let Some((at, _)) = pixels.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else {
        return Vec::new();
    };
    let columns = detector.columns();
    let [x, y] = detector.axes();
    let center = |k: usize, n: usize, (_, from, to): (&str, f64, f64)| {
        from + (to - from) * (k as f64 + 0.5) / n as f64
    };
    [
        (true, center(at / columns, detector.rows(), y)),
        (false, center(at % columns, columns, x)),
    ]
    .map(|(across, at)| Cut {
        across,
        at: (at * 1e4).round() / 1e4,
        half: 0.0,
    })
    .to_vec()
}
