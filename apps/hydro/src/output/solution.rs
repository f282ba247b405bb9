//! An exact solution as a function of position.

use super::fields::Field;

/// Exact fields at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Density.
    pub density: f64,
    /// Pressure.
    pub pressure: f64,
    /// Magnitude of the velocity.
    pub speed: f64,
    /// Specific internal energy.
    pub energy: f64,
}

impl Exact {
    /// Value of a field; none for material numbers.
    pub fn of(&self, field: Field) -> Option<f64> {
        match field {
            Field::Density => Some(self.density),
            Field::Pressure => Some(self.pressure),
            Field::Energy => Some(self.energy),
            Field::Speed => Some(self.speed),
            Field::Material => None,
        }
    }
}

/// An exact solution at one time.
pub struct Solution {
    /// Radius of the shock; `None` for shock tubes.
    pub shock: Option<f64>,
    /// Whether it depends on x alone instead of the distance from the origin.
    pub planar: bool,
    /// Coordinates at which it jumps or has a kink.
    pub kinks: Vec<f64>,
    /// A field that has no bound at the origin.
    pub unbounded: Option<Field>,
    /// The fields over x or the distance.
    pub fields: Fields,
}

/// A value of a field without bound as it is drawn beside computed values of up to `most`: they would not be seen beside more
/// than twice as much.
pub fn beside(value: f64, most: f64) -> f64 {
    if value <= 2.0 * most { value } else { f64::NAN }
}

impl Solution {
    /// The coordinate on which it depends.
    pub fn coordinate(&self, x: &[f64]) -> f64 {
        if self.planar {
            x[0]
        } else {
            x.iter().map(|x| x * x).sum::<f64>().sqrt()
        }
    }

    /// Fields at a position.
    pub fn at(&self, x: &[f64]) -> Exact {
        (self.fields)(self.coordinate(x))
    }

    /// Fields along a line over the share of its length, 0 to 1: even steps, and both sides of every jump.
    pub fn line(&self, from: &[f64; 3], to: &[f64; 3]) -> Vec<(f64, Exact)> {
        const STEPS: u32 = 600;
        let at = |s: f64| -> [f64; 3] { std::array::from_fn(|c| from[c] + s * (to[c] - from[c])) };
        let mut shares: Vec<f64> = (0..=STEPS)
            .map(|i| f64::from(i) / f64::from(STEPS))
            .collect();
        for k in &self.kinks {
            let near = self.shares_of(from, to, *k);
            shares.extend(near.iter().flat_map(|s| [s - 1e-7, s + 1e-7]));
        }
        shares.retain(|s| (0.0..=1.0).contains(s));
        shares.sort_by(f64::total_cmp);
        shares.into_iter().map(|s| (s, self.at(&at(s)))).collect()
    }

    /// Shares of a line at which its coordinate has a value.
    fn shares_of(&self, from: &[f64; 3], to: &[f64; 3], value: f64) -> Vec<f64> {
        let step: [f64; 3] = std::array::from_fn(|c| to[c] - from[c]);
        if self.planar {
            return vec![(value - from[0]) / step[0]];
        }
        let dot = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|c| a[c] * b[c]).sum::<f64>();
        let (a, b) = (dot(&step, &step), dot(from, &step));
        let root = (b * b - a * (dot(from, from) - value * value)).sqrt();
        vec![(-b - root) / a, (-b + root) / a]
    }
}

/// Fields over a coordinate.
pub type Fields = Box<dyn Fn(f64) -> Exact + Send + Sync>;
