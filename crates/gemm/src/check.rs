//! Verification of products against sums in twice the working precision.

use crate::{GemmError, Matrices, Product};

/// c + Σ a·b by the compensated dot product of Ogita, Rump and Oishi (2005), and |c| + Σ |a·b|.
pub fn dot(c: f64, pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut high, mut low, mut size) = (c, 0.0, c.abs());
    for (x, y) in pairs {
        let p = x * y;
        let e = x.mul_add(y, -p);
        let s = high + p;
        let z = s - high;
        low += (high - (s - z)) + (p - z) + e;
        high = s;
        size += p.abs();
    }
    (high + low, size)
}

/// Multiplies once and verifies at least `entries` entries of C (or all), including the corners; returns the largest
/// error relative to Σ|a·b|.
///
/// # Errors
/// The error of an entry exceeds (k + 2)·u·Σ|a·b|, the bound for any order of summation.
pub fn check(product: &dyn Product, x: &mut Matrices, entries: usize) -> Result<f64, GemmError> {
    let s = x.size;
    if s.m == 0 || s.n == 0 {
        return Ok(0.0);
    }
    let mut rng = fastrand::Rng::with_seed(0x0067_656d_6d00);
    let mut places = vec![(0, 0), (0, s.n - 1), (s.m - 1, 0), (s.m - 1, s.n - 1)];
    if s.m * s.n <= entries {
        places = (0..s.m * s.n).map(|i| (i / s.n, i % s.n)).collect();
    } else {
        places.extend((0..entries).map(|_| (rng.usize(..s.m), rng.usize(..s.n))));
    }
    let expected: Vec<(f64, f64)> = places
        .iter()
        .map(|&(i, j)| {
            let (a, b) = (x.a.as_slice(), x.b.as_slice());
            dot(
                x.c.as_slice()[i * s.n + j],
                (0..s.k).map(|l| (a[i * s.k + l], b[l * s.n + j])),
            )
        })
        .collect();
    product.multiply(x);
    let bound = (s.k as f64 + 2.0) * f64::EPSILON / 2.0;
    let mut worst = 0.0_f64;
    for (&(row, column), &(expected, size)) in places.iter().zip(&expected) {
        let got = x.c.as_slice()[row * s.n + column];
        let error = (got - expected).abs() / size.max(f64::MIN_POSITIVE);
        if error > bound || error.is_nan() {
            return Err(GemmError::Wrong {
                name: product.name().into(),
                row,
                column,
                got,
                expected,
                error,
                bound,
            });
        }
        worst = worst.max(error);
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compensated_dot_sees_what_a_plain_one_loses() {
        let pairs = [(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0)];
        assert_eq!(dot(0.0, pairs.into_iter()), (1.0, 2e16 + 1.0));
    }
}
