//! The image as a page of its own: picture, cuts, facts and the sample, in one file.

use super::cut::{Cut, curves};
use super::figure::png;
use crate::detector::Detector;
use greenup_report::page::{Fact, Figure, Page, Section};

/// What a page says beside the image.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub title: String,
    pub facts: Vec<(String, String)>,
    /// The sample's page.
    pub text: String,
    pub cuts: Vec<Cut>,
    /// Figures instead of cuts.
    pub figures: Vec<String>,
}

/// The whole document.
///
/// # Errors
/// The picture cannot be drawn.
pub fn page(pixels: &[f64], detector: &Detector, about: &About) -> Result<Vec<u8>, String> {
    let picture = png(pixels, detector).map_err(|e| e.to_string())?;
    let mut figures = vec![Figure {
        svg: format!(
            "<img alt=\"scattered intensity\" style=\"max-width:100%\" src=\"data:image/png;base64,{}\">",
            base64(&picture)
        ),
        caption: "Intensity, seven decades below its maximum.".into(),
    }];
    let cuts = if about.cuts.is_empty() {
        brightest(pixels, detector)
    } else {
        about.cuts.clone()
    };
    for svg in &about.figures {
        figures.push(Figure {
            svg: svg.clone(),
            caption: "Data and model.".into(),
        });
    }
    for c in cuts.iter().filter(|_| about.figures.is_empty()) {
        figures.push(Figure {
            svg: curves(&[c.of(pixels, detector)?], false),
            caption: if c.across {
                "A cut along the azimuth."
            } else {
                "A cut upward."
            }
            .into(),
        });
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
                figures: vec![Figure {
                    svg: format!("<pre>{}</pre>", greenup_report::svg::escape(&about.text)),
                    caption: String::new(),
                }],
                ..Section::default()
            },
        ],
        footer: format!("gisaxs {}", env!("CARGO_PKG_VERSION")),
    };
    page.render()
        .map(String::into_bytes)
        .map_err(|e| e.to_string())
}

/// Cuts through the brightest pixel.
pub fn brightest(pixels: &[f64], detector: &Detector) -> Vec<Cut> {
    let Some((at, _)) = pixels.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else {
        return Vec::new();
    };
    let columns = detector.columns();
    let [x, y] = detector.axes();
    let middle = |k: usize, n: usize, (_, from, to): (&str, f64, f64)| {
        from + (to - from) * (k as f64 + 0.5) / n as f64
    };
    [
        (true, middle(at / columns, detector.rows(), y)),
        (false, middle(at % columns, columns, x)),
    ]
    .map(|(across, at)| Cut {
        across,
        at: (at * 1e4).round() / 1e4,
        half: 0.0,
    })
    .to_vec()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group
            .iter()
            .chain(&[0, 0])
            .take(3)
            .fold(0_u32, |w, b| w << 8 | u32::from(*b));
        for k in 0..4 {
            out.push(if k <= group.len() {
                char::from(DIGITS[(word >> (18 - 6 * k) & 63) as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_every_rest() {
        for (text, want) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(super::base64(text.as_bytes()), want);
        }
    }
}
