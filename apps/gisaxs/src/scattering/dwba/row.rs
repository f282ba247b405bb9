//! The pixels of a row of the detector.

use super::{Mode, Scene};
use crate::scattering::layers::{Waves, outside, waves};
use num_complex::Complex64;
use std::sync::Arc;

/// Pixels of one row of the detector.
pub(super) struct DetectorRow {
    pub xy: Arc<[[f64; 2]]>,
    /// The waves in every layer, for each pixel or one for all; `None` below the horizon.
    pub up: Vec<Option<Vec<Waves>>>,
}

impl DetectorRow {
    pub fn up(&self, column: usize) -> Option<&Vec<Waves>> {
        self.up[column.min(self.up.len() - 1)].as_ref()
    }
}

impl Scene {
    /// Wave number in the medium above the sample, 1/nm.
    pub fn k(&self) -> f64 {
        outside(&self.layers, self.k0)
    }

    /// The wave in a medium without a surface at an angle above the horizon, rad.
    pub(super) fn through(&self, alpha: f64) -> Waves {
        Waves {
            kz: (self.k() * alpha.sin()).into(),
            t: Complex64::ONE,
            r: Complex64::ZERO,
        }
    }

    /// The pixels of a row.
    pub(super) fn row(&self, row: usize) -> DetectorRow {
        let columns = self.detector.columns();
        let k = self.k();
        let along = |(phi, alpha): (f64, f64)| {
            [
                k * (self.incidence.cos() - alpha.cos() * phi.cos()),
                -k * alpha.cos() * phi.sin(),
            ]
        };
        let angles: Vec<(f64, f64)> = (0..columns).map(|c| self.detector.angles(row, c)).collect();
        let up = |alpha: f64| match self.mode {
            // Without a surface there is no horizon.
            Mode::Transmission => Some(vec![self.through(alpha)]),
            _ => (alpha > 0.0).then(|| waves(&self.layers, self.k0, alpha)),
        };
        let distinct = if self.detector.level() { 1 } else { columns };
        DetectorRow {
            up: angles.iter().take(distinct).map(|a| up(a.1)).collect(),
            xy: angles.into_iter().map(along).collect(),
        }
    }
}
