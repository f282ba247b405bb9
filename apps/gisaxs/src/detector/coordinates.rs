//! Positions on a detector: column u and row v as continuous numbers. The pixel (row, column) covers u from `column` to
//! `column + 1` and v from `row` to `row + 1`.

use super::{Axis, Detector, Flat};

impl Axis {
    /// The angle at a position, rad; between the ends of the axis.
    pub fn at(&self, position: f64) -> f64 {
        let n = self.centres.len();
        let k = (position.max(0.0) as usize).min(n.saturating_sub(1));
        match (self.edges.get(k), self.edges.get(k + 1)) {
            (Some(a), Some(b)) => a + (b - a) * (position - k as f64),
            _ => 0.0,
        }
    }

    /// The position of an angle, rad; `None` off the axis.
    pub fn position(&self, angle: f64) -> Option<f64> {
        let k = self.edges.partition_point(|e| *e <= angle);
        // The last edge belongs to the last pixel.
        let k = k.min(self.edges.len().saturating_sub(1)).checked_sub(1)?;
        let (a, b) = (self.edges[k], self.edges[k + 1]);
        ((a..=b).contains(&angle)).then(|| k as f64 + (angle - a) / (b - a))
    }
}

impl Detector {
    /// φ and α at a position, rad.
    pub fn angles_at(&self, u: f64, v: f64) -> (f64, f64) {
        match self {
            Self::Angles { phi, alpha } => (phi.at(u), alpha.at(v)),
            Self::Flat(f) => f.angles_at(u - 0.5, v - 0.5),
        }
    }

    /// The position of a direction, rad; `None` off the detector.
    pub fn position(&self, phi: f64, alpha: f64) -> Option<(f64, f64)> {
        match self {
            Self::Angles { phi: p, alpha: a } => Some((p.position(phi)?, a.position(alpha)?)),
            Self::Flat(f) => {
                let (u, v) = f.hit(phi, alpha)?;
                let (u, v) = (u + 0.5, v + 0.5);
                let inside = |x: f64, n: usize| (0.0..=n as f64).contains(&x);
                (inside(u, f.columns) && inside(v, f.rows)).then_some((u, v))
            }
        }
    }

    /// The position in the unit of [`Detector::axes`]: degrees, or mm of a flat detector.
    pub fn in_units(&self, u: f64, v: f64) -> (f64, f64) {
        match self {
            Self::Angles { phi, alpha } => (phi.at(u).to_degrees(), alpha.at(v).to_degrees()),
            Self::Flat(f) => (
                (u - 0.5 - f.centre[0]) * f.pixel,
                (v - 0.5 - f.centre[1]) * f.pixel,
            ),
        }
    }

    /// The position of a coordinate in the unit of [`Detector::axes`], along the azimuth or upward; `None` off the
    /// detector.
    pub fn from_unit(&self, across: bool, x: f64) -> Option<f64> {
        let n = if across { self.columns() } else { self.rows() };
        let found = match self {
            Self::Angles { phi, alpha } => {
                (if across { phi } else { alpha }).position(x.to_radians())?
            }
            Self::Flat(f) => x / f.pixel + f.centre[usize::from(!across)] + 0.5,
        };
        (0.0..=n as f64).contains(&found).then_some(found)
    }

    /// The row (`across` is false) of an exit angle in the scattering plane, or the column of an azimuth at the horizon, rad,
    /// as a position; `None` off the detector.
    pub fn line_at(&self, across: bool, angle: f64) -> Option<f64> {
        match self {
            Self::Angles { phi, alpha } => (if across { phi } else { alpha }).position(angle),
            Self::Flat(f) => {
                let found = if across {
                    f.hit(angle, 0.0)?.0 + 0.5
                } else {
                    f.hit(0.0, angle)?.1 + 0.5
                };
                let n = if across { self.columns() } else { self.rows() };
                (0.0..=n as f64).contains(&found).then_some(found)
            }
        }
    }

    /// The angle of a row or a column at a position, rad: the inverse of [`Self::line_at`].
    pub fn angle_of(&self, across: bool, position: f64) -> f64 {
        match self {
            Self::Angles { phi, alpha } => (if across { phi } else { alpha }).at(position),
            Self::Flat(f) => {
                if across {
                    let horizon = f.hit(0.0, 0.0).map_or(f.centre[1], |p| p.1);
                    f.angles_at(position - 0.5, horizon).0
                } else {
                    f.angles_at(f.centre[0], position - 0.5).1
                }
            }
        }
    }
}

impl Flat {
    /// φ and α at a position whose whole numbers are centres of pixels, rad.
    pub(super) fn angles_at(&self, column: f64, row: f64) -> (f64, f64) {
        let step = self.pixel / self.distance;
        let (u, v) = (
            (column - self.centre[0]) * step,
            (row - self.centre[1]) * step,
        );
        // The plane's normal (1, 0, 0), rotated down to the beam.
        let (s, c) = self.beam.sin_cos();
        let (x, z) = (c + s * v, c * v - s);
        (u.atan2(x), z.atan2(x.hypot(u)))
    }

    /// Where a direction meets the plane; `None` for one that points away.
    fn hit(&self, phi: f64, alpha: f64) -> Option<(f64, f64)> {
        let (s, c) = self.beam.sin_cos();
        let (x, y, z) = (
            alpha.cos() * phi.cos(),
            alpha.cos() * phi.sin(),
            alpha.sin(),
        );
        let toward = c * x - s * z;
        if toward <= 0.0 {
            return None;
        }
        let step = self.pixel / self.distance;
        Some((
            y / toward / step + self.centre[0],
            (s * x + c * z) / toward / step + self.centre[1],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detectors() -> [Detector; 3] {
        let flat = |beam: f64| {
            Detector::Flat(Flat {
                distance: 1000.0,
                pixel: 0.172,
                columns: 200,
                rows: 100,
                centre: [50.0, 20.0],
                beam,
            })
        };
        let uneven = Axis {
            centres: vec![-0.01, 0.005, 0.02],
            edges: vec![-0.02, 0.0, 0.01, 0.03],
        };
        let angles = Detector::Angles {
            phi: uneven,
            alpha: Axis::even(0.0, 0.03, 7),
        };
        [flat(0.0), flat(0.02), angles]
    }

    #[test]
    fn positions_and_directions_are_inverse() {
        for d in detectors() {
            let (columns, rows) = (d.columns() as f64, d.rows() as f64);
            for (a, b) in [(0.0, 0.0), (0.31, 0.77), (1.0, 1.0), (0.5, 0.02)] {
                let (u, v) = (a * columns, b * rows);
                // Rounding may put an edge just outside.
                let (u, v) = (u.clamp(1e-9, columns - 1e-9), v.clamp(1e-9, rows - 1e-9));
                let (phi, alpha) = d.angles_at(u, v);
                let (x, y) = d.position(phi, alpha).unwrap();
                assert!((x - u).abs() < 1e-6 && (y - v).abs() < 1e-6, "{d:?}");
                let (x, y) = d.in_units(u, v);
                assert!((d.from_unit(true, x).unwrap() - u).abs() < 1e-6);
                assert!((d.from_unit(false, y).unwrap() - v).abs() < 1e-6);
            }
            assert_eq!(d.position(1.0, 0.0), None);
            assert_eq!(d.position(-3.0, 0.0), None);
            assert_eq!(d.from_unit(true, 1e3), None);
            // Centres are where they were.
            let (phi, alpha) = d.angles(1, 2);
            let (p, a) = d.angles_at(2.5, 1.5);
            assert!((phi - p).abs() < 1e-12 && (alpha - a).abs() < 1e-12);
        }
    }
}
