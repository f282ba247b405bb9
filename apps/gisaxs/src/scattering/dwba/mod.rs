//! Intensities in the distorted-wave Born approximation: a particle in a layer scatters the downward and the upward
//! wave of the beam, directly or via a reflection, into the direction of a pixel: four terms.
//!
//! | module | contents |
//! |---|---|
//! | `row` | the pixels of a row: their q and the waves there |
//! | `terms` | the four terms, their weights and q_z |
//! | `amplitude` | the amplitude of a part of a particle: formulas pixel by pixel, meshes many pixels at once |

mod amplitude;
mod row;
mod scene;
mod terms;

pub use scene::{Mode, Scene};

use crate::GisaxsError;
use crate::mesh_form_factor::Watch;
use crate::scattering::layers::waves;
use crate::scattering::particle::Average;
use crate::scattering::shares::Shares;
use greenup_ranks::{Alone, Ranks};
use num_complex::Complex64;
use rayon::prelude::*;
use row::DetectorRow;
use std::f64::consts::PI;
use terms::Place;

impl Scene {
    /// Total of the progress that [`Scene::image`] reports: pixels times parts of particles.
    pub fn steps(&self) -> u64 {
        let pixels = (self.detector.rows() * self.detector.columns()) as u64;
        let parts: usize = self
            .populations
            .iter()
            .flat_map(|p| &p.members)
            .map(|(_, m)| m.parts.len())
            .sum();
        pixels * parts as u64
    }

    /// The intensity of each pixel, lowest row first; `None` if stopped. No intensity is negative: each is a sum of
    /// squares times densities, structure factors and solid angles, which rounding does not make negative.
    ///
    /// # Errors
    /// The settings do not fit a mesh, or an intensity overflows; that error names the pixel and the likely cause.
    pub fn image(&self, watch: &Watch) -> Result<Option<Vec<f64>>, GisaxsError> {
        self.image_over(&Alone, watch)
    }

    /// The same, computed by several ranks: the image is on rank 0, the others have an empty one. On the CPU its digits do
    /// not depend on the number of ranks.
    ///
    /// # Errors
    /// As of [`Scene::image`], on the ranks that find them.
    pub fn image_over(
        &self,
        ranks: &dyn Ranks,
        watch: &Watch,
    ) -> Result<Option<Vec<f64>>, GisaxsError> {
        let shares = Shares::new(ranks, self.detector.rows());
        let columns = self.detector.columns();
        let down = match self.mode {
            Mode::Transmission => vec![self.through(self.incidence)],
            _ => waves(&self.layers, self.k0, self.incidence),
        };
        let rows: Vec<DetectorRow> = (0..self.detector.rows())
            .into_par_iter()
            .map(|r| self.row(r))
            .collect();
        let mut image = vec![0.0; rows.len() * columns];
        for (number, p) in self.populations.iter().enumerate() {
            let mut mean = vec![Complex64::ZERO; image.len()];
            let mut square = vec![0.0; image.len()];
            for (weight, particle) in &p.members {
                let mut amplitude = vec![Complex64::ZERO; image.len()];
                for part in &particle.parts {
                    let height = particle.height + part.at[2] - self.reference(part.layer);
                    let position = Place {
                        layer: part.layer,
                        height,
                        down: &down[part.layer],
                    };
                    let done = match part.form.polyhedron() {
                        Some(form) => {
                            let out = (&mut amplitude[..], watch);
                            self.solid(form, part, &position, (&rows, &shares, ranks), out)?
                        }
                        None => {
                            let out = (&mut amplitude[..], watch);
                            self.shape(part, &position, (&rows, &shares), out)
                        }
                    };
                    // Ranks stop together: each waits for the others below.
                    if done.is_none() && ranks.size() == 1 {
                        return Ok(None);
                    }
                }
                mean.par_iter_mut()
                    .zip(square.par_iter_mut())
                    .zip(&amplitude)
                    .for_each(|((m, s), a)| {
                        *m += a * *weight;
                        *s += weight * a.norm_sqr();
                    });
            }
            image
                .par_chunks_mut(columns.max(1))
                .enumerate()
                .filter(|(r, _)| shares.has(*r))
                .for_each(|(r, out)| {
                    for (c, to) in out.iter_mut().enumerate() {
                        let [qx, qy] = rows[r].xy[c];
                        let (one, all) =
                            (mean[r * columns + c].norm_sqr(), square[r * columns + c]);
                        for (density, order) in &p.orders {
                            let order = order.interference(qx, qy);
                            let sum = match p.average {
                                Average::Decoupled => (all - one).max(0.0) + one * order,
                                Average::Coherent => one * order,
                                Average::Local => all * order,
                            };
                            *to += density * sum;
                        }
                    }
                });
            check(&image, columns, || {
                format!(
                    "the particles number {number} (from 0): waves that grow or the structure factor overflow there; \
                     look at their sizes and heights, the spacing of their order, beta and roughness of the layers"
                )
            })?;
        }
        let mut stopped = [f64::from(u8::from(watch.stopped()))];
        ranks.max(&mut stopped);
        if stopped != [0.0] {
            return Ok(None);
        }
        if !shares.gather(ranks, &mut image, columns) {
            return Ok(Some(Vec::new()));
        }
        let norm = match self.mode {
            Mode::Transmission => self.intensity,
            Mode::Distorted | Mode::Born => self.intensity / self.incidence.sin(),
        };
        let norm = norm * (self.k0 * self.k0 / (4.0 * PI)).powi(2);
        image
            .par_chunks_mut(columns.max(1))
            .enumerate()
            .for_each(|(r, out)| {
                for (c, to) in out.iter_mut().enumerate() {
                    *to *= norm * self.detector.solid_angle(r, c);
                }
            });
        if let Some(s) = &self.smearing {
            image = s.apply(&image, columns);
        }
        for v in &mut image {
            *v += self.background;
        }
        check(&image, columns, || {
            "the beam's intensity times density, or the pixel's solid angle".into()
        })?;
        Ok(Some(image))
    }
}

/// Checks that all intensities are finite and not negative.
fn check(image: &[f64], columns: usize, cause: impl FnOnce() -> String) -> Result<(), GisaxsError> {
    let Some(n) = image
        .par_iter()
        .position_first(|v| !(*v >= 0.0 && v.is_finite()))
    else {
        return Ok(());
    };
    Err(GisaxsError::Intensity(format!(
        "the intensity of the pixel in column {}, row {} (from 0) is {}: {}",
        n % columns.max(1),
        n / columns.max(1),
        image[n],
        cause()
    )))
}
