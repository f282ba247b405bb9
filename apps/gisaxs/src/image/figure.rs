//! An image as a chart: logarithmic colours, axes, cuts.

use super::cut::Cut;
use crate::detector::Detector;
use greenup_report::chart::ink::shade;
use greenup_report::chart::{
    Axis, Chart, ColourBar, Height, Ink, Layer, Panel, Picture, Scale, Series, Sign, Unit, What,
};

/// Most decades that the colours span.
const DECADES: f64 = 7.0;

/// Ends of the colours: the largest intensity, and the smallest of all but a hundredth of the pixels, at most
/// [`DECADES`] below it; `None` where nothing is positive.
fn range(pixels: &[f64]) -> Option<(f64, f64)> {
    let mut all: Vec<f64> = (pixels.iter().copied())
        .filter(|v| *v > 0.0 && v.is_finite())
        .collect();
    all.sort_by(f64::total_cmp);
    let top = *all.last()?;
    let low = all[all.len() / 100].max(top * 10_f64.powf(-DECADES));
    Some((low.min(0.1 * top), top))
}

/// The image with its cuts. `quantity` names the intensity: `intensity`, or `photons`.
pub(super) fn chart(pixels: &[f64], detector: &Detector, quantity: &str, cuts: &[Cut]) -> Chart {
    let columns = detector.columns().max(1);
    let [across, up] = detector.axes();
    let (low, top) = range(pixels).unwrap_or((0.1, 1.0));
    let level = |v: f64| (v / low).log10() / (top / low).log10();
    let colours = pixels
        .chunks(columns)
        .rev()
        .flatten()
        .map(|v| {
            v.is_finite()
                .then(|| shade(if *v > 0.0 { level(*v) } else { 0.0 }))
        })
        .collect();
    let axis = |(name, from, to): (&str, f64, f64)| {
        Axis::new(name, Unit::None, Scale::Linear).over(from, to)
    };
    let mut panel = Panel::new("", axis(across), axis(up));
    panel.height = Height::Equal;
    panel.grid = false;
    panel.bar = Some(ColourBar {
        axis: Axis::new(quantity, Unit::None, Scale::Log),
        lo: low,
        hi: top,
    });
    panel.push(Layer::of(
        0,
        What::Picture(Picture {
            columns,
            pixels: colours,
            x: (across.1, across.2),
            y: (up.1, up.2),
        }),
    ));
    let mut series = vec![Series::default()];
    for (k, cut) in cuts.iter().enumerate() {
        let (x, y) = if cut.across {
            (None, Some(cut.at))
        } else {
            (Some(cut.at), None)
        };
        panel.push(Layer::of(k + 1, What::Rule { x, y, dash: "5 4" }));
        series.push(Series::new(
            cut.label(detector),
            Ink::Series(k + 1),
            Sign::Dashed,
        ));
    }
    Chart {
        title: quantity.to_owned(),
        series,
        panels: vec![panel],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn colours_span_the_data() {
        assert_eq!(range(&[0.0, f64::NAN]), None);
        assert_eq!(range(&[1e3]), Some((1e2, 1e3)));
        let (low, top) = range(&[1e-20, 1.0, 1e3]).unwrap();
        assert!((low / 1e-4 - 1.0).abs() < 1e-9 && top == 1e3);
    }
}
