//! Initial data of the standard problems.

use super::Defaults;
use std::f64::consts::PI;

/// A standard problem; the first eight in the order of Laghos's problem numbers 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// Taylor–Green vortex, smooth.
    TaylorGreen,
    /// Sedov blast wave.
    Sedov,
    /// Sod shock tube.
    Sod,
    /// Triple-point shock interaction of two gases.
    TriplePoint,
    /// Gresho vortex, smooth.
    Gresho,
    /// Two-dimensional Riemann problem, configuration 12.
    Riemann12,
    /// Two-dimensional Riemann problem, configuration 6.
    Riemann6,
    /// Rayleigh–Taylor instability under gravity.
    RayleighTaylor,
    /// Noh implosion.
    Noh,
    /// Saltzman piston on a skewed mesh.
    Saltzman,
}

use Standard as P;

impl Standard {
    /// All problems; the first [`Problem::NUMBERED`](super::Problem::NUMBERED) in the order of their numbers.
    pub const ALL: &[Self] = &[
        P::TaylorGreen,
        P::Sedov,
        P::Sod,
        P::TriplePoint,
        P::Gresho,
        P::Riemann12,
        P::Riemann6,
        P::RayleighTaylor,
        P::Noh,
        P::Saltzman,
    ];

    /// Name of the problem on the command line.
    pub fn name(self) -> &'static str {
        self.setting().0
    }

    /// Whether there is artificial viscosity.
    pub fn viscous(self) -> bool {
        self.setting().1
    }

    /// Default settings of the problem.
    pub fn defaults(self) -> Defaults {
        let (mesh, refine, t_final, order) = self.setting().2;
        Defaults {
            mesh,
            refine,
            t_final,
            order,
        }
    }

    /// Name, viscosity, and default mesh, refinements, final time and order.
    fn setting(self) -> (&'static str, bool, (&'static str, usize, f64, usize)) {
        match self {
            P::TaylorGreen => ("taylor-green", false, ("square01_quad", 3, 0.75, 2)),
            P::Sedov => ("sedov", true, ("square01_quad", 2, 0.6, 2)),
            P::Sod => ("sod", true, ("segment01", 5, 0.2, 2)),
            P::TriplePoint => ("triple-point", true, ("rectangle01_quad", 2, 3.0, 2)),
            // A full turn of the inner vortex takes 0.4 π.
            P::Gresho => ("gresho", false, ("square_gresho", 3, 0.628_318_53, 3)),
            // The times at which these configurations are published (Kurganov and Tadmor 2002).
            P::Riemann12 => ("riemann12", true, ("square01_quad", 3, 0.25, 2)),
            P::Riemann6 => ("riemann6", true, ("square01_quad", 3, 0.3, 2)),
            P::RayleighTaylor => ("rayleigh-taylor", true, ("rt2D", 1, 4.0, 4)),
            P::Noh => ("noh", true, ("square01_quad", 3, 0.6, 2)),
            P::Saltzman => ("saltzman", true, ("saltzman01_quad", 2, 0.6, 2)),
        }
    }

    /// Initial density at a position.
    pub fn density(self, x: &[f64]) -> f64 {
        let (right, upper) = (x[0] >= 0.5, x.get(1).is_some_and(|y| *y >= 0.5));
        match self {
            P::TaylorGreen | P::Sedov | P::Gresho | P::Noh | P::Saltzman => 1.0,
            P::Sod if x[0] < 0.5 => 1.0,
            P::Sod => 0.1,
            P::TriplePoint => {
                let light = match x {
                    [x, y] => *x > 1.0 && *y > 1.5,
                    [x, y, z] => *x > 1.0 && ((*y < 1.5 && *z < 1.5) || (*y > 1.5 && *z > 1.5)),
                    _ => false,
                };
                if light { 0.125 } else { 1.0 }
            }
            P::Riemann12 => match (right, upper) {
                (true, true) => 0.5313,
                (false, false) => 0.8,
                _ => 1.0,
            },
            P::Riemann6 => match (right, upper) {
                (false, true) => 2.0,
                (true, false) => 3.0,
                _ => 1.0,
            },
            P::RayleighTaylor if x[1] >= 0.0 => 2.0,
            P::RayleighTaylor => 1.0,
        }
    }

    /// Ratio of specific heats at a position.
    pub fn gamma(self, x: &[f64]) -> f64 {
        match self {
            P::TaylorGreen | P::Gresho | P::RayleighTaylor | P::Noh | P::Saltzman => 5.0 / 3.0,
            P::Sedov | P::Sod | P::Riemann12 | P::Riemann6 => 1.4,
            P::TriplePoint => {
                let heavy = match x {
                    [x] => *x > 0.5,
                    _ => x[0] > 1.0 && x[1] <= 1.5,
                };
                if heavy { 1.4 } else { 1.5 }
            }
        }
    }

    /// Initial velocity at a position.
    pub fn velocity(self, x: &[f64]) -> [f64; 3] {
        let d = x.len();
        let (right, upper) = (x[0] >= 0.5, x.get(1).is_some_and(|y| *y >= 0.5));
        let inside = || {
            let y = x.get(1).copied().unwrap_or(0.5);
            (16.0 * x[0] * (1.0 - x[0]) * y * (1.0 - y))
                .max(0.0)
                .powf(0.4)
        };
        match self {
            P::TaylorGreen => {
                let z = if d == 3 { (PI * x[2]).cos() } else { 1.0 };
                let y = x.get(1).copied().unwrap_or(0.0);
                let v = [
                    (PI * x[0]).sin() * (PI * y).cos() * z,
                    -(PI * x[0]).cos() * (PI * y).sin() * z,
                    0.0,
                ];
                if d > 1 { v } else { [v[0], 0.0, 0.0] }
            }
            P::Sedov | P::Sod | P::TriplePoint | P::Saltzman => [0.0; 3],
            // Towards the origin at speed 1.
            P::Noh => {
                let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let mut v = [0.0; 3];
                for (v, x) in v.iter_mut().zip(x) {
                    *v = if r > 0.0 { -x / r } else { 0.0 };
                }
                v
            }
            P::Gresho if d > 1 => {
                let r = x[0].hypot(x[1]);
                let turn = if r < 0.2 {
                    5.0
                } else if r < 0.4 {
                    2.0 / r - 5.0
                } else {
                    0.0
                };
                [turn * x[1], -turn * x[0], 0.0]
            }
            P::Gresho => [0.0; 3],
            P::Riemann12 => {
                let a = inside();
                match (right, upper) {
                    (false, true) => [0.7276 * a, 0.0, 0.0],
                    (true, false) => [0.0, 0.7276 * a, 0.0],
                    _ => [0.0; 3],
                }
            }
            P::Riemann6 => {
                let a = inside();
                let (u, v) = match (right, upper) {
                    (true, true) => (0.75, -0.5),
                    (false, true) => (0.75, 0.5),
                    (false, false) => (-0.75, 0.5),
                    (true, false) => (-0.75, -0.5),
                };
                [a * u, a * v, 0.0]
            }
            P::RayleighTaylor => [
                0.0,
                0.02 * (-2.0 * PI * x[1] * x[1]).exp() * (2.0 * PI * x[0]).cos(),
                0.0,
            ],
        }
    }

    /// Initial specific internal energy at a position, without Sedov's point source.
    pub fn energy(self, x: &[f64]) -> f64 {
        let by_pressure = |p: f64| p / (self.density(x) * (self.gamma(x) - 1.0));
        match self {
            P::TaylorGreen => {
                let c = |i: usize| (2.0 * PI * x.get(i).copied().unwrap_or(0.0)).cos();
                let p = if x.len() == 3 {
                    100.0 + ((c(2) + 2.0) * (c(0) + c(1)) - 2.0) / 16.0
                } else {
                    1.0 + 0.25 * (c(0) + c(1))
                };
                1.5 * p
            }
            P::Sedov => 0.0,
            P::Noh => 1e-8,
            P::Saltzman => 1e-4,
            P::Sod => by_pressure(if x[0] < 0.5 { 1.0 } else { 0.1 }),
            P::TriplePoint => by_pressure(if x[0] > 1.0 { 0.1 } else { 1.0 }),
            P::Gresho => {
                let r = x[0].hypot(x.get(1).copied().unwrap_or(0.0));
                let p = if r < 0.2 {
                    5.0 + 12.5 * r * r
                } else if r < 0.4 {
                    9.0 - 4.0 * 0.2_f64.ln() + 12.5 * r * r - 20.0 * r + 4.0 * r.ln()
                } else {
                    3.0 + 4.0 * 2.0_f64.ln()
                };
                1.5 * p
            }
            P::Riemann12 => {
                let corner = x[0] >= 0.5 && x.get(1).is_some_and(|y| *y >= 0.5);
                by_pressure(if corner { 0.4 } else { 1.0 })
            }
            P::Riemann6 => by_pressure(1.0),
            P::RayleighTaylor => by_pressure(6.0 - self.density(x) * x[1]),
        }
    }

    /// Gravitational acceleration, uniform; `None` without gravity.
    pub fn gravity(self) -> Option<[f64; 3]> {
        (self == P::RayleighTaylor).then_some([0.0, -1.0, 0.0])
    }
}
