//! Evaluates the fields at reference positions of the zones.

use crate::engine::State;
use crate::fem::element::{Shape, nodal, positive};
use crate::fem::small_matrix::determinant;
use crate::hydro::Hydro;
use clap::ValueEnum;

/// A field to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Field {
    /// Density
    #[default]
    Density,
    /// Pressure
    Pressure,
    /// Specific internal energy
    Energy,
    /// Magnitude of the velocity
    Speed,
    /// Number of the material
    Material,
}

impl Field {
    /// Name for titles of figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Density => "density",
            Self::Pressure => "pressure",
            Self::Energy => "specific internal energy",
            Self::Speed => "speed",
            Self::Material => "material",
        }
    }
}

/// All fields at a position.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Position.
    pub x: [f64; 3],
    /// Velocity.
    pub v: [f64; 3],
    /// Density.
    pub density: f64,
    /// Pressure.
    pub pressure: f64,
    /// Specific internal energy.
    pub energy: f64,
}

impl Sample {
    /// Value of a field; `material` is the material number of the zone.
    pub fn of(&self, field: Field, material: u32) -> f64 {
        match field {
            Field::Density => self.density,
            Field::Pressure => self.pressure,
            Field::Energy => self.energy,
            Field::Speed => self.v.iter().map(|v| v * v).sum::<f64>().sqrt(),
            Field::Material => f64::from(material),
        }
    }
}

/// Evaluates zones at the same reference positions. Densities follow from the prescribed initial density by
/// conservation of mass.
pub struct Sampler<'a> {
    h: &'a Hydro,
    tables: Vec<Table>,
}

struct Table {
    value: Vec<f64>,
    gradient: Vec<f64>,
    inside: Vec<f64>,
    energies: Vec<f64>,
}

impl<'a> Sampler<'a> {
    /// For these positions, `[position][dim]`.
    pub fn new(h: &'a Hydro, positions: &[Vec<f64>]) -> Self {
        let e = &h.space.element;
        // Just inside, where densities that jump between zones belong to one of them.
        let center = match e.shape {
            Shape::Triangle | Shape::Tet => 1.0 / (h.space.dim + 1) as f64,
            _ => 0.5,
        };
        let tables = positions
            .iter()
            .map(|at| {
                let inside: Vec<f64> = at
                    .iter()
                    .map(|x| center + (x - center) * (1.0 - 1e-9))
                    .collect();
                let (value, gradient) = nodal(e.shape, e.order, at);
                Table {
                    value,
                    gradient,
                    inside: nodal(e.shape, e.order, &inside).0,
                    energies: positive(e.shape, e.energy_order, at),
                }
            })
            .collect();
        Self { h, tables }
    }

    /// Samples of a zone, `[position]`.
    pub fn zone(&self, s: &State, z: usize) -> Vec<Sample> {
        let h = self.h;
        let (space, e) = (&h.space, &h.space.element);
        let d = space.dim;
        let (x, v) = (space.gather(&s.x, z), space.gather(&s.v, z));
        let start = space.gather(&space.start, z);
        let own = &s.e[z * e.energies..(z + 1) * e.energies];
        let at = |f: &[f64], w: &[f64]| -> [f64; 3] {
            let mut out = [0.0; 3];
            for (to, f) in out.iter_mut().zip(f.chunks(e.local)) {
                *to = f.iter().zip(w).map(|(f, w)| f * w).sum();
            }
            out
        };
        let volume = |f: &[f64], gradient: &[f64]| {
            let mut j = [[0.0; 3]; 3];
            for (row, f) in j.iter_mut().zip(f.chunks(e.local)) {
                for (f, w) in f.iter().zip(gradient.chunks(d)) {
                    for (to, w) in row.iter_mut().zip(w) {
                        *to += f * w;
                    }
                }
            }
            determinant(&j, d)
        };
        let one = |t: &Table| {
            let first = at(&start, &t.inside);
            let density = h.problem.density(h.material[z], &first[..d])
                * volume(&start, &t.gradient)
                / volume(&x, &t.gradient);
            let energy: f64 = t.energies.iter().zip(own).map(|(b, e)| b * e).sum();
            let gas = h.gas[z];
            Sample {
                x: at(&x, &t.value),
                v: at(&v, &t.value),
                density,
                pressure: (gas.gamma - 1.0) * density * energy.max(0.0) - gas.gamma * gas.p_inf,
                energy,
            }
        };
        self.tables.iter().map(one).collect()
    }
}

/// Samples all zones at the same reference positions, `[zone][position]`.
pub fn sample(h: &Hydro, s: &State, positions: &[Vec<f64>]) -> Vec<Vec<Sample>> {
    use rayon::prelude::*;
    let sampler = Sampler::new(h, positions);
    (0..h.space.zones)
        .into_par_iter()
        .map(|z| sampler.zone(s, z))
        .collect()
}

/// Least and greatest coordinates of the nodes, per component.
pub fn bounds(h: &Hydro, s: &State) -> Vec<(f64, f64)> {
    s.x.chunks(h.space.nodes)
        .map(|x| {
            x.iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                    (a.min(*v), b.max(*v))
                })
        })
        .collect()
}
