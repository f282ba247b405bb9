//! Meshes: boxes of zones, by the places of their faces.

use crate::HydroError;

/// Zones between faces at these places along each direction; straight walls all around.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    pub faces: Vec<Vec<f64>>,
}

/// Names of the built-in meshes.
pub const NAMES: [&str; 7] = [
    "segment01",
    "square01_quad",
    "cube01_hex",
    "rectangle01_quad",
    "box01_hex",
    "square_gresho",
    "rt2D",
];

impl Mesh {
    /// A built-in mesh of the public test suite.
    ///
    /// # Errors
    /// There is none of that name; the message lists them.
    pub fn named(name: &str) -> Result<Self, HydroError> {
        let even = |from: f64, to: f64, n: usize| -> Vec<f64> {
            (0..=n)
                .map(|i| from + (to - from) * i as f64 / n as f64)
                .collect()
        };
        let unit = even(0.0, 1.0, 2);
        let faces = match name {
            "segment01" => vec![unit],
            "square01_quad" => vec![unit.clone(), unit],
            "cube01_hex" => vec![unit.clone(), unit.clone(), unit],
            "rectangle01_quad" => vec![even(0.0, 7.0, 7), even(0.0, 3.0, 3)],
            "box01_hex" => vec![
                vec![0.0, 1.0, 3.0, 5.0, 7.0],
                even(0.0, 3.0, 2),
                even(0.0, 3.0, 2),
            ],
            "square_gresho" => vec![even(-0.5, 0.5, 2), even(-0.5, 0.5, 2)],
            "rt2D" => vec![even(0.0, 0.5, 1), even(-1.0, 1.0, 4)],
            _ => {
                return Err(HydroError(format!(
                    "there is no mesh `{name}`: there are {}",
                    NAMES.join(", ")
                )));
            }
        };
        Ok(Self { faces })
    }

    pub fn dim(&self) -> usize {
        self.faces.len()
    }

    /// Zones along each direction.
    pub fn counts(&self) -> Vec<usize> {
        self.faces.iter().map(|f| f.len() - 1).collect()
    }

    pub fn zones(&self) -> usize {
        self.counts().iter().product()
    }

    /// Each zone halved along each direction, so many times.
    #[must_use]
    pub fn refined(&self, times: usize) -> Self {
        let mut faces = self.faces.clone();
        for f in &mut faces {
            for _ in 0..times {
                let mut finer = vec![f[0]];
                for w in f.windows(2) {
                    finer.extend([0.5 * (w[0] + w[1]), w[1]]);
                }
                *f = finer;
            }
        }
        Self { faces }
    }

    /// Total volume.
    pub fn volume(&self) -> f64 {
        self.faces.iter().map(|f| f[f.len() - 1] - f[0]).product()
    }
}
