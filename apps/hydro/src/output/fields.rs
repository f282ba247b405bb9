//! Fields at any place of a zone.

use crate::element::{Shape, nodal, positive};
use crate::engine::State;
use crate::hydro::Hydro;
use crate::tensor::determinant;
use clap::ValueEnum;

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Field {
    Density,
    Pressure,
    /// Specific internal energy
    Energy,
    Speed,
    /// Number of the material
    Material,
}

impl Field {
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

/// All fields at a place.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub x: [f64; 3],
    pub v: [f64; 3],
    pub density: f64,
    pub pressure: f64,
    pub energy: f64,
}

impl Sample {
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

/// Fields of zones at the same places of each, [zone][place]. Densities follow from those given at the start.
pub fn sample(h: &Hydro, s: &State, places: &[Vec<f64>]) -> Vec<Vec<Sample>> {
    use rayon::prelude::*;
    let (space, e) = (&h.space, &h.space.element);
    let d = space.dim;
    // Just inside, where densities that jump between zones belong to one of them.
    let middle = match e.shape {
        Shape::Triangle | Shape::Tet => 1.0 / (d + 1) as f64,
        _ => 0.5,
    };
    let tables: Vec<_> = places
        .iter()
        .map(|at| {
            let inside: Vec<f64> = at
                .iter()
                .map(|x| middle + (x - middle) * (1.0 - 1e-9))
                .collect();
            (
                nodal(e.shape, e.order, at),
                nodal(e.shape, e.order, &inside).0,
                positive(e.shape, e.energy_order, at),
            )
        })
        .collect();
    (0..space.zones)
        .into_par_iter()
        .map(|z| {
            let (x, v) = (space.gather(&s.x, z), space.gather(&s.v, z));
            let start = space.gather(&space.start, z);
            let own = &s.e[z * e.energies..(z + 1) * e.energies];
            tables
                .iter()
                .map(|((value, slope), inside, energies)| {
                    let at = |f: &[f64], w: &[f64]| -> [f64; 3] {
                        let mut out = [0.0; 3];
                        for (to, f) in out.iter_mut().zip(f.chunks(e.local)) {
                            *to = f.iter().zip(w).map(|(f, w)| f * w).sum();
                        }
                        out
                    };
                    let volume = |f: &[f64]| {
                        let mut j = [[0.0; 3]; 3];
                        for (row, f) in j.iter_mut().zip(f.chunks(e.local)) {
                            for (f, w) in f.iter().zip(slope.chunks(d)) {
                                for (to, w) in row.iter_mut().zip(w) {
                                    *to += f * w;
                                }
                            }
                        }
                        determinant(&j, d)
                    };
                    let first = at(&start, inside);
                    let density =
                        h.problem.density(h.material[z], &first[..d]) * volume(&start) / volume(&x);
                    let energy: f64 = energies.iter().zip(own).map(|(b, e)| b * e).sum();
                    let gas = h.gas[z];
                    Sample {
                        x: at(&x, value),
                        v: at(&v, value),
                        density,
                        pressure: (gas.gamma - 1.0) * density * energy.max(0.0)
                            - gas.gamma * gas.stiffness,
                        energy,
                    }
                })
                .collect()
        })
        .collect()
}
