//! What is wrong with a state: fields that are negative, and the zone that limits the time step.

use super::fields::sample;
use crate::engine::State;
use crate::fem::element::{Element, Shape, node_positions, positive};
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
    /// The largest value of all zones.
    pub largest: f64,
}

/// Name of the field of energies.
pub const ENERGY: &str = "specific internal energy";

/// Negative energies are rounding below this part of the largest energy.
const ROUNDING: f64 = 1e-6;

/// Energies below this are negative.
fn least_energy(e: &[f64]) -> f64 {
    -ROUNDING * e.iter().fold(0.0_f64, |m, e| m.max(e.abs()))
}

/// Positions in a zone at which fields must not be negative: the nodes that files for ParaView have.
fn checked_positions(e: &Element) -> Vec<Vec<f64>> {
    let order = match e.shape {
        Shape::Triangle | Shape::Tet => e.order.min(2),
        _ => e.order,
    };
    node_positions(e.shape, order)
}

/// Finds negative energies from the energy coefficients alone, as [`negative`] does from a state.
pub struct EnergyCheck {
    /// Values of the basis functions, [position][coefficient].
    basis: Vec<Vec<f64>>,
}

impl EnergyCheck {
    /// For zones of an element.
    pub fn new(e: &Element) -> Self {
        let at = |x: &Vec<f64>| positive(e.shape, e.energy_order, x);
        Self {
            basis: checked_positions(e).iter().map(at).collect(),
        }
    }

    /// Whether an energy of any zone is negative or no number.
    pub fn any_negative(&self, e: &[f64]) -> bool {
        let limit = least_energy(e);
        let is_bad = |v: f64| v < limit || v.is_nan();
        let value = |basis: &Vec<f64>, own: &[f64]| basis.iter().zip(own).map(|(b, e)| b * e).sum();
        // The basis functions are positive: so are energies without a negative coefficient.
        e.chunks(self.basis[0].len())
            .filter(|own| own.iter().any(|e| is_bad(*e)))
            .any(|own| self.basis.iter().any(|b| is_bad(value(b, own))))
    }
}

/// The density and the specific internal energy at the nodes of the zones, where files for ParaView have them; `zones` is 0 for
/// a field that is nowhere negative.
pub fn negative(h: &Hydro, s: &State) -> [Negative; 2] {
    let all = sample(h, s, &checked_positions(&h.space.element));
    let least = least_energy(&s.e);
    ["density", ENERGY].map(|field| {
        let (of, limit): (fn(&super::fields::Sample) -> f64, f64) = match field {
            "density" => (|p| p.density, 0.0),
            _ => (|p| p.energy, least),
        };
        let mut out = Negative {
            field,
            zones: 0,
            zone: 0,
            value: f64::INFINITY,
            at: vec![0.0; h.space.dim],
            largest: f64::NEG_INFINITY,
        };
        for (z, zone) in all.iter().enumerate() {
            let bad = |x: f64| x < limit || x.is_nan();
            out.zones += usize::from(zone.iter().any(|p| bad(of(p))));
            for p in zone {
                out.largest = out.largest.max(of(p));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::problem::Problem;
    use crate::problem::initial_state::Orders;

    /// Coefficients alone find what whole states show, and a negative coefficient is no negative energy.
    #[test]
    fn negative_energies_are_found_from_coefficients() {
        let orders = Orders {
            kinematic: 3,
            energy: 2,
            ..Orders::default()
        };
        for mesh in ["segment01", "square01_tri", "2x2"] {
            let mesh = Mesh::open(mesh, 0).unwrap();
            let problem = Problem::of("taylor-green").unwrap();
            let (h, mut s) = Hydro::new(&mesh, problem, &orders, 1.0).unwrap();
            let check = EnergyCheck::new(&h.space.element);
            s.e.fill(1.0);
            // The middle coefficient of order 2 has at most half of the weight.
            for (value, is_negative) in
                [(1.0, false), (-0.1, false), (-4.0, true), (f64::NAN, true)]
            {
                s.e[1] = value;
                let [_, energy] = negative(&h, &s);
                assert_eq!(energy.zones > 0, is_negative, "{value}");
                assert_eq!(check.any_negative(&s.e), is_negative, "{value}");
            }
        }
    }
}
