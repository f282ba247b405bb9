//! What is wrong with a state: fields that are negative, and the zone that limits the time step.

use super::fields::sample;
use crate::engine::State;
use crate::fem::element::{Shape, node_positions};
use crate::fem::small_matrix::smallest_singular_value;
use crate::hydro::Hydro;
use rayon::prelude::*;

/// A field that must not be negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Negative {
    /// Its name.
    pub field: &'static str,
    /// Number of zones in which it is negative or no number at a node.
    pub zones: usize,
    /// The zone with the least value, the value and its position.
    pub zone: usize,
    /// The least value.
    pub value: f64,
    /// Its position.
    pub at: Vec<f64>,
}

/// Negative energies are rounding below this part of the largest energy.
const ROUNDING: f64 = 1e-6;

/// The density and the specific internal energy at the nodes of the zones, where files for ParaView have them; `zones` is 0 for
/// a field that is nowhere negative.
pub fn negative(h: &Hydro, s: &State) -> [Negative; 2] {
    let e = &h.space.element;
    let order = match e.shape {
        Shape::Triangle | Shape::Tet => e.order.min(2),
        _ => e.order,
    };
    let all = sample(h, s, &node_positions(e.shape, order));
    let largest = s.e.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    ["density", "specific internal energy"].map(|field| {
        let (of, limit): (fn(&super::fields::Sample) -> f64, f64) = match field {
            "density" => (|p| p.density, 0.0),
            _ => (|p| p.energy, -ROUNDING * largest),
        };
        let mut out = Negative {
            field,
            zones: 0,
            zone: 0,
            value: f64::INFINITY,
            at: vec![0.0; h.space.dim],
        };
        for (z, zone) in all.iter().enumerate() {
            let bad = |x: f64| x < limit || x.is_nan();
            out.zones += usize::from(zone.iter().any(|p| bad(of(p))));
            for p in zone {
                if of(p) < out.value {
                    (out.zone, out.value) = (z, of(p));
                    out.at = p.x[..h.space.dim].to_vec();
                }
            }
        }
        out
    })
}

/// The zone with the largest rate (see [`Engine`](crate::engine::Engine)): its number, about its rate, and its position.
pub fn limiting_zone(h: &Hydro, s: &State) -> (usize, f64, Vec<f64>) {
    let (space, e) = (&h.space, &h.space.element);
    let of_zone = |z: usize| -> (usize, f64, Vec<f64>) {
        let (x, v) = (space.gather(&s.x, z), space.gather(&s.v, z));
        let own = &s.e[z * e.energies..(z + 1) * e.energies];
        let mut worst = (z, f64::NEG_INFINITY, vec![0.0; space.dim]);
        for q in 0..e.points() {
            let j = e.jacobian(&x, q);
            let h_min = smallest_singular_value(&j, space.dim) / e.order as f64;
            let energy: f64 = e.energy_at(q).iter().zip(own).map(|(b, e)| b * e).sum();
            let gas = h.gas[z];
            let sound = (gas.gamma * (gas.gamma - 1.0) * energy.max(0.0)).sqrt();
            // Viscosity grows with the difference of velocities across the zone.
            let g = e.jacobian(&v, q);
            let jump = (g.iter().flatten().map(|g| g * g).sum::<f64>()).sqrt() / e.order as f64;
            let rate = (sound + 5.0 * jump) / h_min.max(f64::MIN_POSITIVE);
            if rate > worst.1 {
                worst = (z, rate, e.point(&x, q));
            }
        }
        worst
    };
    (0..space.zones).into_par_iter().map(of_zone).reduce(
        || (0, f64::NEG_INFINITY, vec![0.0; space.dim]),
        |a, b| {
            if b.1 > a.1 || b.1 == a.1 && b.0 < a.0 {
                b
            } else {
                a
            }
        },
    )
}
