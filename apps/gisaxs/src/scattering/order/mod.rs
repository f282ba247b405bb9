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

    /// Full width at half maximum of the narrowest Bragg peak of first order, 1/nm; infinite without order.
    pub fn narrowest(&self) -> f64 {
        // Neighbours at this distance: the half width of a peak of the phase is the loss of a neighbour.
        let peak = |length: f64, spread: f64, domain: f64| {
            let order = std::f64::consts::TAU / length;
            2.0 * (0.5 * (order * spread).powi(2) + length / domain) / length
        };
        match self {
            Self::Dilute => f64::INFINITY,
            Self::Lattice(l) => (l.sides.iter().zip(l.cells))
                // Of (sin Nx / N sin x)².
                .map(|(s, n)| 0.886 * std::f64::consts::TAU / (f64::from(n) * s[0].hypot(s[1])))
                .fold(f64::INFINITY, f64::min),
            Self::Paracrystal(p) => (p.sides.iter().zip(p.spread))
                .map(|(s, spread)| peak(s[0].hypot(s[1]), spread, p.domain))
                .fold(f64::INFINITY, f64::min),
            Self::Radial(r) => peak(r.distance, r.spread, r.domain),
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
