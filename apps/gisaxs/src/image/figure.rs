//! An image as a chart: logarithmic colours, axes, and where the cuts are.

use super::axes::View;
use super::colours::level;
use super::cut::Cut;
use greenup_report::chart::ink::COLOURS;
use greenup_report::chart::{
    Axis, Chart, ColourBar, Height, Ink, Layer, Palette, Panel, Scale, Series, Tag, Unit, What,
};

/// Unit of all intensities: the beam's is a number of photons.
pub const UNIT: &str = "photons per pixel";

/// The quantity that colours and curves show, with its unit.
pub fn quantity(counted: bool) -> &'static str {
    if counted { "counts" } else { "intensity" }
}

/// A panel with the axes of a view and no layer.
pub fn empty(view: &View, title: &str) -> Panel {
    let [x, y] = view.ends();
    let mut panel = Panel::new(
        title,
        view.axis(true).over(x.0, x.1),
        view.axis(false).over(y.0, y.1),
    );
    panel.height = Height::Equal;
    if !view.alike() {
        panel.height = Height::Ratio(0.8);
    }
    panel.grid = false;
    panel
}

/// A panel with an image in logarithmic colours between `ends`.
pub fn intensity(
    view: &View,
    values: &[f64],
    (title, quantity): (&str, &str),
    ends: (f64, f64),
) -> Panel {
    let mut panel = empty(view, title);
    panel.bar = Some(ColourBar {
        axis: Axis::new(quantity, Unit::plain(UNIT), Scale::Log).at_decades(),
        lo: ends.0,
        hi: ends.1,
    });
    let colour = |v: f64| Palette::Rising.colour(level(ends, v));
    let picture = view.picture(values, colour);
    panel.push(Layer::of(0, What::Picture(picture)));
    panel
}

/// The series of a cut.
pub fn series(cut: usize) -> Series {
    Series {
        ink: colour(cut),
        ..Series::default()
    }
}

/// The colour of a cut in all figures.
pub fn colour(cut: usize) -> Ink {
    // The first two are those of data and model.
    Ink::Series(2 + cut % (COLOURS - 2))
}

/// Width of the lines of cuts.
const LINE: f64 = 1.4;

/// Draws the cuts over an image, light on dark, with their labels; the series of cut `k` is `first + k`.
pub fn mark(panel: &mut Panel, view: &View, cuts: &[Cut], first: usize) {
    for (k, cut) in cuts.iter().enumerate() {
        let trace = view.trace(cut);
        // Dashes whose gaps are dark stand out from any colour, and cover no more of the image than a line.
        panel.push(Layer::dashed(first + k, trace.clone(), LINE, "", "").inked(Ink::Shade(0.0)));
        let dashes = Layer::dashed(first + k, trace.clone(), LINE, "6 4", view.long_label(cut));
        panel.push(dashes.inked(Ink::OnShade(0.0)));
        let n = trace.len().saturating_sub(1) as f64;
        let at = [0.85, 0.15, 0.7, 0.3, 0.5]
            .iter()
            .filter_map(|share| trace.get((share * n) as usize).copied())
            .collect();
        panel.tags.push(Tag {
            text: view.tag(cut),
            at,
            ink: Ink::OnShade(0.0),
            bold: false,
        });
    }
}

/// The image with its cuts.
pub fn chart(view: &View, values: &[f64], quantity: &str, ends: (f64, f64), cuts: &[Cut]) -> Chart {
    let mut panel = intensity(view, values, ("", quantity), ends);
    mark(&mut panel, view, cuts, 1);
    let mut all = vec![Series::default()];
    all.extend((0..cuts.len()).map(series));
    Chart {
        title: format!("Detector image: {quantity}"),
        series: all,
        panels: vec![panel],
        ..Chart::default()
    }
}
