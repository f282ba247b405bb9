//! Functions in the form factors of shapes, without cancellation near zero.

use num_complex::Complex64;
use std::sync::OnceLock;

/// e^{ix}.
pub fn wave(x: Complex64) -> Complex64 {
    let (sine, cosine) = x.re.sin_cos();
    let size = if x.im == 0.0 { 1.0 } else { (-x.im).exp() };
    Complex64::new(size * cosine, size * sine)
}

/// √(x² + y²) without conjugation, with a fast path for real arguments.
pub fn along(x: Complex64, y: Complex64) -> Complex64 {
    if x.im == 0.0 && y.im == 0.0 {
        return (x.re * x.re + y.re * y.re).sqrt().into();
    }
    (x * x + y * y).sqrt()
}

/// sin x / x.
pub fn sinc(x: Complex64) -> Complex64 {
    if x.im == 0.0 && x.re.abs() > 0.1 {
        return (x.re.sin() / x.re).into();
    }
    if x.norm_sqr() < 1e-2 {
        let y = x * x;
        // The next term is below 1e-17.
        return 1.0
            - y / 6.0 * (1.0 - y / 20.0 * (1.0 - y / 42.0 * (1.0 - y / 72.0 * (1.0 - y / 110.0))));
    }
    x.sin() / x
}

/// 3 (sin x − x cos x) / x³.
pub fn ball(x: Complex64) -> Complex64 {
    if x.im == 0.0 && x.re.abs() > 1.0 {
        let (sine, cosine) = x.re.sin_cos();
        return (3.0 * (sine - x.re * cosine) / x.re.powi(3)).into();
    }
    if x.norm_sqr() < 1.0 {
        // Σ (−x²)ⁿ 3 · 2 (n + 1) / (2n + 3)!
        let y = -(x * x);
        let (mut power, mut factorial, mut sum) = (Complex64::ONE, 6.0, Complex64::ZERO);
        for n in 0..11 {
            sum += power * (6.0 * f64::from(n + 1) / factorial);
            power *= y;
            let next = f64::from(2 * n + 4);
            factorial *= next * (next + 1.0);
        }
        return sum;
    }
    3.0 * (x.sin() - x * x.cos()) / (x * x * x)
}

/// 2 J₁(x) / x.
pub fn disc(x: Complex64) -> Complex64 {
    if x.im == 0.0 {
        let x = x.re;
        if x.abs() < 1e-4 {
            return (1.0 - x * x / 8.0).into();
        }
        return (2.0 * libm::j1(x) / x).into();
    }
    // (4/π) ∫₀¹ √(1 − t²) cos xt dt by a Gauss–Chebyshev rule, which converges faster than any power once it has one
    // point per radian.
    let n = 24 + x.norm() as usize;
    let step = std::f64::consts::PI / (n + 1) as f64;
    let sum: Complex64 = (1..=n)
        .map(|k| {
            let (sine, cosine) = (step * k as f64).sin_cos();
            (x * cosine).cos() * (sine * sine)
        })
        .sum();
    sum * (2.0 / (n + 1) as f64)
}

/// Points of the Gauss–Legendre rule on each panel.
const POINTS: usize = 16;

/// Points and weights of the n-point Gauss–Legendre rule on (−1, 1). The points are zeros of the Legendre polynomial,
/// by Newton's method.
pub fn gauss(n: usize) -> Vec<(f64, f64)> {
    let size = n as f64;
    (0..n)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (size + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..20 {
                let (mut before, mut now) = (1.0, x);
                for k in 2..=n {
                    let k = k as f64;
                    (before, now) = (now, ((2.0 * k - 1.0) * x * now - (k - 1.0) * before) / k);
                }
                slope = size * (x * now - before) / (x * x - 1.0);
                if now == 0.0 || x - now / slope == x {
                    break;
                }
                x -= now / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

fn rule() -> &'static [(f64, f64)] {
    static RULE: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    RULE.get_or_init(|| gauss(POINTS))
}

/// ∫ f from 0 to `length`, by a Gauss–Legendre rule on each of `panels` equal panels.
pub fn integral(length: f64, panels: usize, f: impl Fn(f64) -> Complex64) -> Complex64 {
    let half = 0.5 * length / panels as f64;
    (0..panels)
        .map(|p| {
            let center = (2 * p + 1) as f64 * half;
            rule()
                .iter()
                .map(|&(x, w)| f(center + half * x) * (w * half))
                .sum::<Complex64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_branches_meet() {
        for (f, at) in [(sinc as fn(Complex64) -> Complex64, 0.1), (ball, 1.0)] {
            for angle in [0.0, 0.7, 1.5] {
                let x = |r: f64| Complex64::from_polar(r, angle);
                let (inside, outside) = (f(x(at * (1.0 - 1e-9))), f(x(at * (1.0 + 1e-9))));
                assert!((inside - outside).norm() < 1e-9, "{inside} {outside}");
            }
            assert!((f(Complex64::ZERO) - 1.0).norm() < 1e-15);
        }
        let at = |re: f64, im: f64| disc(Complex64::new(re, im));
        assert!((at(1e-4 * (1.0 + 1e-9), 0.0) - at(1e-4 * (1.0 - 1e-9), 0.0)).norm() < 1e-15);
        for x in [0.3, 7.0, 90.0] {
            assert!((at(x, 1e-300) - at(x, 0.0)).norm() < 1e-14, "{x}");
        }
        // 2 I₁(x)/x on the imaginary axis, by its power series.
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..40 {
            term *= 4.0 / f64::from(k * (k + 1));
            sum += term;
        }
        assert!((at(0.0, 4.0) - sum).norm() < 1e-13 * sum);
    }

    #[test]
    fn the_rule_integrates_waves() {
        let f = integral(3.0, 2, |z| (Complex64::I * z * 5.0).exp());
        let exact = ((Complex64::I * 15.0).exp() - 1.0) / (Complex64::I * 5.0);
        assert!((f - exact).norm() < 1e-14, "{f} {exact}");
    }
}
