//! Arrangements of particles along the surface, and their structure factors.

mod lattice;
mod paracrystal;

pub use lattice::Lattice;
pub use paracrystal::{Paracrystal, Radial};

/// The arrangement of the particles of a population.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Random and dilute: S = 1.
    Dilute,
    /// A finite lattice.
    Lattice(Lattice),
    /// A two-dimensional paracrystal.
    Paracrystal(Paracrystal),
    /// A radial paracrystal.
    Radial(Radial),
}

impl Order {
    /// Structure factor S(q): intensity relative to the same number of particles without order. q in 1/nm.
    pub fn interference(&self, qx: f64, qy: f64) -> f64 {
        match self {
            Self::Dilute => 1.0,
            Self::Lattice(l) => l.interference(qx, qy),
            Self::Paracrystal(p) => p.interference(qx, qy),
            Self::Radial(r) => r.interference(qx.hypot(qy)),
        }
    }

    /// Particles per nm², one per cell; `None` if the arrangement has no cells.
    pub fn density(&self) -> Option<f64> {
        match self {
            Self::Lattice(l) => Some(1.0 / l.cell()),
            Self::Paracrystal(p) => Some(1.0 / p.cell()),
            Self::Dilute | Self::Radial(_) => None,
        }
    }
}
