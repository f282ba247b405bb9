//! U, V, W and X lists of a box (thesis, fig. 18), from a record of `fmm lists --json`.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::Chart;
use greenup_report::lists_figure::{Square, lists};
use serde::Deserialize;

/// Lists of a box.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeLists {
    /// JSON of `fmm lists`.
    pub record: String,
}

#[derive(Deserialize)]
struct Recorded {
    n: usize,
    ncrit: usize,
    boxes: usize,
    level: u8,
    squares: Vec<Square>,
}

impl TreeLists {
    fn read(&self, records: &Records) -> Result<Recorded, PaperError> {
        serde_json::from_value(records.json(&self.record)?)
            .map_err(|e| broken(std::path::Path::new(&self.record), e))
    }

    /// The figure.
    ///
    /// # Errors
    /// The record is missing or not one of `fmm lists`.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        Ok(lists(
            "U, V, W and X lists of a box B",
            &self.read(records)?.squares,
        ))
    }

    /// What the figure shows.
    ///
    /// # Errors
    /// As [`TreeLists::chart`].
    pub fn caption(&self, records: &Records) -> Result<String, PaperError> {
        let r = self.read(records)?;
        Ok(format!(
            "A plane through an octree of {} boxes: {} points, at most {} a leaf; B is a leaf of level {}.",
            r.boxes, r.n, r.ncrit, r.level
        ))
    }
}
