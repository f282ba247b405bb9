//! Paracrystals (Hosemann): the distance to the next neighbour varies, and the variances add up with the distance, so
//! that peaks broaden with q.

/// A two-dimensional paracrystal: the product of two one-dimensional ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Paracrystal {
    /// Mean lattice vectors (x, y), nm.
    pub sides: [[f64; 2]; 2],
    /// Standard deviation of the distance to the next neighbour along each lattice vector, nm.
    pub spread: [f64; 2],
    /// Size of coherent domains, nm; may be infinite.
    pub domain: f64,
}

impl Paracrystal {
    /// Area of a cell, nm².
    pub fn cell(&self) -> f64 {
        let [a, b] = self.sides;
        (a[0] * b[1] - a[1] * b[0]).abs()
    }

    /// Structure factor S(q). q in 1/nm.
    pub fn interference(&self, qx: f64, qy: f64) -> f64 {
        let q = qx.hypot(qy);
        self.sides
            .iter()
            .zip(self.spread)
            .map(|(s, spread)| {
                let length = s[0].hypot(s[1]);
                row(qx * s[0] + qy * s[1], q * spread, length / self.domain)
            })
            .product()
    }
}

/// A radial paracrystal: neighbours at a mean distance, in any direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Radial {
    /// Mean distance to the next neighbour, nm.
    pub distance: f64,
    /// Standard deviation of that distance, nm.
    pub spread: f64,
    /// Size of coherent domains, nm; may be infinite.
    pub domain: f64,
}

impl Radial {
    /// Structure factor S(q) for q along the surface, 1/nm.
    pub fn interference(&self, q: f64) -> f64 {
        row(
            q * self.distance,
            q * self.spread,
            self.distance / self.domain,
        )
    }
}

/// Structure factor of a one-dimensional paracrystal: Re (1 + P)/(1 − P) with P = e^{i phase − spread²/2 − loss} of one
/// neighbour.
fn row(phase: f64, spread: f64, loss: f64) -> f64 {
    let exponent = 0.5 * spread * spread + loss;
    let p = (-exponent).exp();
    // 1 − p² and 1 − 2p cos + p² without cancellation for p close to one.
    let over = -(-2.0 * exponent).exp_m1();
    let less = -(-exponent).exp_m1();
    let half = (0.5 * phase).sin();
    let under = less * less + 4.0 * p * half * half;
    if under == 0.0 {
        // A peak of zero width: the forward beam itself, which is not scattering.
        return 1.0;
    }
    over / under
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_the_sum_over_its_neighbours() {
        // 1 + 2 Re Σ P^n
        for (phase, spread, loss) in [
            (0.7_f64, 0.4_f64, 0.05_f64),
            (6.2, 0.9, 0.0),
            (3.0, 0.1, 0.3),
        ] {
            let size = (-0.5 * spread * spread - loss).exp();
            let sum: f64 = 1.0
                + 2.0
                    * (1..4000)
                        .map(|n| size.powi(n) * (phase * f64::from(n)).cos())
                        .sum::<f64>();
            assert!((row(phase, spread, loss) - sum).abs() < 1e-9, "{phase}");
        }
    }

    #[test]
    fn peaks_stand_at_multiples_and_fall() {
        let r = Radial {
            distance: 20.0,
            spread: 2.0,
            domain: 1000.0,
        };
        let at = |n: f64| r.interference(std::f64::consts::TAU / 20.0 * n);
        assert!(at(1.0) > at(2.0) && at(2.0) > at(1.5) && at(0.5) < 0.2);
        assert!((r.interference(100.0) - 1.0).abs() < 1e-12);
    }
}
