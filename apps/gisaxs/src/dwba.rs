//! Intensities in the distorted-wave Born approximation: a particle in a layer scatters the wave that
//! comes down and the one that comes up, into a wave that goes up and one that is reflected.

use crate::detector::Detector;
use crate::form::FormFactor;
use crate::lattice::Lattice;
use crate::stack::{Layer, Waves, waves};
use crate::wave::Q;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::atomic::{AtomicBool, Ordering};

/// Particles of one kind.
pub struct Particles {
    pub form: Box<dyn FormFactor>,
    pub delta: f64,
    pub beta: f64,
    /// Number on a nm² of surface.
    pub density: f64,
    /// The layer they are in.
    pub layer: usize,
    /// Height of the base, nm; the surface is at 0.
    pub height: f64,
    /// Turned about z, rad.
    pub rotation: f64,
    /// How they stand; far from each other and at random where there is none.
    pub lattice: Option<Lattice>,
}

/// How waves are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All four terms.
    Distorted,
    /// The incoming plane wave alone.
    Born,
}

/// All that an image depends on.
pub struct Scene {
    /// 1/nm.
    pub k0: f64,
    /// Glancing angle of the beam, rad.
    pub incidence: f64,
    pub intensity: f64,
    pub layers: Vec<Layer>,
    pub particles: Vec<Particles>,
    pub detector: Detector,
    pub mode: Mode,
    /// Added to every pixel.
    pub background: f64,
}

impl Scene {
    /// Height of the upper interface of a layer; 0 for the first.
    fn reference(&self, layer: usize) -> f64 {
        -self.layers[1.min(layer)..layer]
            .iter()
            .map(|l| l.thickness)
            .sum::<f64>()
    }

    /// The intensity of each pixel, rows from the lowest angle; `tick` is called once a row. `None` when
    /// stopped.
    pub fn image(&self, tick: &(dyn Fn() + Sync), stop: &AtomicBool) -> Option<Vec<f64>> {
        let down = waves(&self.layers, self.k0, self.incidence);
        let columns = self.detector.phi.centres.len();
        let rows: Vec<Vec<f64>> = (0..self.detector.alpha.centres.len())
            .into_par_iter()
            .map(|row| {
                if stop.load(Ordering::Relaxed) {
                    return Vec::new();
                }
                let out = self.row(row, columns, &down);
                tick();
                out
            })
            .collect();
        (!stop.load(Ordering::Relaxed)).then(|| rows.concat())
    }

    fn row(&self, row: usize, columns: usize, down: &[Waves]) -> Vec<f64> {
        let alpha = self.detector.alpha.centres[row];
        if alpha <= 0.0 {
            return vec![self.background; columns];
        }
        let up = waves(&self.layers, self.k0, alpha);
        let norm = self.intensity / self.incidence.sin();
        (0..columns)
            .map(|column| {
                let phi = self.detector.phi.centres[column];
                let qx = self.k0 * (self.incidence.cos() - alpha.cos() * phi.cos());
                let qy = -self.k0 * alpha.cos() * phi.sin();
                let cross: f64 = self
                    .particles
                    .iter()
                    .map(|p| {
                        let order = p.lattice.as_ref().map_or(1.0, |l| l.interference(qx, qy));
                        p.density * order * self.cross_section(p, (qx, qy), down, &up)
                    })
                    .sum();
                norm * cross * self.detector.solid_angle(row, column) + self.background
            })
            .collect()
    }

    /// dσ/dΩ of a particle, nm².
    fn cross_section(
        &self,
        p: &Particles,
        (qx, qy): (f64, f64),
        down: &[Waves],
        up: &[Waves],
    ) -> f64 {
        let (i, f) = (&down[p.layer], &up[p.layer]);
        let (sine, cosine) = p.rotation.sin_cos();
        // In the particle's own frame.
        let (x, y) = (cosine * qx + sine * qy, -sine * qx + cosine * qy);
        let height = p.height - self.reference(p.layer);
        let term = |weight: Complex64, z: Complex64| {
            if weight.norm_sqr() == 0.0 {
                return Complex64::ZERO;
            }
            weight * (Complex64::I * z * height).exp() * p.form.at(&Q { x, y, z }.vector())
        };
        let amplitude = match self.mode {
            Mode::Born => term(Complex64::ONE, -i.kz - f.kz),
            Mode::Distorted => {
                term(i.t * f.t, -i.kz - f.kz)
                    + term(i.r * f.t, i.kz - f.kz)
                    + term(i.t * f.r, f.kz - i.kz)
                    + term(i.r * f.r, i.kz + f.kz)
            }
        };
        let own = Layer::smooth(p.delta, p.beta, 0.0);
        // n_p² − n_j².
        let contrast = self.layers[p.layer].contrast() - own.contrast();
        (contrast * amplitude * (self.k0 * self.k0 / (4.0 * PI))).norm_sqr()
    }
}
