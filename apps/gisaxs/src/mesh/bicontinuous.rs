//! A bicontinuous blend of two phases: where a random sum of plane waves of one wavelength is above a level (Cahn 1965,
//! Berk 1987).

use super::Mesh;
use super::level_set::{Grid, surface};
use crate::GisaxsError;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// A blend in a box whose base is at z = 0, with x = y = 0 in its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bicontinuous {
    /// Edges of the box along x, y and z, nm.
    pub size: [f64; 3],
    /// Wavelength of all waves, nm: the distance from a domain to the next.
    pub wavelength: f64,
    /// Volume fraction of the phase that the surface bounds.
    pub fraction: f64,
    /// Number of plane waves.
    pub waves: usize,
    /// Of their directions and phases.
    pub seed: u64,
}

impl Default for Bicontinuous {
    fn default() -> Self {
        Self {
            size: [200.0; 3],
            wavelength: 20.0,
            fraction: 0.5,
            waves: 200,
            seed: 1,
        }
    }
}

/// Maximum number of triangles, as of files.
const MAX: usize = super::files::MAX;
/// Least number of cells over a wavelength.
const COARSEST: f64 = 5.0;
/// Triangles of a cell face that the surface crosses, about.
const PER_CELL: f64 = 6.0;
/// Allowed share by which the number of triangles misses.
const NEAR: f64 = 0.01;

/// The waves: φ(r) = Σ cos(k·r + θ).
struct Waves {
    k: Vec<[f64; 3]>,
    phase: Vec<f64>,
}

impl Waves {
    fn new(blend: &Bicontinuous) -> Self {
        let mut rng = fastrand::Rng::with_seed(blend.seed);
        let k0 = TAU / blend.wavelength;
        let (mut k, mut phase) = (Vec::new(), Vec::new());
        for _ in 0..blend.waves {
            // Uniform on the sphere.
            let z = 2.0 * rng.f64() - 1.0;
            let (s, c) = libm::sincos(TAU * rng.f64());
            let r = (1.0 - z * z).sqrt();
            k.push([k0 * r * c, k0 * r * s, k0 * z]);
            phase.push(TAU * rng.f64());
        }
        Self { k, phase }
    }

    /// φ at a position.
    fn at(&self, r: [f64; 3]) -> f64 {
        let waves = self.k.iter().zip(&self.phase);
        waves.map(|(k, p)| libm::cos(super::dot(*k, r) + p)).sum()
    }

    /// e^{i k x} of all points along an axis, `[point][wave]`, with the phases added to z.
    fn along(&self, grid: &Grid, axis: usize) -> Vec<[f64; 2]> {
        let mut out = Vec::with_capacity((grid.cells[axis] + 1) * self.k.len());
        for i in 0..=grid.cells[axis] {
            let x = grid.at(axis, i);
            for (k, p) in self.k.iter().zip(&self.phase) {
                let more = if axis == 2 { *p } else { 0.0 };
                let (s, c) = libm::sincos(k[axis] * x + more);
                out.push([c, s]);
            }
        }
        out
    }

    /// The surface of φ > `level` in the box of a grid.
    fn surface(&self, grid: &Grid, level: f64) -> Mesh {
        let n = self.k.len();
        let [x, y, z] = [0, 1, 2].map(|axis| self.along(grid, axis));
        let wide = grid.cells[0] + 1;
        // By waves, for sums along x.
        let part = |c: usize| -> Vec<f32> {
            let of = |w: usize| (0..wide).map(move |i| i * n + w);
            (0..n).flat_map(of).map(|at| x[at][c] as f32).collect()
        };
        let (re, im) = (part(0), part(1));
        let row = |j: usize, k: usize, out: &mut [f32]| {
            out.fill(-level as f32);
            for w in 0..n {
                let ([c, s], [d, t]) = (y[j * n + w], z[k * n + w]);
                let (a, b) = ((c * d - s * t) as f32, (c * t + s * d) as f32);
                let waves = re[w * wide..].iter().zip(&im[w * wide..]);
                for (to, (re, im)) in out.iter_mut().zip(waves) {
                    *to += a * re - b * im;
                }
            }
        };
        let rows = grid.cells[1] + 1;
        surface(grid, |from, to| {
            let mut out = vec![0.0; (to - from) * rows * wide];
            out.par_chunks_mut(wide)
                .enumerate()
                .for_each(|(n, out)| row(n % rows, from + n / rows, out));
            out
        })
    }
}

