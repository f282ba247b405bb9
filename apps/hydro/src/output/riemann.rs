//! Exact solution of the Riemann problem of ideal gases (Toro, Riemann Solvers and Numerical Methods for Fluid
//! Dynamics, chapter 4).

/// A constant state on one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Density.
    pub density: f64,
    /// Velocity along x.
    pub velocity: f64,
    /// Pressure.
    pub pressure: f64,
    /// Ratio of specific heats.
    pub gamma: f64,
}

/// Two constant states at a jump, and the state between their waves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Riemann {
    /// State at the left.
    pub left: Side,
    /// State at the right.
    pub right: Side,
    /// Pressure between the outer waves.
    pub pressure: f64,
    /// Velocity between the outer waves.
    pub velocity: f64,
}

/// Most iterations for the pressure.
const ITERATIONS: usize = 200;

impl Side {
    fn sound(&self) -> f64 {
        (self.gamma * self.pressure / self.density).sqrt()
    }

    /// Change of the velocity over the wave to pressure `p`, and its derivative (equations 4.6, 4.7 and 4.37).
    fn change(&self, p: f64) -> (f64, f64) {
        let g = self.gamma;
        if p > self.pressure {
            let a = 2.0 / ((g + 1.0) * self.density);
            let b = (g - 1.0) / (g + 1.0) * self.pressure;
            let root = (a / (p + b)).sqrt();
            let over = p - self.pressure;
            (over * root, root * (1.0 - 0.5 * over / (p + b)))
        } else {
            let ratio = p / self.pressure;
            let power = ratio.powf((g - 1.0) / (2.0 * g));
            (
                2.0 * self.sound() / (g - 1.0) * (power - 1.0),
                power / (ratio * self.density * self.sound()),
            )
        }
    }

    /// Density behind its wave, at pressure `p`.
    fn behind(&self, p: f64) -> f64 {
        let (g, ratio) = (self.gamma, p / self.pressure);
        if ratio > 1.0 {
            let k = (g - 1.0) / (g + 1.0);
            self.density * (ratio + k) / (k * ratio + 1.0)
        } else {
            self.density * ratio.powf(1.0 / g)
        }
    }

    /// Speeds of head and tail of its wave away from the jump, relative to x, for the left side; the right side is
    /// mirrored.
    fn wave(&self, p: f64, u: f64) -> (f64, f64) {
        let (g, c) = (self.gamma, self.sound());
        if p > self.pressure {
            let ratio = (g + 1.0) / (2.0 * g) * p / self.pressure + (g - 1.0) / (2.0 * g);
            let shock = self.velocity - c * ratio.sqrt();
            (shock, shock)
        } else {
            let tail = c * (p / self.pressure).powf((g - 1.0) / (2.0 * g));
            (self.velocity - c, u - tail)
        }
    }

    fn mirrored(self) -> Self {
        Self {
            velocity: -self.velocity,
            ..self
        }
    }

    /// State of the left half of the solution at speed `s` = x/t.
    fn at(&self, (p, u): (f64, f64), s: f64) -> Self {
        let (head, tail) = self.wave(p, u);
        if s <= head {
            return *self;
        }
        if s >= tail {
            return Self {
                density: self.behind(p),
                velocity: u,
                pressure: p,
                ..*self
            };
        }
        // Inside of the rarefaction (equation 4.56).
        let (g, c) = (self.gamma, self.sound());
        let part = 2.0 / (g + 1.0) + (g - 1.0) / ((g + 1.0) * c) * (self.velocity - s);
        Self {
            density: self.density * part.powf(2.0 / (g - 1.0)),
            velocity: 2.0 / (g + 1.0) * (c + 0.5 * (g - 1.0) * self.velocity + s),
            pressure: self.pressure * part.powf(2.0 * g / (g - 1.0)),
            ..*self
        }
    }
}

impl Riemann {
    /// Solves for the state between the waves; `None` for densities or pressures that are not positive, and where a
    /// vacuum opens.
    pub fn new(left: Side, right: Side) -> Option<Self> {
        let sound = |s: &Side| {
            let good = s.density > 0.0 && s.pressure > 0.0 && s.gamma > 1.0;
            good.then(|| s.sound()).filter(|c| c.is_finite())
        };
        let (cl, cr) = (sound(&left)?, sound(&right)?);
        let apart = right.velocity - left.velocity;
        let vacuum = 2.0 * cl / (left.gamma - 1.0) + 2.0 * cr / (right.gamma - 1.0) <= apart;
        if vacuum || !apart.is_finite() {
            return None;
        }
        // The function is concave and rises: from below its root Newton's method approaches it from there.
        let mut p = 1e-3 * left.pressure.min(right.pressure);
        for _ in 0..ITERATIONS {
            let ((fl, dl), (fr, dr)) = (left.change(p), right.change(p));
            let next = p - (fl + fr + apart) / (dl + dr);
            let next = if next > 0.0 { next } else { 1e-3 * p };
            let moved = (next - p).abs() / (0.5 * (next + p));
            p = next;
            if moved < 1e-14 {
                break;
            }
        }
        let velocity =
            0.5 * (left.velocity + right.velocity) + 0.5 * (right.change(p).0 - left.change(p).0);
        (p.is_finite() && velocity.is_finite()).then_some(Self {
            left,
            right,
            pressure: p,
            velocity,
        })
    }

