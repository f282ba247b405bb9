//! Everything that an image depends on.

use crate::detector::Detector;
use crate::detector::resolution::Resolution;
use crate::mesh_form_factor::Settings;
use crate::scattering::layers::Layer;
use crate::scattering::particle::Population;

/// Approximation of the waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Distorted-wave Born approximation: all four terms.
    Distorted,
    /// Born approximation: the incoming plane wave only.
    Born,
    /// Small-angle scattering in transmission, without a surface.
    Transmission,
}

/// Everything that an image depends on.
pub struct Scene {
    /// Wave number in vacuum, 1/nm.
    pub k0: f64,
    /// Grazing angle of the beam, rad.
    pub incidence: f64,
    /// Number of photons on the sample.
    pub intensity: f64,
    /// Layers from the top: the first is the medium above the sample, the last the substrate.
    pub layers: Vec<Layer>,
    /// Populations of particles; they add incoherently.
    pub populations: Vec<Population>,
    /// The pixels.
    pub detector: Detector,
    /// Approximation of the waves.
    pub mode: Mode,
    /// Counts added to every pixel.
    pub background: f64,
    /// Resolution of the instrument; `None`: perfect.
    pub smearing: Option<Resolution>,
    /// Settings for form factors of meshes.
    pub numeric: Settings,
    /// What the user should know of how the sample is computed.
    pub notes: Vec<String>,
}