impl Bicontinuous {
    /// Checks the numbers.
    fn check(&self) -> Result<(), GisaxsError> {
        let wrong = |m: String| Err(GisaxsError::Mesh(m));
        if !(self.wavelength.is_finite() && self.wavelength > 0.0) {
            return wrong(format!("has an invalid wavelength: {} nm", self.wavelength));
        }
        let fits = |x: &f64| *x >= self.wavelength && *x <= 1e3 * self.wavelength;
        if !self.size.iter().all(fits) {
            return wrong(format!(
                "has an invalid size: its edges must lie between 1 and 1000 wavelengths of {} nm",
                self.wavelength
            ));
        }
        if !(0.05..=0.95).contains(&self.fraction) {
            return wrong(format!(
                "has an invalid volume fraction: {}; use 0.05 to 0.95",
                self.fraction
            ));
        }
        if !(20..=10_000).contains(&self.waves) {
            return wrong(format!(
                "has an invalid number of waves: {}; use 20 to 10000",
                self.waves
            ));
        }
        Ok(())
    }

    /// The grid whose cells have about this edge, nm.
    fn grid(&self, cell: f64) -> Grid {
        let cells = self.size.map(|x| (x / cell).round().max(1.0) as usize);
        Grid {
            origin: [-0.5 * self.size[0], -0.5 * self.size[1], 0.0],
            step: std::array::from_fn(|k| self.size[k] / cells[k] as f64),
            cells,
        }
    }