    /// State at speed `s`: position from the jump over time.
    pub fn at(&self, s: f64) -> Side {
        if s <= self.velocity {
            self.left.at((self.pressure, self.velocity), s)
        } else {
            let middle = (self.pressure, -self.velocity);
            self.right.mirrored().at(middle, -s).mirrored()
        }
    }

    /// Least and greatest speed of the waves.
    pub fn outer_speeds(&self) -> (f64, f64) {
        let (p, u) = (self.pressure, self.velocity);
        (self.left.wave(p, u).0, -self.right.mirrored().wave(p, -u).0)
    }

    /// Speeds at which the state jumps or its gradient does.
    pub fn kinks(&self) -> [f64; 5] {
        let (p, u) = (self.pressure, self.velocity);
        let (a, b) = self.left.wave(p, u);
        let (c, d) = self.right.mirrored().wave(p, -u);
        [a, b, u, -d, -c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(density: f64, velocity: f64, pressure: f64) -> Side {
        Side {
            density,
            velocity,
            pressure,
            gamma: 1.4,
        }
    }

    /// Table 4.3 of the book; p* and u* to its digits, densities beside the contact likewise.
    #[test]
    fn published_tests_are_met() {
        for (l, r, p, u, dl, dr) in [
            (
                (1.0, 0.0, 1.0),
                (0.125, 0.0, 0.1),
                0.30313,
                0.92745,
                0.42632,
                0.26557,
            ),
            (
                (1.0, -2.0, 0.4),
                (1.0, 2.0, 0.4),
                0.00189,
                0.0,
                0.02185,
                0.02185,
            ),
            (
                (1.0, 0.0, 1000.0),
                (1.0, 0.0, 0.01),
                460.894,
                19.5975,
                0.57506,
                5.99924,
            ),
            (
                (1.0, 0.0, 0.01),
                (1.0, 0.0, 100.0),
                46.0950,
                -6.19633,
                5.99242,
                0.57511,
            ),
            (
                (5.99924, 19.5975, 460.894),
                (5.99242, -6.19633, 46.0950),
                1691.64,
                8.68975,
                14.2823,
                31.0426,
            ),
        ] {
            let r = Riemann::new(side(l.0, l.1, l.2), side(r.0, r.1, r.2)).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 5.1e-6 * (1.0 + b.abs());
            assert!(near(r.pressure, p), "{} {p}", r.pressure);
            assert!(near(r.velocity, u), "{} {u}", r.velocity);
            let (a, b) = (r.at(u - 1e-4).density, r.at(u + 1e-4).density);
            assert!(near(a, dl) && near(b, dr), "{a} {dl} {b} {dr}");
        }
    }

    /// Shocks meet the jump conditions, rarefactions keep entropy and the other characteristic; both sides agree.
    #[test]
    fn waves_meet_their_conditions() {
        let r = Riemann::new(
            side(1.0, 0.3, 1.0),
            Side {
                gamma: 5.0 / 3.0,
                ..side(0.125, -0.1, 0.1)
            },
        )
        .unwrap();
        let (lo, hi) = r.outer_speeds();
        assert_eq!((r.at(lo - 1e-9), r.at(hi + 1e-9)), (r.left, r.right));
        // Mass and momentum through the shock at the right.
        let behind = r.at(hi - 1e-9);
        let flux = |s: &Side| s.density * (s.velocity - hi);
        assert!((flux(&behind) - flux(&r.right)).abs() < 1e-6);
        let push = |s: &Side| s.pressure + flux(s) * s.velocity;
        assert!((push(&behind) - push(&r.right)).abs() < 1e-6);
        // The rarefaction at the left.
        let inside = r.at(lo + 0.2);
        assert!(inside.density < 1.0 && inside.density > r.at(r.velocity - 1e-9).density);
        let entropy = |s: &Side| s.pressure / s.density.powf(1.4);
        assert!((entropy(&inside) - entropy(&r.left)).abs() < 1e-12);
        let invariant = |s: &Side| s.velocity + 5.0 * s.sound();
        assert!((invariant(&inside) - invariant(&r.left)).abs() < 1e-12);
        assert!((inside.velocity - inside.sound() - (lo + 0.2)).abs() < 1e-12);
    }

    #[test]
    fn vacuum_and_wrong_states_have_no_solution() {
        let a = side(1.0, -10.0, 0.4);
        assert_eq!(Riemann::new(a, a.mirrored()), None);
        for bad in [0.0, -1.0, f64::NAN] {
            assert_eq!(Riemann::new(side(bad, 0.0, 1.0), a), None);
            assert_eq!(Riemann::new(a, side(1.0, 0.0, bad)), None);
        }
        let same = Riemann::new(side(1.0, 2.0, 3.0), side(1.0, 2.0, 3.0)).unwrap();
        assert!((same.pressure - 3.0).abs() < 1e-12 && (same.velocity - 2.0).abs() < 1e-12);
    }
}
