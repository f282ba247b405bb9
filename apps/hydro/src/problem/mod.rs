//! What is run: initial fields, gases, walls.

mod defaults;
mod standard;
mod user;

use crate::HydroError;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use defaults::Defaults;
pub use standard::Standard;
pub use user::User;

/// A gas: p = (γ − 1) ρ e − γ p∞, with p∞ = 0 the ideal one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gas {
    pub gamma: f64,
    /// p∞ of a stiffened gas.
    #[serde(default)]
    pub stiffness: f64,
}

/// What a part of the boundary does: velocities that it gives, by component; what it does not give is free.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    pub held: [Option<f64>; 3],
    /// Whether its nodes must lie in a plane.
    pub straight: bool,
}

impl Wall {
    /// A straight wall normal to x, y or z by its number 1, 2 or 3.
    pub fn normal(number: u32) -> Self {
        Self {
            held: std::array::from_fn(|c| (c as u32 + 1 == number).then_some(0.0)),
            straight: true,
        }
    }

    pub fn free() -> Self {
        Self {
            held: [None; 3],
            straight: false,
        }
    }
}

#[derive(Clone, Debug)]
enum Kind {
    Standard(Standard),
    User(Box<User>),
}

/// A problem to run.
#[derive(Clone, Debug)]
pub struct Problem(Kind);

impl From<Standard> for Problem {
    fn from(s: Standard) -> Self {
        Self(Kind::Standard(s))
    }
}

impl Problem {
    /// Standard problems that have numbers; the others have names alone.
    pub const NUMBERED: usize = 8;

    /// By its number or name, or by a file *.toml.
    ///
    /// # Errors
    /// There is none, or the file is none; the message says what is wrong with it.
    pub fn of(name: &str) -> Result<Self, HydroError> {
        if name.ends_with(".toml") {
            return Ok(Self(Kind::User(Box::new(User::read(name.as_ref())?))));
        }
        let by_number = name.parse::<usize>().ok().filter(|n| *n < Self::NUMBERED);
        let found = match by_number {
            Some(n) => Standard::ALL.get(n).copied(),
            None => Standard::ALL.into_iter().find(|s| s.name() == name),
        };
        found.map(Self::from).ok_or_else(|| {
            let names: Vec<&str> = Standard::ALL.iter().map(|s| s.name()).collect();
            HydroError(format!(
                "there is no problem {name}: there are 0 to 7 ({}), {}, and files *.toml",
                names[..Self::NUMBERED].join(", "),
                names[Self::NUMBERED..].join(", ")
            ))
        })
    }

    pub fn standard(&self) -> Option<Standard> {
        match &self.0 {
            Kind::Standard(s) => Some(*s),
            Kind::User(_) => None,
        }
    }

    pub fn user(&self) -> Option<&User> {
        match &self.0 {
            Kind::Standard(_) => None,
            Kind::User(u) => Some(u),
        }
    }

    /// Whether there is artificial viscosity.
    pub fn viscous(&self) -> bool {
        match &self.0 {
            Kind::Standard(s) => s.viscous(),
            Kind::User(u) => u.viscosity,
        }
    }

    /// Whether flow that turns lessens the viscosity.
    pub fn turning(&self) -> bool {
        self.standard() == Some(Standard::RayleighTaylor)
    }

    /// Whether Taylor and Green's vortex is given its energy.
    pub fn source(&self, dim: usize) -> bool {
        self.standard() == Some(Standard::TaylorGreen) && dim == 2
    }

    /// A zone's gas by its material and its centre.
    pub fn gas(&self, material: u32, x: &[f64]) -> Gas {
        match &self.0 {
            Kind::Standard(s) => Gas {
                gamma: s.gamma(x),
                stiffness: 0.0,
            },
            Kind::User(u) => u.gas(material),
        }
    }

    pub fn density(&self, material: u32, x: &[f64]) -> f64 {
        match &self.0 {
            Kind::Standard(s) => s.density(x),
            Kind::User(u) => u.density(material, x),
        }
    }

    pub fn velocity(&self, material: u32, x: &[f64]) -> [f64; 3] {
        match &self.0 {
            Kind::Standard(s) => s.velocity(x),
            Kind::User(u) => u.velocity(material, x),
        }
    }

    /// Specific internal energy; none for Sedov's, which is a point.
    pub fn energy(&self, material: u32, x: &[f64]) -> f64 {
        match &self.0 {
            Kind::Standard(s) => s.energy(x),
            Kind::User(u) => u.energy(material, x),
        }
    }

    /// Energy in a point at the origin, in all of space.
    pub fn point_energy(&self, e0: f64) -> Option<f64> {
        match &self.0 {
            Kind::Standard(s) => (*s == Standard::Sedov).then_some(e0),
            Kind::User(u) => u.point_energy,
        }
    }

    /// Acceleration all over.
    pub fn gravity(&self) -> Option<[f64; 3]> {
        match &self.0 {
            Kind::Standard(s) => s.gravity(),
            Kind::User(u) => u.gravity,
        }
    }

    /// What parts of the boundary do by their numbers, beside straight walls 1, 2 and 3.
    pub fn walls(&self) -> HashMap<u32, Wall> {
        match &self.0 {
            Kind::Standard(_) => HashMap::new(),
            Kind::User(u) => u.walls.clone(),
        }
    }
}
