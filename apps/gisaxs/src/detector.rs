//! Pixels as angles: azimuth φ and height α above the horizon, rad.

/// An image's pixels, their edges and centres in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    pub phi: Axis,
    pub alpha: Axis,
}

/// One direction of a detector.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub centres: Vec<f64>,
    /// One more than centres.
    pub edges: Vec<f64>,
}

impl Axis {
    /// `n` equal steps between two angles.
    pub fn even(from: f64, to: f64, n: usize) -> Self {
        let at = |i: f64| from + (to - from) * i / n as f64;
        Self {
            centres: (0..n).map(|i| at(i as f64 + 0.5)).collect(),
            edges: (0..=n).map(|i| at(i as f64)).collect(),
        }
    }
}

impl Detector {
    /// Solid angle of a pixel.
    pub fn solid_angle(&self, row: usize, column: usize) -> f64 {
        let (p, a) = (&self.phi.edges, &self.alpha.edges);
        (p[column + 1] - p[column]) * (a[row + 1].sin() - a[row].sin())
    }
}
