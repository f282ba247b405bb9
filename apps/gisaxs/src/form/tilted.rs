//! What of a tilted ellipsoid lies between two horizontal planes: a ball between two planes, by a linear map.

use super::ball_slice::BallSlice;
use super::{FormFactor, Slice};
use crate::sample::rotation::Rotation;
use num_complex::Complex64;

/// A part of the unit ball between two horizontal planes, its base at z = 0, under a linear map.
pub(super) struct TiltedBall {
    ball: BallSlice,
    /// Columns of the map, nm.
    map: [[f64; 3]; 3],
    /// Its determinant, nm³.
    determinant: f64,
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl TiltedBall {
    /// The part of an ellipsoid that rests on z = 0, rotated about the origin, between two planes, nm.
    pub fn slice(semi_axes: [f64; 3], by: &Rotation, low: f64, high: f64) -> Slice {
        let center = by.forward([0.0, 0.0, semi_axes[2]]);
        // A point u of the unit ball lies at center + R D u, so at the height center + m·u with m = D Rᵀ e_z.
        let down = by.inverse([0.0, 0.0, 1.0]);
        let m: [f64; 3] = std::array::from_fn(|k| semi_axes[k] * down[k]);
        let half = dot(m, m).sqrt();
        let third = m.map(|x| x / half);
        // Two directions across it, from the axis farthest from it.
        let far = (0..3).min_by(|a, b| third[*a].abs().total_cmp(&third[*b].abs()));
        let mut first = [0.0; 3];
        first[far.unwrap_or(0)] = 1.0;
        let share = dot(first, third);
        let first: [f64; 3] = std::array::from_fn(|k| first[k] - share * third[k]);
        let first = first.map(|x| x / dot(first, first).sqrt());
        let second = crate::mesh::cross(third, first);
        let map = [first, second, third]
            .map(|q| by.forward(std::array::from_fn(|k| semi_axes[k] * q[k])));
        let at = |z: f64| ((z - center[2]) / half).clamp(-1.0, 1.0);
        let ball = BallSlice {
            radius: 1.0,
            bottom: at(low),
            top: at(high),
            stretch: 1.0,
        };
        let shift = std::array::from_fn(|k| center[k] + ball.bottom * map[2][k]);
        let determinant = semi_axes.iter().product();
        let out = Self {
            ball,
            map,
            determinant,
        };
        (Box::new(out), shift)
    }
}

impl FormFactor for TiltedBall {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let p = self.map.map(|c| q[0] * c[0] + q[1] * c[1] + q[2] * c[2]);
        self.ball.at(&p) * self.determinant
    }

    fn volume(&self) -> f64 {
        self.ball.volume() * self.determinant
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        let n = self.map.map(|c| dot(c, toward));
        let length = dot(n, n).sqrt();
        length
            * self
                .ball
                .reach(n.map(|x| x / length.max(f64::MIN_POSITIVE)))
    }

    /// Slices of slices are not needed.
    fn slice(&self, _: &Rotation, _: f64, _: f64) -> Option<Slice> {
        None
    }
}
