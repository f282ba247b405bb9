//! What scatters: populations of particles, each of parts that scatter coherently.

use crate::form::FormFactor;
use crate::order::Order;

/// A solid of one material.
pub struct Part {
    pub form: Box<dyn FormFactor>,
    /// n = 1 − δ + iβ of what it is made of.
    pub index: (f64, f64),
    /// Of what it replaces: the layer, or the part around it.
    pub around: Option<(f64, f64)>,
    /// Where its base's middle is, from the particle's, nm.
    pub at: [f64; 3],
}

/// Parts whose waves add.
pub struct Particle {
    pub parts: Vec<Part>,
    /// Height of its origin, nm; the surface is at 0.
    pub height: f64,
}

/// How the waves of unequal particles of one population add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Sizes are independent of places (the decoupling approximation): ⟨|F|²⟩ − |⟨F⟩|² + |⟨F⟩|² S.
    #[default]
    Decoupled,
    /// All waves interfere: |⟨F⟩|² S.
    Coherent,
    /// Each size has domains of its own (the local monodisperse approximation): ⟨|F|²⟩ S.
    Local,
}

/// Particles of one kind, in all its sizes and orientations.
pub struct Population {
    /// Number on a nm² of surface.
    pub density: f64,
    /// The layer they are in.
    pub layer: usize,
    pub order: Order,
    /// With weights that sum to one.
    pub members: Vec<(f64, Particle)>,
    pub average: Average,
}
