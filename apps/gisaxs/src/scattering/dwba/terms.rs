//! The terms of the amplitude of a particle.

use super::{Mode, Scene};
use crate::scattering::layers::{Layer, Waves};
use crate::scattering::particle::Part;
use num_complex::Complex64;

/// Weight and q_z of one term of the amplitude.
pub(super) type Term = (Complex64, Complex64);

/// The position of a particle, and the waves of the beam there.
pub(super) struct Place<'a> {
    pub layer: usize,
    /// Height above the upper interface of the layer, the reference of its waves, nm.
    pub height: f64,
    pub down: &'a Waves,
}

impl Scene {
    /// Height of the upper interface of a layer, nm; 0 for the first.
    pub(super) fn reference(&self, layer: usize) -> f64 {
        -self.layers[1.min(layer)..layer]
            .iter()
            .map(|l| l.thickness)
            .sum::<f64>()
    }

    /// The terms of the amplitude and their number. Weights include the phase of the particle's height.
    pub(super) fn terms(&self, position: &Place, up: &[Waves]) -> ([Term; 4], usize) {
        let (i, f) = (position.down, &up[position.layer]);
        let at = |weight: Complex64, z: Complex64| {
            (weight * (Complex64::I * z * position.height).exp(), z)
        };
        let none = (Complex64::ZERO, Complex64::ZERO);
        match self.mode {
            Mode::Born | Mode::Transmission => {
                ([at(Complex64::ONE, -i.kz - f.kz), none, none, none], 1)
            }
            Mode::Distorted => (
                [
                    at(i.t * f.t, -i.kz - f.kz),
                    at(i.r * f.t, i.kz - f.kz),
                    at(i.t * f.r, f.kz - i.kz),
                    at(i.r * f.r, i.kz + f.kz),
                ],
                4,
            ),
        }
    }

    /// n_p² − n² of a part and the medium around it.
    pub(super) fn contrast(&self, part: &Part, layer: usize) -> Complex64 {
        let own = |(delta, beta): (f64, f64)| Layer::smooth(delta, beta, 0.0).contrast();
        let around = part
            .around
            .map_or_else(|| self.layers[layer].contrast(), own);
        around - own(part.index)
    }
}
