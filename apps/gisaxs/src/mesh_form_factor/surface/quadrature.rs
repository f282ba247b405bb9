//! Quadrature rules on a triangle, and their errors for e^{iq·r}.

use crate::form::gauss;

/// Quadrature rule on a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quadrature {
    /// One point, the centroid, as in the paper (Eq. 2).
    Centroid,
    /// Three points, exact for polynomials of degree 2.
    Three,
    /// Six points, exact for polynomials of degree 4.
    Six,
    /// Gauss–Legendre rule on a collapsed square: n rows of at most n points.
    Gauss(usize),
}

/// Largest order of a Gauss rule: two hundred radians per triangle.
const MAX: usize = 128;

impl Quadrature {
    /// Largest error of the mean of e^{iφ} over a triangle, if the phases of its corners differ by at most `p` from
    /// their mean, rad.
    pub fn error(self, p: f64) -> f64 {
        match self {
            // Σ p_k² / 24, and Σ p_k² ≤ 2 p² where the phases sum to zero.
            Self::Centroid => p * p / 12.0,
            // From the third and fourth moments.
            Self::Three => p.powi(3) / 900.0 + p.powi(4) / 900.0,
            Self::Six => p.powi(5) / 6e4 + p.powi(6) / 5e5,
            // Error of the Gauss rule for e^{ipx} on (−1, 1), halved; the collapsed coordinates cost a factor.
            Self::Gauss(n) => {
                let mut e = 1.0;
                // 2^{2n} n!⁴ p^{2n} / ((2n + 1) (2n)!³), factor by factor.
                for k in 1..=n {
                    let k = k as f64;
                    let next = 2.0 * k * (2.0 * k - 1.0);
                    e *= 4.0 * k.powi(4) * p * p / next.powi(3);
                }
                4.0 * e / (2 * n + 1) as f64 * (1.0 + n as f64 / p.max(1e-9))
            }
        }
    }

    /// The rule with the fewest points whose [`error`](Self::error) at `p` is at most `tolerance`, or the most accurate
    /// rule.
    pub fn within(tolerance: f64, p: f64) -> Self {
        [Self::Centroid, Self::Three, Self::Six]
            .into_iter()
            .chain((3..=MAX).map(Self::Gauss))
            .find(|r| r.error(p) <= tolerance)
            .unwrap_or(Self::Gauss(MAX))
    }

    /// Points in barycentric coordinates, with weights that sum to one.
    pub fn points(self) -> Vec<([f64; 3], f64)> {
        let around = |a: f64, w: f64| {
            let b = 1.0 - 2.0 * a;
            [([a, a, b], w), ([a, b, a], w), ([b, a, a], w)]
        };
        match self {
            Self::Centroid => vec![([1.0 / 3.0; 3], 1.0)],
            Self::Three => around(1.0 / 6.0, 1.0 / 3.0).to_vec(),
            // Dunavant (1985), degree 4.
            Self::Six => [
                around(0.445_948_490_915_964_9, 0.223_381_589_678_011_47),
                around(0.091_576_213_509_770_74, 0.109_951_743_655_321_87),
            ]
            .concat(),
            Self::Gauss(n) => {
                let half = |n: usize| -> Vec<(f64, f64)> {
                    gauss(n)
                        .iter()
                        .map(|(x, w)| (0.5 + 0.5 * x, 0.5 * w))
                        .collect()
                };
                let mut out = Vec::new();
                for (u, wu) in half(n) {
                    // Rows closer to the corner have fewer points.
                    for (v, wv) in half(2 + ((n - 2) as f64 * u.sqrt()).ceil() as usize) {
                        out.push(([1.0 - u, u * (1.0 - v), u * v], 2.0 * u * wu * wv));
                    }
                }
                out
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::transform;
    use num_complex::Complex64;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn errors_stay_below_their_bound(a in -1.0..1.0f64, b in -1.0..1.0f64, scale in 0.05..20.0f64) {
            let raw = [a, b, -a - b];
            let top = raw.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            prop_assume!(top > 0.1);
            let p = raw.map(|x| x / top * scale);
            let exact = transform(p.map(|x| Complex64::new(x, 0.0)), 1.0);
            for rule in [Quadrature::Centroid, Quadrature::Three, Quadrature::Six, Quadrature::Gauss(4), Quadrature::Gauss(7), Quadrature::Gauss(12), Quadrature::Gauss(20)] {
                let sum: Complex64 = rule
                    .points()
                    .iter()
                    .map(|(s, w)| (Complex64::I * (s[0] * p[0] + s[1] * p[1] + s[2] * p[2])).exp() * w)
                    .sum();
                let off = (sum - exact).norm();
                prop_assert!(off <= rule.error(scale) + 1e-14, "{rule:?} {scale}: {off} > {}", rule.error(scale));
            }
        }
    }

    #[test]
    fn finer_waves_need_more_points() {
        assert_eq!(Quadrature::within(1e-2, 0.1), Quadrature::Centroid);
        assert_eq!(Quadrature::within(1e-5, 0.1), Quadrature::Three);
        assert_eq!(Quadrature::within(1e-8, 0.2), Quadrature::Six);
        let Quadrature::Gauss(few) = Quadrature::within(1e-9, 2.0) else {
            panic!()
        };
        let Quadrature::Gauss(many) = Quadrature::within(1e-9, 20.0) else {
            panic!()
        };
        assert!(few < many && many < 32, "{few} {many}");
    }
}
