//! The instrument's resolution: a Gaussian blur of the image.

use super::Axis;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The instrument's Gaussian resolution.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Along a row.
    pub across: Blur,
    /// Along a column.
    pub up: Blur,
}

/// A Gaussian blur along one axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Blur {
    /// The standard deviation in pixels, which are all of one size.
    Even(f64),
    /// The edges of pixels of different sizes, in standard deviations.
    Uneven(Vec<f64>),
}

/// Standard deviations at which the Gaussian is cut off.
const ENDS: f64 = 5.0;
/// Differences of sizes over the mean size of pixels, up to which they are the rounding of a file.
const SAME: f64 = 1e-6;
/// Sizes of pixels, in standard deviations, below which differences of integrals are rounding.
const NARROW: f64 = 1e-3;

impl Blur {
    /// The blur of pixels along an axis, with a standard deviation in rad.
    pub fn new(axis: &Axis, sigma: f64) -> Self {
        let edges = &axis.edges;
        let n = axis.centres.len();
        let (Some(first), Some(last)) = (edges.first(), edges.last()) else {
            return Self::Even(0.0);
        };
        let mean = (last - first) / n as f64;
        let even = |w: &[f64]| (w[1] - w[0] - mean).abs() <= SAME * mean;
        if sigma <= 0.0 || edges.windows(2).all(even) {
            Self::Even(sigma / mean)
        } else {
            Self::Uneven(edges.iter().map(|x| (x - first) / sigma).collect())
        }
    }

    fn apply(&self, image: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        match self {
            Self::Even(sigma) => blur(image, rows, columns, *sigma),
            Self::Uneven(edges) => blur_densities(image, rows, edges),
        }
    }
}

impl Resolution {
    /// The blurred image; at its edges the weights are normalised over the pixels inside.
    pub fn apply(&self, image: &[f64], columns: usize) -> Vec<f64> {
        let rows = image.len() / columns.max(1);
        let across = self.across.apply(image, rows, columns);
        let turned = transpose(&across, rows, columns);
        transpose(&self.up.apply(&turned, columns, rows), columns, rows)
    }
}

/// Blurs the density of each row, which is constant in each pixel, and integrates it over the pixels.
fn blur_densities(image: &[f64], rows: usize, edges: &[f64]) -> Vec<f64> {
    let columns = edges.len() - 1;
    let mut out = vec![0.0; image.len()];
    for c in 0..columns {
        let to = [edges[c], edges[c + 1]];
        let low = edges[1..].partition_point(|e| *e < to[0] - ENDS).min(c);
        let high = edges[..columns]
            .partition_point(|e| *e <= to[1] + ENDS)
            .max(c + 1);
        let weights: Vec<f64> = (low..high)
            .map(|k| shared([edges[k], edges[k + 1]], to, k == c))
            .collect();
        let whole: f64 = weights.iter().sum();
        for row in 0..rows {
            let from = &image[row * columns..(row + 1) * columns];
            let sum: f64 = (weights.iter().zip(low..high))
                .map(|(w, k)| w * from[k] / (edges[k + 1] - edges[k]))
                .sum();
            out[row * columns + c] = sum / whole * (to[1] - to[0]);
        }
    }
    out
}

/// The integral of a Gaussian of unit width over its positions in both of two pixels.
fn shared(from: [f64; 2], to: [f64; 2], same: bool) -> f64 {
    let wide = [from[1] - from[0], to[1] - to[0]];
    if wide[0].max(wide[1]) < NARROW {
        let apart = 0.5 * (to[0] + to[1] - from[0] - from[1]);
        return wide[0] * wide[1] * gauss(apart);
    }
    // The second integral of the Gaussian less max(t, 0), whose differences are the pixel itself: no large terms cancel.
    let rest = |t: f64| gauss(t) - 0.5 * t.abs() * libm::erfc(t.abs() * FRAC_1_SQRT_2);
    let own = if same { wide[0] } else { 0.0 };
    own + rest(to[1] - from[0]) - rest(to[0] - from[0]) - rest(to[1] - from[1])
        + rest(to[0] - from[1])
}

fn gauss(t: f64) -> f64 {
    (-0.5 * t * t).exp() / (2.0 * PI).sqrt()
}

fn transpose(image: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..columns)
        .flat_map(|c| (0..rows).map(move |r| image[r * columns + c]))
        .collect()
}

