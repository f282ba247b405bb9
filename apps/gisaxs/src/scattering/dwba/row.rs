//! The pixels of a row of the detector.

use super::{Mode, Scene};
use crate::scattering::layers::{Waves, waves};
use std::sync::Arc;

/// Pixels of one row of the detector.
pub(super) struct Row {
    pub xy: Arc<[[f64; 2]]>,
    /// The waves in every layer, for each pixel or one for all; `None` below the horizon.
    pub up: Vec<Option<Vec<Waves>>>,
}

impl Row {
    pub fn up(&self, column: usize) -> Option<&Vec<Waves>> {
        self.up[column.min(self.up.len() - 1)].as_ref()
    }
}

impl Scene {
    /// The pixels of a row.
    pub(super) fn row(&self, row: usize) -> Row {
        let columns = self.detector.columns();
        let along = |(phi, alpha): (f64, f64)| {
            [
                self.k0 * (self.incidence.cos() - alpha.cos() * phi.cos()),
                -self.k0 * alpha.cos() * phi.sin(),
            ]
        };
        let angles: Vec<(f64, f64)> = (0..columns).map(|c| self.detector.angles(row, c)).collect();
        let up = |alpha: f64| match self.mode {
            // Without a surface there is no horizon.
            Mode::Transmission => {
                Some(waves(&self.layers[..1], self.k0, alpha.abs())).map(|mut w| {
                    if alpha < 0.0 {
                        w[0].kz = -w[0].kz;
                    }
                    w
                })
            }
            _ => (alpha > 0.0).then(|| waves(&self.layers, self.k0, alpha)),
        };
        let distinct = if self.detector.level() { 1 } else { columns };
        Row {
            up: angles.iter().take(distinct).map(|a| up(a.1)).collect(),
            xy: angles.into_iter().map(along).collect(),
        }
    }
}
