//! Results against sums in twice the working precision.

use crate::{GemmError, Matrices, Product};

/// c + Σ a·b by compensated products and sums (Ogita, Rump, Oishi 2005), and Σ |a·b| with |c|.
fn dot(c: f64, a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut high, mut low, mut size) = (c, 0.0, c.abs());
    for (x, y) in a.zip(b) {
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

/// Multiplies once and compares at least `entries` entries of C, the corners among them; returns
/// the largest error over Σ|a·b|.
///
/// # Errors
/// The first entry whose error exceeds (k + 2)·u·Σ|a·b|, the bound of any order of summation.
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
                a[i * s.k..(i + 1) * s.k].iter().copied(),
                b.iter().skip(j).step_by(s.n).copied(),
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