/// Blurs each row with a Gaussian of `sigma` pixels.
fn blur(image: &[f64], rows: usize, columns: usize, sigma: f64) -> Vec<f64> {
    if sigma <= 0.0 {
        return image.to_vec();
    }
    let reach = (ENDS * sigma).ceil() as usize;
    let weights: Vec<f64> = (0..=reach)
        .map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp())
        .collect();
    let mut out = Vec::with_capacity(image.len());
    for row in 0..rows {
        let from = &image[row * columns..(row + 1) * columns];
        for c in 0..columns {
            let (mut sum, mut whole) = (0.0, 0.0);
            for at in c.saturating_sub(reach)..columns.min(c + reach + 1) {
                let w = weights[at.abs_diff(c)];
                sum += w * from[at];
                whole += w;
            }
            out.push(sum / whole);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_becomes_a_gaussian_and_a_plain_stays_one() {
        let (rows, columns) = (41, 61);
        let mut image = vec![0.0; rows * columns];
        image[20 * columns + 30] = 1.0;
        let s = Resolution {
            across: Blur::Even(3.0),
            up: Blur::Even(1.5),
        };
        let out = s.apply(&image, columns);
        let at = |r: usize, c: usize| out[r * columns + c];
        assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((at(20, 33) / at(20, 30) - (-0.5_f64).exp()).abs() < 1e-12);
        assert!((at(23, 30) / at(20, 30) - (-2.0_f64).exp()).abs() < 1e-12);
        let flat = s.apply(&vec![7.0; rows * columns], columns);
        assert!(flat.iter().all(|v| (v - 7.0).abs() < 1e-12));
    }

    /// Counts of pixels of a density, integrated by Simpson's rule.
    fn counts(edges: &[f64], density: impl Fn(f64) -> f64) -> Vec<f64> {
        let one = |w: &[f64]| {
            let (n, h) = (200, (w[1] - w[0]) / 200.0);
            let weight = |k| match k {
                0 | 200 => 1.0,
                _ => 2.0 + 2.0 * f64::from(k % 2),
            };
            let sum: f64 = (0..=n)
                .map(|k| weight(k) * density(w[0] + h * f64::from(k)))
                .sum();
            sum * h / 3.0
        };
        edges.windows(2).map(one).collect()
    }

    fn axis(edges: &[f64]) -> Axis {
        Axis {
            centres: edges.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect(),
            edges: edges.to_vec(),
        }
    }

    /// Four wide pixels beside forty narrow ones.
    fn uneven() -> Vec<f64> {
        let wide = (0..4).map(|k| -1.5 + 0.375 * f64::from(k));
        wide.chain((0..=40).map(|k| 0.0375 * f64::from(k)))
            .collect()
    }

    #[test]
    fn densities_are_blurred_on_uneven_pixels() {
        let edges = uneven();
        let s = Blur::new(&axis(&edges), 0.2);
        assert!(matches!(s, Blur::Uneven(_)));
        let flat = counts(&edges, |_| 7.0);
        for (a, b) in s.apply(&flat, 1, 44).iter().zip(&flat) {
            assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        }
        // The blur of a bell of 0.1 is one of √(0.1² + 0.2²).
        let bell = |x: f64, sigma: f64| (-0.5 * ((x - 0.6) / sigma).powi(2)).exp() / sigma;
        let from = counts(&edges, |x| bell(x, 0.1));
        let want = counts(&edges, |x| bell(x, 0.05_f64.sqrt()));
        let top = 0.0375 / 0.05_f64.sqrt();
        for (k, (a, b)) in s.apply(&from, 1, 44).iter().zip(&want).enumerate() {
            assert!((a - b).abs() < 0.005 * top, "{k}: {a} {b}");
        }
        // Wide pixels do not lend their counts by their number: half of the Gaussian about an edge lies on either side.
        let mut one = vec![0.0; 44];
        one[3] = 1.0;
        let out = s.apply(&one, 1, 44);
        let inner: f64 = out[4..].iter().sum();
        // ∫ over a pixel of w/σ = 1.875 of Φ(−t): (1/w) (φ(0) − φ(w) + w Φ(−w)).
        let want =
            (gauss(0.0) - gauss(1.875) + 1.875 * 0.5 * libm::erfc(1.875 * FRAC_1_SQRT_2)) / 1.875;
        assert!((inner / want - 1.0).abs() < 1e-6, "{inner} {want}");
    }

    #[test]
    fn edges_at_equal_steps_are_even_pixels() {
        let edges: Vec<f64> = (0..=50).map(|k| 0.1 * f64::from(k)).collect();
        let Blur::Even(sigma) = Blur::new(&axis(&edges), 0.25) else {
            panic!("{edges:?}");
        };
        assert!((sigma - 2.5).abs() < 1e-12);
        // Narrow pixels: the sum over them is the integral, whatever their sizes.
        let image: Vec<f64> = (0..50).map(|k| f64::from(k % 7)).collect();
        let even = Blur::Even(40.0).apply(&image, 1, 50);
        let fine: Vec<f64> = (0..=50).map(|k| f64::from(k) / 40.0).collect();
        for (a, b) in Blur::Uneven(fine).apply(&image, 1, 50).iter().zip(even) {
            assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
        }
    }
}
