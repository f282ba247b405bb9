//! Populations of particles, each of parts that scatter coherently.

use crate::detector::Detector;
use crate::form::FormFactor;
use crate::scattering::order::Order;

/// A solid of one material.
pub struct Part {
    /// Form factor of its shape.
    pub form: Box<dyn FormFactor>,
    /// δ and β of its refractive index n = 1 − δ + iβ.
    pub index: (f64, f64),
    /// δ and β of the part around it; `None`: it is in the layer.
    pub around: Option<(f64, f64)>,
    /// Position of the origin of its shape in the particle, nm.
    pub at: [f64; 3],
    /// Index of the layer in which it lies, from 0.
    pub layer: usize,
}

/// A particle: parts that scatter coherently.
pub struct Particle {
    /// The parts.
    pub parts: Vec<Part>,
    /// Height of its origin, nm; the surface is at 0.
    pub height: f64,
}

/// How the waves of different particles of one population add; S is the structure factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Sizes are independent of positions (the decoupling approximation): ⟨|F|²⟩ − |⟨F⟩|² + |⟨F⟩|² S.
    #[default]
    Decoupled,
    /// All waves add coherently: |⟨F⟩|² S.
    Coherent,
    /// Each size forms its own domains (the local monodisperse approximation): ⟨|F|²⟩ S.
    Local,
}

/// Particles of one type, in all sizes and orientations.
pub struct Population {
    /// Arrangements along the surface, each with its particles per nm². Arrangements add incoherently.
    pub orders: Vec<(f64, Order)>,
    /// Particles of each size and orientation, with weights that sum to one.
    pub members: Vec<(f64, Particle)>,
    /// How their waves add.
    pub average: Average,
}

/// A note on Bragg peaks so narrow that pixels, which are computed at their centres, miss them; k in 1/nm.
pub(crate) fn missed(populations: &[Population], detector: &Detector, k: f64) -> Option<String> {
    let at = |column: usize| detector.angles(detector.rows() / 2, column).0;
    let columns = detector.columns();
    let step = k * (at(columns - 1) - at(0)).abs() / (columns.max(2) - 1) as f64;
    // The mean of several arrangements is smooth.
    let peaks = populations.iter().filter(|p| p.orders.len() == 1);
    let narrowest = (peaks.flat_map(|p| &p.orders))
        .map(|(_, o)| o.narrowest())
        .fold(f64::INFINITY, f64::min);
    (4.0 * narrowest < step).then(|| {
        format!(
            "the narrowest Bragg peak is {narrowest:.2e} nm⁻¹ wide, the pixels {step:.2e} nm⁻¹: pixels are computed at their centres and \
             miss its intensity; use smaller pixels, or a smaller domain"
        )
    })
}
