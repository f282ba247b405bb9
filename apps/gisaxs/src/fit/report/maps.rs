//! Data, model and residual of an image, side by side: both on the same scale of colours.

use super::{CUTS, PICTURE, Report};
use crate::image::ColourRange;
use crate::image::figure::{empty, intensity, mark};
use greenup_report::chart::{Axis, Chart, ColourBar, Layer, Palette, Panel, Scale, Unit, What};

/// Least deviation at the ends of the colours, σ.
const LEAST: f64 = 3.0;

impl Report<'_> {
    /// The panels; none for data along a cut.
    pub(super) fn maps(&self) -> Vec<Panel> {
        if self.target.cut.is_some() {
            return Vec::new();
        }
        let view = self.view();
        let ends = self.ends();
        let quantity = self.quantity();
        let mut data = intensity(&view, &self.data, ("Data", quantity), ends);
        let mut model = intensity(&view, &self.model, ("Model", quantity), ends);
        mark(&mut data, &view, &self.cuts, CUTS);
        mark(&mut model, &view, &self.cuts, CUTS);
        let mut residual = empty(&view, "Residual: (data − model)/σ");
        let end = self.end();
        residual.palette = Palette::Diverging;
        residual.bar = Some(ColourBar {
            axis: Axis::new("", Unit::plain("σ"), Scale::Linear),
            lo: -end,
            hi: end,
        });
        let colour = |r: f64| Palette::Diverging.colour(0.5 + 0.5 * r / end);
        let picture = view.picture(&self.deviations, colour);
        residual.push(Layer::of(PICTURE, What::Picture(picture)));
        vec![data, model, residual]
    }

    /// The maps as charts: each over the full width.
    pub(super) fn map_charts(&self) -> Vec<Chart> {
        let one = |mut panel: Panel| {
            let title = std::mem::take(&mut panel.title);
            self.charted(&title, vec![panel])
        };
        self.maps().into_iter().map(one).collect()
    }

    /// Ends of the colours of data and model: from the data, which the model may exceed.
    pub(super) fn ends(&self) -> (f64, f64) {
        let some = self.data.iter().any(|v| *v > 0.0);
        let (lo, hi) = self.range.over(if some { &self.data } else { &self.model });
        match self.range {
            ColourRange::Percentiles(..) => (lo, self.range.over(&self.model).1.max(hi)),
            ColourRange::Decades(_) | ColourRange::Ends(..) => (lo, hi),
        }
    }

    /// The deviation at the ends of the colours: that of all but a hundredth of the data.
    pub(super) fn end(&self) -> f64 {
        let mut all: Vec<f64> = (self.deviations.iter())
            .filter(|r| r.is_finite())
            .map(|r| r.abs())
            .collect();
        all.sort_by(f64::total_cmp);
        let at = all.len().saturating_sub(1) * 99 / 100;
        all.get(at).copied().unwrap_or(LEAST).max(LEAST).ceil()
    }

    /// Number of data whose deviation is beyond the ends of the colours.
    pub(super) fn beyond(&self) -> usize {
        let end = self.end();
        self.deviations.iter().filter(|r| r.abs() > end).count()
    }
}
