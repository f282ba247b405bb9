//! Cuts as charts: a panel each.

use super::axes::View;
use super::cut::Cut;
use super::figure::{UNIT, series};
use crate::GisaxsError;
use greenup_report::chart::{Axis, Chart, Height, Layer, Mark, Panel, Scale, Unit};
use greenup_report::si::three;

/// Decades of intensities that a curve spans at most.
const DECADES: f64 = 12.0;

/// The vertical axis of intensities around these values.
pub fn intensity_axis(quantity: &str, values: impl Iterator<Item = f64>) -> Axis {
    let (mut lo, mut hi) = (f64::INFINITY, 0.0_f64);
    for v in values.filter(|v| *v > 0.0 && v.is_finite()) {
        (lo, hi) = (lo.min(v), hi.max(v));
    }
    let axis = Axis::new(quantity, Unit::plain(UNIT), Scale::Log).at_decades();
    if hi == 0.0 {
        return axis;
    }
    let lo = lo.max(hi * 10_f64.powf(-DECADES));
    axis.over(0.7 * lo, (1.5 * hi).max(2.0 * lo))
}

/// Coordinates along a cut.
pub fn along(view: &View, cut: &Cut) -> Vec<f64> {
    let pick = |p: (f64, f64)| if cut.across { p.0 } else { p.1 };
    view.trace(cut).into_iter().map(pick).collect()
}

/// An empty panel over the axis along a cut.
pub fn panel(view: &View, cut: &Cut, title: &str, y: Axis) -> Panel {
    let [x, up] = view.ends();
    let ends = if cut.across { x } else { up };
    let mut panel = Panel::new(title, view.axis(cut.across).over(ends.0, ends.1), y);
    panel.height = Height::Ratio(0.55);
    panel
}

/// The intensities along each cut, in the colour of its line on the image.
///
/// # Errors
/// A cut misses the detector.
pub fn chart(
    view: &View,
    values: &[f64],
    quantity: &str,
    cuts: &[Cut],
) -> Result<Chart, GisaxsError> {
    let panels = cuts
        .iter()
        .enumerate()
        .map(|(k, cut)| {
            let curve = cut.means(values, view.detector)?;
            let axis = intensity_axis(quantity, curve.iter().copied());
            let mut panel = panel(view, cut, &format!("Cut at {}", view.label(cut)), axis);
            let x = along(view, cut);
            // Marks below the line carry the values.
            let marks = x
                .iter()
                .zip(&curve)
                .map(|(x, y)| Mark {
                    x: *x,
                    y: *y,
                    interval: None,
                    tip: format!("{}\t{}", three(*x), three(*y)),
                })
                .collect();
            panel.push(Layer::points(k, marks, 2.0));
            let line = x.iter().copied().zip(curve.iter().copied()).collect();
            panel.push(Layer::line(k, line, view.label(cut)));
            Ok(panel)
        })
        .collect::<Result<Vec<_>, GisaxsError>>()?;
    Ok(Chart {
        title: "Cuts through the image".into(),
        series: (0..cuts.len()).map(series).collect(),
        panels,
        tip_names: vec!["at".into(), quantity.into()],
        least_width: 420.0,
        ..Chart::default()
    })
}
