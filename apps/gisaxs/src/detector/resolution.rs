//! The instrument's resolution: a Gaussian blur of the image.

/// Standard deviations of the instrument's Gaussian resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Along a row, pixels.
    pub across: f64,
    /// Along a column, pixels.
    pub up: f64,
}

/// Standard deviations at which the Gaussian is cut off.
const ENDS: f64 = 5.0;

impl Resolution {
    /// The blurred image; at its edges the weights are normalised over the pixels inside.
    pub fn apply(&self, image: &[f64], columns: usize) -> Vec<f64> {
        let rows = image.len() / columns.max(1);
        let across = blur(image, rows, columns, self.across);
        let turned = transpose(&across, rows, columns);
        transpose(&blur(&turned, columns, rows, self.up), columns, rows)
    }
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
            across: 3.0,
            up: 1.5,
        };
        let out = s.apply(&image, columns);
        let at = |r: usize, c: usize| out[r * columns + c];
        assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((at(20, 33) / at(20, 30) - (-0.5_f64).exp()).abs() < 1e-12);
        assert!((at(23, 30) / at(20, 30) - (-2.0_f64).exp()).abs() < 1e-12);
        let flat = s.apply(&vec![7.0; rows * columns], columns);
        assert!(flat.iter().all(|v| (v - 7.0).abs() < 1e-12));
    }
}
