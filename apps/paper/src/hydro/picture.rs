//! A recorded picture.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::{Axis, Chart, Height, Layer, Panel, Scale, Unit, What};
use greenup_report::png;
use serde::Deserialize;

/// A PNG file of the repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The file.
    record: String,
    /// What it shows.
    #[serde(default)]
    pub(super) caption: String,
}

impl Picture {
    pub(super) fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let path = records.path(&self.record)?;
        let bytes = std::fs::read(&path).map_err(|e| broken(&path, e))?;
        let picture = png::read(&bytes).map_err(|e| broken(&path, e))?;
        let axis = |(lo, hi): (f64, f64)| Axis::new("", Unit::None, Scale::Linear).over(lo, hi);
        let mut panel = Panel::new("", axis(picture.x), axis(picture.y));
        panel.height = Height::Equal;
        panel.axes = false;
        panel.push(Layer::of(0, What::Picture(picture)));
        Ok(Chart {
            panels: vec![panel],
            series: vec![greenup_report::chart::Series::default()],
            tallest: 1.2,
            ..Chart::default()
        })
    }
}
