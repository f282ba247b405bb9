//! Intensities in the distorted-wave Born approximation: a particle in a layer scatters the downward and the upward
//! wave of the beam, directly or via a reflection, into the direction of a pixel: four terms.

use super::lines::Lines;
use crate::GisaxsError;
use crate::detector::Detector;
use crate::detector::resolution::Resolution;
use crate::form::Polyhedron;
use crate::mesh_form_factor::{Method, Prepared, QGrid, Settings, Watch, prepare};
use crate::scattering::layers::{Layer, Waves, waves};
use crate::scattering::momentum::Q;
use crate::scattering::particle::{Average, Part, Population};
use crate::scattering::shares::Shares;
use greenup_ranks::{Alone, Ranks};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

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
}

/// Weight and q_z of one term of the amplitude.
type Term = (Complex64, Complex64);

/// Pixels of one row of the detector.
struct Row {
    xy: Arc<[[f64; 2]]>,
    /// The waves in every layer, for each pixel or one for all; `None` below the horizon.
    up: Vec<Option<Vec<Waves>>>,
}

impl Row {
    fn up(&self, column: usize) -> Option<&Vec<Waves>> {
        self.up[column.min(self.up.len() - 1)].as_ref()
    }
}

/// Maximum number of values of F in memory at once.
const HELD: usize = 1 << 21;

