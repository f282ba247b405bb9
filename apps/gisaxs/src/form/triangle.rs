//! The Fourier transform of a flat triangle.

use super::functions::sinc;
use num_complex::Complex64;

/// If all phases are closer than this to their mean, a series is used.
const NEAR: f64 = 1.2;

/// ∫ e^{iq·r} dS over a triangle, nm², from the phases q·v of its corners and its area, nm²: the second divided
/// difference of the exponential (Hermite–Genocchi). For close phases it is a series in their symmetric functions;
/// otherwise the divisor is the largest difference of two phases, which avoids cancellation.
pub(crate) fn transform(phases: [Complex64; 3], area: f64) -> Complex64 {
    let i = Complex64::I;
    let mean = (phases[0] + phases[1] + phases[2]) / 3.0;
    let p = phases.map(|x| x - mean);
    let far = p.iter().map(|x| x.norm_sqr()).fold(0.0, f64::max);
    if far <= NEAR * NEAR {
        let e2 = p[0] * p[1] + p[0] * p[2] + p[1] * p[2];
        let e3 = p[0] * p[1] * p[2];
        // h: complete symmetric functions of phases that sum to zero.
        let mut h = [Complex64::ONE, Complex64::ZERO, -e2];
        let mut factor = Complex64::new(0.5, 0.0);
        let mut sum = factor;
        for n in 1..24 {
            factor *= i / f64::from(n + 2);
            let now = if n < 3 {
                h[n as usize]
            } else {
                let next = -e2 * h[1] + e3 * h[0];
                h = [h[1], h[2], next];
                next
            };
            sum += factor * now;
        }
        return 2.0 * area * (i * mean).exp() * sum;
    }
    let pairs = [(0, 1, 2), (0, 2, 1), (1, 2, 0)];
    let (a, b, c) = pairs
        .into_iter()
        .max_by(|x, y| {
            let gap = |t: &(usize, usize, usize)| (p[t.0] - p[t.1]).norm_sqr();
            gap(x).total_cmp(&gap(y))
        })
        .map_or((p[0], p[1], p[2]), |(a, b, c)| (p[a], p[b], p[c]));
    let edge = |x: Complex64, y: Complex64| (i * (x + y) * 0.5).exp() * sinc((x - y) * 0.5);
    2.0 * area * (i * mean).exp() * (edge(a, c) - edge(b, c)) / (i * (a - b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the plain formula, good where the phases are far apart.
    fn plain(p: [Complex64; 3], area: f64) -> Complex64 {
        let e = |k: usize| (Complex64::I * p[k]).exp();
        let term = |a: usize, b: usize, c: usize| e(a) / ((p[a] - p[b]) * (p[a] - p[c]));
        -2.0 * area * (term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1))
    }

    proptest! {
        #[test]
        fn the_stable_form_is_the_plain_one(x in -9.0..9.0f64, y in -9.0..9.0f64, z in -9.0..9.0f64, im in -0.5..0.5f64) {
            let p = [Complex64::new(x, im), Complex64::new(y, -im), Complex64::new(z, 0.3 * im)];
            let gap = [(p[0] - p[1]).norm(), (p[0] - p[2]).norm(), (p[1] - p[2]).norm()];
            prop_assume!(gap.iter().all(|g| *g > 0.3));
            let (a, b) = (transform(p, 2.0), plain(p, 2.0));
            prop_assert!((a - b).norm() < 2e-13, "{a} {b}");
        }
    }

    #[test]
    fn the_branches_meet() {
        for scale in [1.0 - 1e-12, 1.0 + 1e-12] {
            let p = [0.9, -1.2, 0.3].map(|x| Complex64::new(7.0 + x * scale, 0.0));
            let e = (transform(p, 1.0) - plain(p, 1.0)).norm();
            assert!(e < 1e-14, "{e}");
        }
    }
}
