//! Data and model of an image on one scale of colours, and the residual.

use super::{CUTS, PICTURE, Report};
use crate::image::ColourRange;
use crate::image::figure::{empty, intensity, mark};
use greenup_report::chart::{Axis, Chart, ColourBar, Layer, Palette, Panel, Scale, Unit, What};

/// Deviation at the ends of the colours, σ.
pub(super) const END: f64 = 3.0;

impl Report<'_> {
    /// Data and model; none for data along a cut.
    pub(super) fn images(&self) -> Vec<Panel> {
        if self.target.cut.is_some() {
            return Vec::new();
        }
        let view = self.view();
        let one = |title: &str, values: &[f64]| {
            let mut panel = intensity(&view, values, (title, self.quantity()), self.ends());
            mark(&mut panel, &view, &self.cuts, CUTS);
            panel
        };
        vec![one("Data", &self.data), one("Model", &self.model)]
    }

    /// Data and model below each other, or side by side in wide windows.
    pub(super) fn images_chart(&self) -> Chart {
        Chart {
            least_width: 400.0,
            tallest: 0.62,
            ..self.charted("Data and model", self.images())
        }
    }

    /// What the model leaves of the data; `None` for data along a cut.
    pub(super) fn residual(&self) -> Option<Panel> {
        if self.target.cut.is_some() {
            return None;
        }
        let view = self.view();
        let mut panel = empty(&view, "Residual: (data − model)/σ");
        panel.palette = Palette::Diverging;
        panel.bar = Some(ColourBar {
            axis: Axis::new("", Unit::plain("σ"), Scale::Linear),
            lo: -END,
            hi: END,
        });
        let colour = |r: f64| Palette::Diverging.colour(0.5 + 0.5 * r / END);
        let picture = view.picture(&self.deviations, colour);
        panel.push(Layer::of(PICTURE, What::Picture(picture)));
        Some(panel)
    }

    /// Ends of the colours of data and model: from the data, which the model may exceed.
    pub(super) fn ends(&self) -> (f64, f64) {
        let some = self.data.iter().any(|v| *v > 0.0);
        let (lo, hi) = self.range.over(if some { &self.data } else { &self.model });
        match self.range {
            ColourRange::Brightest | ColourRange::Percentiles(..) => {
                (lo, self.range.over(&self.model).1.max(hi))
            }
            ColourRange::Decades(_) | ColourRange::Ends(..) => (lo, hi),
        }
    }
}
