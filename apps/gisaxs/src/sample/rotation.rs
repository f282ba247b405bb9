//! Rotations of a particle.

use num_complex::Complex64;

/// A rotation about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation([[f64; 3]; 3]);

impl Rotation {
    /// First about z by `turn`, then about y by `tilt`, last about z by `rotation`, rad.
    pub fn new(turn: f64, tilt: f64, rotation: f64) -> Self {
        let z = |a: f64| {
            let (s, c) = a.sin_cos();
            [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        };
        let (s, c) = tilt.sin_cos();
        let y = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]];
        Self(times(&z(rotation), &times(&y, &z(turn))))
    }

    /// Whether it is the identity.
    pub fn is_none(&self) -> bool {
        *self == Self::new(0.0, 0.0, 0.0)
    }

    /// R r: a position, rotated.
    pub fn forward(&self, r: [f64; 3]) -> [f64; 3] {
        self.0
            .map(|row| row[0] * r[0] + row[1] * r[1] + row[2] * r[2])
    }

    /// Rᵀ r: a direction in the frame of what is rotated.
    pub fn inverse(&self, r: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|k| (0..3).map(|i| self.0[i][k] * r[i]).sum())
    }

    /// This rotation, and then another.
    pub fn then(&self, next: &Self) -> Self {
        Self(times(&next.0, &self.0))
    }

    /// Whether z stays up (`true`) or turns down (`false`); `None` if it tilts.
    pub fn up(&self) -> Option<bool> {
        let across = self.0[0][2].hypot(self.0[1][2]);
        (across < 1e-12).then_some(self.0[2][2] > 0.0)
    }

    /// Rᵀ q: a momentum transfer in the frame of the rotated particle.
    pub fn back(&self, q: &[Complex64; 3]) -> [Complex64; 3] {
        std::array::from_fn(|k| q[0] * self.0[0][k] + q[1] * self.0[1][k] + q[2] * self.0[2][k])
    }
}

fn times(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_tilts_and_rotates_in_that_order() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let close = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-15);
        // x → y by the turn; the tilt about y leaves it; the rotation takes it to −x.
        let r = Rotation::new(quarter, quarter, quarter);
        assert!(close(r.forward([1.0, 0.0, 0.0]), [-1.0, 0.0, 0.0]));
        // z → x by the tilt → y by the rotation.
        assert!(close(r.forward([0.0, 0.0, 1.0]), [0.0, 1.0, 0.0]));
        let q = [0.3, -0.2, 0.9].map(|x| Complex64::new(x, 0.1 * x));
        let (a, b) = (r.forward([0.1, 0.5, -0.4]), r.back(&q));
        let dot = |q: &[Complex64; 3], r: [f64; 3]| q[0] * r[0] + q[1] * r[1] + q[2] * r[2];
        assert!((dot(&q, a) - dot(&b, [0.1, 0.5, -0.4])).norm() < 1e-15);
        assert!(Rotation::new(0.0, 0.0, 0.0).is_none() && !r.is_none());
    }
}
