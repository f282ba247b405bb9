//! Pixels and their directions: azimuth φ and exit angle α above the horizon, rad.

mod coordinates;
pub mod counting_noise;
pub mod resolution;

/// The pixels of an image.
#[derive(Clone, Debug, PartialEq)]
pub enum Detector {
    /// Pixels on a grid of both angles, uniform or not.
    Angles {
        /// Azimuth φ of the columns, rad.
        phi: Axis,
        /// Exit angle α of the rows, rad.
        alpha: Axis,
    },
    /// A plane of square pixels.
    Flat(Flat),
}

/// One axis of a detector in angles.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Centres of the pixels, rad.
    pub centres: Vec<f64>,
    /// Edges of the pixels, rad, one more than centres.
    pub edges: Vec<f64>,
}

/// A flat detector with square pixels. Columns run along φ, rows upward.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat {
    /// Distance from the sample, mm.
    pub distance: f64,
    /// Side of a pixel, mm.
    pub pixel: f64,
    /// Number of pixels along φ.
    pub columns: usize,
    /// Number of pixels upward.
    pub rows: usize,
    /// Pixel (column, row) at φ = 0 on the sample's horizon; on a plane normal to the beam, the pixel of the direct
    /// beam.
    pub centre: [f64; 2],
    /// Grazing angle of the beam to which the plane is normal, rad; 0 if the plane is perpendicular to the sample's
    /// surface.
    pub beam: f64,
}

impl Axis {
    /// `n` pixels of equal size between two angles, rad.
    pub fn even(from: f64, to: f64, n: usize) -> Self {
        let at = |i: f64| from + (to - from) * i / n as f64;
        Self {
            centres: (0..n).map(|i| at(i as f64 + 0.5)).collect(),
            edges: (0..=n).map(|i| at(i as f64)).collect(),
        }
    }
}

impl Flat {
    /// A pixel's position on the plane divided by the distance.
    fn position(&self, row: usize, column: usize) -> (f64, f64) {
        let step = self.pixel / self.distance;
        (
            (column as f64 - self.centre[0]) * step,
            (row as f64 - self.centre[1]) * step,
        )
    }
}

impl Detector {
    /// Number of pixels upward.
    pub fn rows(&self) -> usize {
        match self {
            Self::Angles { alpha, .. } => alpha.centres.len(),
            Self::Flat(f) => f.rows,
        }
    }

    /// Number of pixels along φ.
    pub fn columns(&self) -> usize {
        match self {
            Self::Angles { phi, .. } => phi.centres.len(),
            Self::Flat(f) => f.columns,
        }
    }

    /// φ and α of a pixel's centre, rad.
    pub fn angles(&self, row: usize, column: usize) -> (f64, f64) {
        match self {
            Self::Angles { phi, alpha } => (phi.centres[column], alpha.centres[row]),
            Self::Flat(f) => f.angles_at(column as f64, row as f64),
        }
    }

    /// Whether all pixels of a row have the same exit angle.
    pub fn level(&self) -> bool {
        matches!(self, Self::Angles { .. })
    }

    /// Solid angle of a pixel, sr.
    pub fn solid_angle(&self, row: usize, column: usize) -> f64 {
        match self {
            Self::Angles { phi, alpha } => {
                let (p, a) = (&phi.edges, &alpha.edges);
                (p[column + 1] - p[column]) * (a[row + 1].sin() - a[row].sin())
            }
            Self::Flat(f) => {
                let (u, v) = f.position(row, column);
                let step = f.pixel / f.distance;
                step * step * (1.0 + u * u + v * v).powf(-1.5)
            }
        }
    }

    /// Title, lower and upper end of both axes of a figure, columns first; in degrees, or mm of a flat detector.
    pub fn axes(&self) -> [(&'static str, f64, f64); 2] {
        match self {
            Self::Angles { phi, alpha } => {
                let span = |a: &Axis| {
                    let ends = (a.edges.first(), a.edges.last());
                    let degrees = |x: Option<&f64>| x.copied().unwrap_or(0.0).to_degrees();
                    (degrees(ends.0), degrees(ends.1))
                };
                let ((a, b), (c, d)) = (span(phi), span(alpha));
                [("φ, degrees", a, b), ("α, degrees", c, d)]
            }
            Self::Flat(f) => {
                let span =
                    |n: usize, c: f64| ((-0.5 - c) * f.pixel, (n as f64 - 0.5 - c) * f.pixel);
                let ((a, b), (c, d)) = (span(f.columns, f.centre[0]), span(f.rows, f.centre[1]));
                [("across, mm", a, b), ("up, mm", c, d)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_across_the_beam_sees_it_at_its_centre() {
        let flat = |beam: f64| {
            Detector::Flat(Flat {
                distance: 1000.0,
                pixel: 0.172,
                columns: 200,
                rows: 200,
                centre: [50.0, 20.0],
                beam,
            })
        };
        let (phi, alpha) = flat(0.01).angles(20, 50);
        assert!(phi.abs() < 1e-15 && (alpha + 0.01).abs() < 1e-15);
        let (phi, alpha) = flat(0.0).angles(120, 50);
        assert!(phi.abs() < 1e-15 && (alpha.tan() - 0.0172).abs() < 1e-15);
        // All of a sphere's pixels would cover 4π; a plane's part of it.
        let d = flat(0.0);
        let sum: f64 = (0..200)
            .flat_map(|r| (0..200).map(move |c| (r, c)))
            .map(|(r, c)| d.solid_angle(r, c))
            .sum();
        let corner = |u: f64, v: f64| (u * v / (1.0 + u * u + v * v).sqrt()).atan();
        let (a, b) = (-50.5 * 1.72e-4, 149.5 * 1.72e-4);
        let (c, e) = (-20.5 * 1.72e-4, 179.5 * 1.72e-4);
        let exact = corner(b, e) - corner(a, e) - corner(b, c) + corner(a, c);
        assert!((sum / exact - 1.0).abs() < 1e-8, "{sum} {exact}");
    }
}
