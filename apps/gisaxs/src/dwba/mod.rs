//! Intensities in the distorted-wave Born approximation: a particle in a layer scatters the wave that
//! comes down and the one that comes up, into a wave that goes up and one that is reflected.

mod lines;

use crate::GisaxsError;
use crate::detector::Detector;
use crate::form::Polyhedron;
use crate::numeric::{Settings, Sheet, Watch, prepare};
use crate::particle::{Average, Part, Population};
use crate::smear::Smearing;
use crate::stack::{Layer, Waves, waves};
use crate::wave::Q;
use lines::Lines;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// How waves are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All four terms.
    Distorted,
    /// The incoming plane wave alone.
    Born,
    /// No surface: small-angle scattering in transmission.
    Transmission,
}

/// All that an image depends on.
pub struct Scene {
    /// 1/nm.
    pub k0: f64,
    /// Glancing angle of the beam, rad.
    pub incidence: f64,
    pub intensity: f64,
    pub layers: Vec<Layer>,
    pub populations: Vec<Population>,
    pub detector: Detector,
    pub mode: Mode,
    /// Added to every pixel.
    pub background: f64,
    pub smearing: Option<Smearing>,
    /// How form factors of meshes are computed.
    pub numeric: Settings,
}

/// A wave in the layer, times its share.
type Term = (Complex64, Complex64);

/// Pixels of one row of the detector.
struct Row {
    xy: Arc<[[f64; 2]]>,
    /// The waves of every layer, of each pixel or of all at once; none below the horizon.
    up: Vec<Option<Vec<Waves>>>,
}

impl Row {
    fn up(&self, column: usize) -> Option<&Vec<Waves>> {
        self.up[column.min(self.up.len() - 1)].as_ref()
    }
}

/// Values of F in hand at once.
const HELD: usize = 1 << 21;

impl Scene {
    /// Height of the upper interface of a layer; 0 for the first.
    fn reference(&self, layer: usize) -> f64 {
        -self.layers[1.min(layer)..layer]
            .iter()
            .map(|l| l.thickness)
            .sum::<f64>()
    }

    /// What `image` reports in all.
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

    /// The intensity of each pixel, rows from the lowest angle; `None` when stopped. None is negative: they are sums of
    /// squares times densities, structure factors and solid angles, none of which is, in this arithmetic too.
    ///
    /// # Errors
    /// A mesh that cannot be computed as asked; an intensity beyond the range of numbers, with its pixel and cause.
    pub fn image(&self, watch: &Watch) -> Result<Option<Vec<f64>>, GisaxsError> {
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
                    let place = Place {
                        layer: p.layer,
                        height,
                        down: &down[p.layer],
                    };
                    let done = match part.form.polyhedron() {
                        Some(form) => {
                            self.solid(form, part, &place, &rows, (&mut amplitude, watch))?
                        }
                        None => self.shape(part, &place, &rows, (&mut amplitude, watch)),
                    };
                    if done.is_none() {
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
            // Without a surface nothing is hidden below it.
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

    /// The terms of the amplitude: weights, with the phase of the particle's height, and their q_z.
    fn terms(&self, place: &Place, up: &[Waves]) -> ([Term; 4], usize) {
        let (i, f) = (place.down, &up[place.layer]);
        let at =
            |weight: Complex64, z: Complex64| (weight * (Complex64::I * z * place.height).exp(), z);
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

    /// n_p² − n² of what is around it.
    fn contrast(&self, part: &Part, layer: usize) -> Complex64 {
        let own = |(delta, beta): (f64, f64)| Layer::smooth(delta, beta, 0.0).contrast();
        let around = part
            .around
            .map_or_else(|| self.layers[layer].contrast(), own);
        around - own(part.index)
    }

    /// Adds a part with a formula, pixel by pixel.
    fn shape(
        &self,
        part: &Part,
        place: &Place,
        rows: &[Row],
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Option<()> {
        let contrast = self.contrast(part, place.layer);
        let columns = self.detector.columns();
        amplitude
            .par_chunks_mut(columns.max(1))
            .zip(rows)
            .for_each(|(out, row)| {
                if watch.stopped() {
                    return;
                }
                let mut level = row
                    .up
                    .first()
                    .filter(|_| row.up.len() == 1)
                    .map(|up| up.as_ref().map(|up| self.terms(place, up)));
                for (c, to) in out.iter_mut().enumerate() {
                    let terms = match &mut level {
                        Some(t) => *t,
                        None => row.up(c).map(|up| self.terms(place, up)),
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

    /// Adds a solid with flat faces, many pixels at once.
    fn solid(
        &self,
        form: &Polyhedron,
        part: &Part,
        place: &Place,
        rows: &[Row],
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Result<Option<()>, GisaxsError> {
        let columns = self.detector.columns();
        let contrast = self.contrast(part, place.layer);
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
                    let (low, n) = self.terms(place, low);
                    let (high, _) = self.terms(place, high);
                    let ends: Vec<_> = (0..n).map(|k| (low[k].1, high[k].1)).collect();
                    Lines::new(&ends, reach, 0.1 * self.numeric.accuracy)
                })
            })
            .collect();
        let sheets: Vec<Sheet> = lines
            .iter()
            .zip(rows)
            .map(|(l, row)| Sheet {
                xy: if l.z.is_empty() {
                    Arc::default()
                } else {
                    Arc::clone(&row.xy)
                },
                z: l.z.clone(),
            })
            .collect();
        let ready = prepare(form, &sheets, &self.numeric)
            .map_err(|m| GisaxsError::Sample(format!("a mesh: {m}")))?;
        let per = (HELD / sheets.iter().map(Sheet::len).max().unwrap_or(1).max(1)).max(1);
        let quiet = Watch {
            progress: &|_| {},
            stop: watch.stop,
        };
        for from in (0..rows.len()).step_by(per) {
            let to = rows.len().min(from + per);
            let values = ready
                .sheets(&sheets[from..to], &quiet)
                .map_err(GisaxsError::Sample)?;
            let Some(values) = values else {
                return Ok(None);
            };
            amplitude[from * columns..to * columns]
                .par_chunks_mut(columns.max(1))
                .zip(&rows[from..to])
                .zip(lines[from..to].par_iter().zip(&values))
                .for_each(|((out, row), (l, f))| {
                    if l.z.is_empty() {
                        return;
                    }
                    for (c, to) in out.iter_mut().enumerate() {
                        let Some(up) = row.up(c) else { continue };
                        let (terms, n) = self.terms(place, up);
                        let [x, y] = row.xy[c];
                        let shift = Complex64::from_polar(1.0, x * part.at[0] + y * part.at[1]);
                        let sum: Complex64 = terms[..n]
                            .iter()
                            .enumerate()
                            .map(|(k, (weight, z))| {
                                weight * l.between(k, *z, |at| f[at * columns + c])
                            })
                            .sum();
                        *to += contrast * shift * sum;
                    }
                });
            watch.tick(((to - from) * columns) as u64);
        }
        Ok(Some(()))
    }
}

/// Whether all intensities are finite and none is negative.
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

/// Where a particle is, and the waves of the beam there.
struct Place<'a> {
    layer: usize,
    /// Above the upper interface of the layer, to which waves are counted.
    height: f64,
    down: &'a Waves,
}