    /// The level that leaves the volume fraction above it, from values at random positions.
    fn level(&self, waves: &Waves) -> f64 {
        const SAMPLES: usize = 40_000;
        let mut rng = fastrand::Rng::with_seed(self.seed ^ 0x1e7e1);
        let positions: Vec<[f64; 3]> = (0..SAMPLES).map(|_| self.position(&mut rng)).collect();
        let mut values: Vec<f64> = positions.par_iter().map(|r| waves.at(*r)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[((1.0 - self.fraction) * SAMPLES as f64) as usize]
    }

    /// A random position in the box.
    fn position(&self, rng: &mut fastrand::Rng) -> [f64; 3] {
        let grid = self.grid(self.wavelength);
        std::array::from_fn(|k| grid.origin[k] + self.size[k] * rng.f64())
    }

    /// Its surface with about this number of triangles: closed, also along the faces of the box.
    ///
    /// # Errors
    /// A number is out of range, or the triangles are too few for the box or more than ten million.
    pub fn mesh(&self, triangles: usize) -> Result<Mesh, GisaxsError> {
        self.check()?;
        if triangles > MAX {
            return Err(GisaxsError::Mesh(format!(
                "would have {triangles} triangles, more than {MAX}"
            )));
        }
        let waves = Waves::new(self);
        let level = self.level(&waves);
        // From the mean area of such a surface, and half of the faces of the box.
        let [a, b, c] = self.size;
        let area = 2.31 * a * b * c / self.wavelength + (a * b + b * c + c * a);
        let coarsest = self.wavelength / COARSEST;
        let mut cell = (PER_CELL * area / triangles as f64).sqrt();
        let mut last = None;
        // The number grows with the inverse square of the cell, at first unknown by a few per cent.
        for scale in [4.0, 1.0, 1.0] {
            let now = (cell * scale).min(coarsest);
            let grid = self.grid(now);
            let mesh = waves.surface(&grid, level);
            let found = mesh.triangles.len() as f64;
            let least = found * (now / coarsest).powi(2);
            if (triangles as f64) < (1.0 - NEAR) * least {
                return Err(GisaxsError::Mesh(format!(
                    "needs about {:.0} triangles at least: {COARSEST} cells a wavelength",
                    least.ceil()
                )));
            }
            let off = found / triangles as f64;
            if (off - 1.0).abs() < NEAR {
                return Ok(mesh);
            }
            cell = now * off.sqrt();
            last = Some(mesh);
        }
        last.ok_or_else(|| GisaxsError::Mesh("is empty".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bicontinuous = Bicontinuous {
        size: [80.0, 90.0, 70.0],
        wavelength: 20.0,
        fraction: 0.5,
        waves: 200,
        seed: 1,
    };

    #[test]
    fn the_surface_is_closed_and_bounds_the_fraction() {
        for fraction in [0.5, 0.3] {
            let blend = Bicontinuous { fraction, ..SMALL };
            let mesh = blend.mesh(200_000).unwrap();
            mesh.check().unwrap();
            let off = mesh.triangles.len() as f64 / 200_000.0 - 1.0;
            assert!(off.abs() < 0.03, "{off}");
            let [a, b, c] = blend.size;
            // By the divergence theorem, against the positions where the waves are above the level.
            let volume = mesh.volume() / (a * b * c);
            let waves = Waves::new(&blend);
            let level = blend.level(&waves);
            let mut rng = fastrand::Rng::with_seed(99);
            let n = 40_000;
            let above = (0..n)
                .filter(|_| waves.at(blend.position(&mut rng)) > level)
                .count();
            let sampled = above as f64 / f64::from(n);
            // Four standard deviations of the samples.
            assert!((volume - sampled).abs() < 0.01, "{volume} {sampled}");
            assert!((volume - fraction).abs() < 0.01, "{volume}");
            let [lo, hi] = mesh.span_z();
            assert!(lo == 0.0 && (hi - c).abs() < 1e-9);
        }
    }

    /// Area and Euler characteristic of the surface against their means for Gaussian random fields (Adler, The Geometry
    /// of Random Fields, 1981), over some seeds: the areas of boxes of four wavelengths spread by 5 %.
    #[test]
    fn area_and_handles_are_those_of_a_random_field() {
        let (mut area, mut euler) = (0.0, 0.0);
        let seeds = 8;
        let blend = Bicontinuous {
            size: [80.0; 3],
            ..SMALL
        };
        for seed in 0..seeds {
            let mesh = Bicontinuous { seed, ..blend }.mesh(60_000).unwrap();
            let inner = |t: &&[usize; 3]| {
                let on = |k: usize, at: f64| {
                    (t.iter()).all(|i| (mesh.vertices[*i][k] - at).abs() < 1e-9)
                };
                !(on(0, -40.0)
                    || on(0, 40.0)
                    || on(1, -40.0)
                    || on(1, 40.0)
                    || on(2, 0.0)
                    || on(2, 80.0))
            };
            area += (mesh.triangles.iter().filter(inner))
                .map(|t| mesh.face(*t).0)
                .sum::<f64>();
            let (v, f) = (mesh.vertices.len() as f64, mesh.triangles.len() as f64);
            // Of the solid: half that of its surface.
            euler += 0.5 * (v - 0.5 * f);
        }
        let n = seeds as f64;
        // Second spectral moment: mean square of k along an axis.
        let l = TAU / blend.wavelength / 3.0_f64.sqrt();
        let s: f64 = 80.0;
        let mean_area = 2.0 / std::f64::consts::PI * l * s.powi(3);
        let mean_euler = 0.5 + 3.0 * s * l / TAU - (s * l).powi(3) / TAU.powi(2);
        assert!(
            (area / n / mean_area - 1.0).abs() < 0.06,
            "{} {mean_area}",
            area / n
        );
        assert!(
            (euler / n / mean_euler - 1.0).abs() < 0.1,
            "{} {mean_euler}",
            euler / n
        );
    }

    #[test]
    fn a_seed_gives_one_blend() {
        let mesh = SMALL.mesh(45_000).unwrap();
        assert_eq!(mesh, SMALL.mesh(45_000).unwrap());
        let other = Bicontinuous { seed: 2, ..SMALL };
        assert_ne!(mesh, other.mesh(45_000).unwrap());
    }

    #[test]
    fn wrong_numbers_are_named() {
        let fault = |b: Bicontinuous, n: usize| b.mesh(n).unwrap_err().to_string();
        for (b, n, what) in [
            (
                Bicontinuous {
                    wavelength: f64::NAN,
                    ..SMALL
                },
                60_000,
                "wavelength",
            ),
            (
                Bicontinuous {
                    size: [10.0; 3],
                    ..SMALL
                },
                60_000,
                "1 and 1000 wavelengths",
            ),
            (
                Bicontinuous {
                    fraction: 1.0,
                    ..SMALL
                },
                60_000,
                "0.05 to 0.95",
            ),
            (Bicontinuous { waves: 3, ..SMALL }, 60_000, "20 to 10000"),
            (SMALL, 11_000_000, "more than 10000000"),
            (SMALL, 100, "triangles at least"),
        ] {
            assert!(fault(b, n).contains(what), "{}", fault(b, n));
        }
    }
}
