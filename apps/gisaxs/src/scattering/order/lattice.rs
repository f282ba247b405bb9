//! Particles on a finite lattice along the surface.

/// A finite lattice along the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Lattice vectors (x, y), nm.
    pub sides: [[f64; 2]; 2],
    /// Number of cells along both lattice vectors.
    pub cells: [u32; 2],
}

impl Lattice {
    /// Area of a cell, nm².
    pub fn cell(&self) -> f64 {
        let [a, b] = self.sides;
        (a[0] * b[1] - a[1] * b[0]).abs()
    }

    /// Structure factor S(q) = |Σ e^{iq·R}|² / number of cells: the product of the Laue functions of both lattice
    /// vectors. q in 1/nm.
    pub fn interference(&self, qx: f64, qy: f64) -> f64 {
        self.sides
            .iter()
            .zip(self.cells)
            .map(|(s, n)| laue(qx * s[0] + qy * s[1], n).powi(2) / f64::from(n))
            .product()
    }
}

/// sin(N x / 2) / sin(x / 2).
fn laue(x: f64, n: u32) -> f64 {
    // Distance to the nearest peak, where the quotient is a power series.
    let turns = (x / std::f64::consts::TAU).round();
    let half = 0.5 * (x - turns * std::f64::consts::TAU);
    let n = f64::from(n);
    // At odd multiples of 2π, an even number of cells changes the sign; only the square is used.
    if half.abs() < 1e-5 / n {
        return n * (1.0 - (n * n - 1.0) * half * half / 6.0);
    }
    (n * half).sin() / half.sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_over_cells_is_the_product() {
        let l = Lattice {
            sides: [[20.0, 3.0], [-2.0, 25.0]],
            cells: [6, 9],
        };
        assert!((l.cell() - 506.0).abs() < 1e-12);
        for (qx, qy) in [
            (0.0, 0.0),
            (1e-9, 0.0),
            (0.013, -0.21),
            (0.3, 0.2),
            (0.307, 1.1),
        ] {
            let (mut re, mut im) = (0.0, 0.0);
            for i in 0..6 {
                for j in 0..9 {
                    let (i, j) = (f64::from(i), f64::from(j));
                    let phase = qx * (20.0 * i - 2.0 * j) + qy * (3.0 * i + 25.0 * j);
                    re += phase.cos();
                    im += phase.sin();
                }
            }
            let want = (re * re + im * im) / 54.0;
            let got = l.interference(qx, qy);
            assert!((got - want).abs() < 1e-10 * 54.0, "{qx} {qy}: {got} {want}");
        }
    }
}
