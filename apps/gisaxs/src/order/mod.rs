//! How particles stand, and how their waves add.

mod lattice;
mod paracrystal;

pub use lattice::Lattice;
pub use paracrystal::{Paracrystal, Radial};

/// Where the particles of a population are, relative to each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Far from each other and at random.
    Dilute,
    Lattice(Lattice),
    Paracrystal(Paracrystal),
    Radial(Radial),
}

impl Order {
    /// S(q) along the surface: intensity over that of as many particles without order.
    pub fn interference(&self, qx: f64, qy: f64) -> f64 {
        match self {
            Self::Dilute => 1.0,
            Self::Lattice(l) => l.interference(qx, qy),
            Self::Paracrystal(p) => p.interference(qx, qy),
            Self::Radial(r) => r.interference(qx.hypot(qy)),
        }
    }

    /// Particles on a nm², of an order that says it.
    pub fn density(&self) -> Option<f64> {
        match self {
            Self::Lattice(l) => Some(1.0 / l.cell()),
            Self::Paracrystal(p) => Some(1.0 / p.cell()),
            Self::Dilute | Self::Radial(_) => None,
        }
    }
}
