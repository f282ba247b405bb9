//! Problems: initial fields, gases, walls.

pub(crate) mod consistency;
mod defaults;
mod gas;
pub mod initial_state;
pub mod memory;
pub(crate) mod origin;
mod standard;
mod user;
pub(crate) mod zone_at_start;

use crate::HydroError;
use hashbrown::HashMap;

pub use defaults::Defaults;
pub use gas::{Gas, Wall};
pub use standard::Standard;
pub use user::User;

#[derive(Clone, Debug)]
enum Source {
    Standard(Standard),
    User(Box<User>),
}

/// A problem to run.
#[derive(Clone, Debug)]
pub struct Problem(Source);

impl From<Standard> for Problem {
    fn from(s: Standard) -> Self {
        Self(Source::Standard(s))
    }
}

impl Problem {
    /// Number of standard problems that have a number; the others have only a name.
    pub const NUMBERED: usize = 8;

    /// The standard problem with a number or name, or the problem of a file *.toml.
    ///
    /// # Errors
    /// No problem has this name, or the file cannot be read or is invalid.
    pub fn of(name: &str) -> Result<Self, HydroError> {
        if name.ends_with(".toml") {
            return Ok(Self(Source::User(Box::new(User::read(name.as_ref())?))));
        }
        let by_number = name.parse::<usize>().ok().filter(|n| *n < Self::NUMBERED);
        let found = match by_number {
            Some(n) => Standard::ALL.get(n).copied(),
            None => Standard::ALL.iter().copied().find(|s| s.name() == name),
        };
        found.map(Self::from).ok_or_else(|| {
            HydroError::Problem(format!(
                "there is no problem {name}; known: {}, and files *.toml",
                Self::names()
            ))
        })
    }

    /// Names of the standard problems, with their numbers.
    pub fn names() -> String {
        let named = |(i, s): (usize, &Standard)| match i {
            0..Self::NUMBERED => format!("{i} {}", s.name()),
            _ => s.name().to_owned(),
        };
        let all: Vec<String> = Standard::ALL.iter().enumerate().map(named).collect();
        all.join(", ")
    }

    /// Default settings of the problem.
    pub fn defaults(&self) -> Defaults {
        self.standard()
            .map_or(Defaults::GENERAL, Standard::defaults)
    }

    /// The standard problem; `None` for a problem file.
    pub fn standard(&self) -> Option<Standard> {
        match &self.0 {
            Source::Standard(s) => Some(*s),
            Source::User(_) => None,
        }
    }

    /// The problem of a file; `None` for a standard problem.
    pub fn user(&self) -> Option<&User> {
        match &self.0 {
            Source::Standard(_) => None,
            Source::User(u) => Some(u),
        }
    }

    /// Whether there is artificial viscosity.
    pub fn viscous(&self) -> bool {
        match &self.0 {
            Source::Standard(s) => s.viscous(),
            Source::User(u) => u.viscosity,
        }
    }

    /// Whether the vorticity switch reduces the artificial viscosity.
    pub fn vorticity(&self) -> bool {
        self.standard() == Some(Standard::RayleighTaylor)
    }

    /// Whether the energy equation has the source of the Taylor–Green vortex (2D).
    pub fn source(&self, dim: usize) -> bool {
        self.standard() == Some(Standard::TaylorGreen) && dim == 2
    }

    /// Gas of a zone of a material with centre `x`.
    pub fn gas(&self, material: u32, x: &[f64]) -> Gas {
        match &self.0 {
            Source::Standard(s) => Gas {
                gamma: s.gamma(x),
                p_inf: 0.0,
            },
            Source::User(u) => u.gas(material),
        }
    }

    /// Initial density of a material at a position.
    pub fn density(&self, material: u32, x: &[f64]) -> f64 {
        match &self.0 {
            Source::Standard(s) => s.density(x),
            Source::User(u) => u.density(material, x),
        }
    }

    /// Initial velocity of a material at a position.
    pub fn velocity(&self, material: u32, x: &[f64]) -> [f64; 3] {
        match &self.0 {
            Source::Standard(s) => s.velocity(x),
            Source::User(u) => u.velocity(material, x),
        }
    }

    /// Initial specific internal energy of a material at a position, without the point source.
    pub fn energy(&self, material: u32, x: &[f64]) -> f64 {
        match &self.0 {
            Source::Standard(s) => s.energy(x),
            Source::User(u) => u.energy(material, x),
        }
    }

    /// Energy of a point source at the origin, in the whole space; `None` without one. `e0` is that of the Sedov
    /// problem.
    pub fn point_energy(&self, e0: f64) -> Option<f64> {
        match &self.0 {
            Source::Standard(s) => (*s == Standard::Sedov).then_some(e0),
            Source::User(u) => u.point_energy,
        }
    }

    /// Gravitational acceleration, uniform; `None` without gravity.
    pub fn gravity(&self) -> Option<[f64; 3]> {
        match &self.0 {
            Source::Standard(s) => s.gravity(),
            Source::User(u) => u.gravity,
        }
    }

    /// Boundary conditions by attribute, in addition to the straight walls 1, 2 and 3.
    pub fn walls(&self) -> HashMap<u32, Wall> {
        match &self.0 {
            Source::Standard(_) => HashMap::new(),
            Source::User(u) => u.walls.clone(),
        }
    }
}