impl Scene {
    /// Height of the upper interface of a layer, nm; 0 for the first.
    fn reference(&self, layer: usize) -> f64 {
        -self.layers[1.min(layer)..layer]
            .iter()
            .map(|l| l.thickness)
            .sum::<f64>()
    }

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
        let down = waves(&self.layers, self.k0, self.incidence);
        let rows: Vec<Row> = (0..self.detector.rows())
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
                    let height = particle.height + part.at[2] - self.reference(p.layer);
                    let position = Place {
                        layer: p.layer,
                        height,
                        down: &down[p.layer],
                    };
                    let done = match part.form.polyhedron() {
                        Some(form) => {
                            let out = (&mut amplitude[..], watch);
                            self.solid(form, part, &position, (&rows, &shares), out)?
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
                        let order = p.order.interference(qx, qy);
                        let sum = match p.average {
                            Average::Decoupled => (all - one).max(0.0) + one * order,
                            Average::Coherent => one * order,
                            Average::Local => all * order,
                        };
                        *to += p.density * sum;
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

    fn row(&self, row: usize) -> Row {
        let columns = self.detector.columns();
        let along = |(phi, alpha): (f64, f64)| {
            [
                self.k0 * (self.incidence.cos() - alpha.cos() * phi.cos()),
                -self.k0 * alpha.cos() * phi.sin(),
            ]
        };
        let angles: Vec<(f64, f64)> = (0..columns).map(|c| self.detector.angles(row, c)).collect();
        let up = |alpha: f64| match self.mode {
            // Without a surface there is no horizon.
            Mode::Transmission => {
                Some(waves(&self.layers[..1], self.k0, alpha.abs())).map(|mut w| {
                    if alpha < 0.0 {
                        w[0].kz = -w[0].kz;
                    }
                    w
                })
            }
            _ => (alpha > 0.0).then(|| waves(&self.layers, self.k0, alpha)),
        };
        let distinct = if self.detector.level() { 1 } else { columns };
        Row {
            up: angles.iter().take(distinct).map(|a| up(a.1)).collect(),
            xy: angles.into_iter().map(along).collect(),
        }
    }

    /// The terms of the amplitude and their number. Weights include the phase of the particle's height.
    fn terms(&self, position: &Place, up: &[Waves]) -> ([Term; 4], usize) {
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
    fn contrast(&self, part: &Part, layer: usize) -> Complex64 {
        let own = |(delta, beta): (f64, f64)| Layer::smooth(delta, beta, 0.0).contrast();
        let around = part
            .around
            .map_or_else(|| self.layers[layer].contrast(), own);
        around - own(part.index)
    }

    /// Adds a part with an analytic form factor, pixel by pixel; `None` if stopped.
    fn shape(
        &self,
        part: &Part,
        position: &Place,
        (rows, shares): (&[Row], &Shares),
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Option<()> {
        let contrast = self.contrast(part, position.layer);
        let columns = self.detector.columns();
        amplitude
            .par_chunks_mut(columns.max(1))
            .zip(rows)
            .enumerate()
            .filter(|(r, _)| shares.has(*r))
            .for_each(|(_, (out, row))| {
                if watch.stopped() {
                    return;
                }
                let mut level = row
                    .up
                    .first()
                    .filter(|_| row.up.len() == 1)
                    .map(|up| up.as_ref().map(|up| self.terms(position, up)));
                for (c, to) in out.iter_mut().enumerate() {
                    let terms = match &mut level {
                        Some(t) => *t,
                        None => row.up(c).map(|up| self.terms(position, up)),
                    };
                    let Some((terms, n)) = terms else { continue };
                    let [x, y] = row.xy[c];
                    let mut sum = Complex64::ZERO;
                    for (weight, z) in &terms[..n] {
                        if weight.norm_sqr() != 0.0 {
                            sum += weight * part.form.at(&Q { x, y, z: *z }.vector());
                        }
                    }
                    let shift = Complex64::from_polar(1.0, x * part.at[0] + y * part.at[1]);
                    *to += contrast * shift * sum;
                }
                watch.tick(columns as u64);
            });
        (!watch.stopped()).then_some(())
    }

    /// Adds a polyhedron, many pixels at once; `None` if stopped.
    fn solid(
        &self,
        form: &Polyhedron,
        part: &Part,
        position: &Place,
        (rows, shares): (&[Row], &Shares),
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Result<Option<()>, GisaxsError> {
        let columns = self.detector.columns();
        let contrast = self.contrast(part, position.layer);
        let reach = form.mesh().reach([0.0; 3]);
        let lines: Vec<Lines> = rows
            .par_iter()
            .map(|row| {
                let ups = row.up.iter().flatten();
                // By exit angle: at the surface k_z falls from −k₀ sin α.
                let height = |up: &&Vec<Waves>| up[0].kz.re;
                let ends = ups
                    .clone()
                    .max_by(|a, b| height(a).total_cmp(&height(b)))
                    .zip(ups.min_by(|a, b| height(a).total_cmp(&height(b))));
                ends.map_or_else(Lines::default, |(low, high)| {
                    let (low, n) = self.terms(position, low);
                    let (high, _) = self.terms(position, high);
                    let ends: Vec<_> = (0..n).map(|k| (low[k].1, high[k].1)).collect();
                    Lines::new(&ends, reach, 0.1 * self.numeric.accuracy)
                })
            })
            .collect();
        let grids: Vec<QGrid> = lines
            .iter()
            .zip(rows)
            .map(|(l, row)| QGrid {
                xy: if l.z.is_empty() {
                    Arc::default()
                } else {
                    Arc::clone(&row.xy)
                },
                z: l.z.clone(),
            })
            .collect();
        let ready = prepare(form, &grids, &self.numeric)
            .map_err(|m| GisaxsError::Sample(format!("a mesh: {m}")))?;
        let per = (HELD / grids.iter().map(QGrid::len).max().unwrap_or(1).max(1)).max(1);
        let quiet = Watch {
            progress: &|_| {},
            stop: watch.stop,
        };
        for blocks in shares.blocks().chunks((per / shares.rows()).max(1)) {
            let Some(values) = each_block(&ready, &grids, blocks, &quiet)? else {
                return Ok(None);
            };
            let values: Vec<(usize, &Vec<Complex64>)> = blocks
                .iter()
                .flat_map(Clone::clone)
                .zip(values.iter().flatten())
                .collect();
            let sums: Vec<(usize, Vec<Complex64>)> = values
                .into_par_iter()
                .filter(|(r, _)| !lines[*r].z.is_empty())
                .map(|(r, f)| {
                    let (row, l) = (&rows[r], &lines[r]);
                    let at = |c: usize| {
                        let Some(up) = row.up(c) else {
                            return Complex64::ZERO;
                        };
                        let (terms, n) = self.terms(position, up);
                        let [x, y] = row.xy[c];
                        let shift = Complex64::from_polar(1.0, x * part.at[0] + y * part.at[1]);
                        let sum: Complex64 = terms[..n]
                            .iter()
                            .enumerate()
                            .map(|(k, (weight, z))| {
                                weight * l.between(k, *z, |at| f[at * columns + c])
                            })
                            .sum();
                        contrast * shift * sum
                    };
                    (r, (0..columns).map(at).collect())
                })
                .collect();
            for (r, sum) in sums {
                for (to, v) in amplitude[r * columns..(r + 1) * columns]
                    .iter_mut()
                    .zip(sum)
                {
                    *to += v;
                }
            }
            let done: usize = blocks.iter().map(ExactSizeIterator::len).sum();
            watch.tick((done * columns) as u64);
        }
        Ok(Some(()))
    }
}

/// F on the rows of each block; `None` if stopped. A CPU computes each block by itself, so that its digits do not depend
/// on which other blocks this rank has.
fn each_block(
    ready: &Prepared,
    grids: &[QGrid],
    blocks: &[Range<usize>],
    watch: &Watch,
) -> Result<Option<Vec<Vec<Vec<Complex64>>>>, GisaxsError> {
    if ready.accelerated() {
        let all: Vec<QGrid> = blocks
            .iter()
            .flat_map(|b| grids[b.clone()].iter().cloned())
            .collect();
        return Ok(ready.grids(&all, watch)?.map(|values| vec![values]));
    }
    let one = |b: &Range<usize>| ready.grids(&grids[b.clone()], watch);
    // Factors of matrix products may use all of the memory given.
    if ready.method == Method::Gemm {
        return blocks.iter().map(one).collect();
    }
    blocks.par_iter().map(one).collect()
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

/// The position of a particle, and the waves of the beam there.
struct Place<'a> {
    layer: usize,
    /// Height above the upper interface of the layer, the reference of its waves, nm.
    height: f64,
    down: &'a Waves,
}
