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
    panel.right = view.exit_angles();
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

/// Width of the marks of lines, and of the dark edge around them, pixels.
const LINE: (f64, f64) = (1.6, 4.0);
/// Length of the marks, of the length of their line.
const SHARE: f64 = 0.045;

/// Marks the cuts and the Yoneda line at the edges of an image, which they leave free; the series of cut `k` is `first + k`.
pub fn mark(panel: &mut Panel, view: &View, cuts: &[Cut], first: usize) {
    let named = |cut: &Cut| cut.label(view.detector);
    let mut all: Vec<(usize, Cut, String)> = (cuts.iter().enumerate())
        .map(|(k, cut)| (first + k, *cut, named(cut)))
        .collect();
    all.extend(view.yoneda().map(|line| (0, line, "Yoneda".to_owned())));
    for (series, cut, text) in all {
        let trace = view.trace(&cut);
        let n = ((SHARE * trace.len() as f64).ceil() as usize).max(2);
        let Some(from) = trace.len().checked_sub(n) else {
            continue;
        };
        let ends = [&trace[..n], &[(f64::NAN, f64::NAN)], &trace[from..]].concat();
        for (width, ink) in [(LINE.1, Ink::Shade(0.0)), (LINE.0, Ink::OnShade(0.0))] {
            let line = Layer::dashed(series, ends.clone(), width, "", &*text);
            panel.push(line.inked(ink));
        }
        // The Yoneda line at the right, where cuts have no labels.
        let mut at = vec![trace[n - 1], trace[from]];
        if series == 0 {
            at.reverse();
        }
        panel.tags.push(Tag {
            text,
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
