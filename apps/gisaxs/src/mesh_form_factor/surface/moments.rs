//! F near q = 0, where surface sums cancel: F(q) = ∮ (r·n) g(q·r) dS with g(p) = ∫₀¹ t² e^{ipt} dt, as a power series
//! in q with moments of the surface, which does not cancel.

use super::Sampling;
use super::nodes::{Rules, Sample};
use crate::Q;
use crate::mesh::Mesh;
use crate::mesh_form_factor::kernels::{Kernels, ORDER, TERMS};
use num_complex::Complex64;
use std::sync::atomic::AtomicBool;

/// Largest limit of |q| × reach for the series.
const NEAR: f64 = 1.0;
/// Smallest limit of |q| × reach for the series.
const LEAST: f64 = 0.3;

/// The series Σ i^n q_x^a q_y^b q_z^c M_abc / ((n + 3) a! b! c!), n = a + b + c, about the centre of the mesh.
#[derive(Clone, Debug)]
pub struct Moments {
    /// In the order of the loops over a, b and c.
    terms: Vec<f64>,
    reach: f64,
    /// Limit of |q| × reach up to which the series is used.
    pub limit: f64,
    /// Bound of its error there, relative to the volume.
    pub error: f64,
}

/// Σ (r·s) x^a y^b z^c over some nodes, in the order of the loops over a, b and c.
fn sums(nodes: &Sample) -> [f64; TERMS] {
    let room = nodes.position.len() + 8;
    let mut positions = [(); 3].map(|()| Vec::with_capacity(room));
    let mut weight = Vec::with_capacity(room);
    for (r, s) in nodes.position.iter().zip(&nodes.strength) {
        for (to, x) in positions.iter_mut().zip(r) {
            to.push(*x);
        }
        weight.push(r[0] * s[0] + r[1] * s[1] + r[2] * s[2]);
    }
    // Padded to whole vectors with weights of 0.
    let whole = weight.len().next_multiple_of(8);
    for p in positions.iter_mut().chain([&mut weight]) {
        p.resize(whole, 0.0);
    }
    let mut terms = [0.0; TERMS];
    Kernels::best().moments(&positions, &weight, &mut terms);
    terms
}

impl Moments {
    /// The series of a closed surface about its centre. Up to its limit the error is at most a tenth of `accuracy`,
    /// where possible. If stopped, it is not that of the surface.
    pub fn new(mesh: &Mesh, accuracy: f64, stop: &AtomicBool) -> Self {
        // Such long waves need few nodes; they are made and summed chunk by chunk.
        let reach = mesh.reach(mesh.center());
        let most = NEAR / reach.max(f64::MIN_POSITIVE);
        let rules = Rules::new(mesh, most, Sampling::Within(1e-13), stop);
        let parts = rules.chunks(|some| {
            let (nodes, worst) = (some.position.len(), some.worst());
            (sums(&some), nodes, worst)
        });
        let mut terms = [0.0; TERMS];
        for (part, _, _) in &parts {
            for (sum, x) in terms.iter_mut().zip(part) {
                *sum += x;
            }
        }
        let nodes: usize = parts.iter().map(|p| p.1).sum();
        let sampled = rules.error(parts.iter().map(|p| p.2).sum());
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        let mut at = 0;
        for a in 0..=ORDER {
            for b in 0..=ORDER - a {
                for c in 0..=ORDER - a - b {
                    let n = a + b + c;
                    // The sign of i^n = ±1 or ±i; the parity of n selects real or imaginary in the sum.
                    let sign = if n % 4 < 2 { 1.0 } else { -1.0 };
                    terms[at] *=
                        sign / ((n + 3) as f64 * factorial(a) * factorial(b) * factorial(c));
                    at += 1;
                }
            }
        }
        // What is left from the power n = ORDER + 1 on: ∫ |q·r|ⁿ/n! over the solid, or |r·n| |q·r|ⁿ/((n + 3) n!) over
        // the surface, with 1 + 1/n + … < 1.1 for all that follow.
        let n = ORDER + 1;
        let slender = reach * rules.area / rules.volume;
        let left = 1.1 * (slender / (n + 3) as f64).min(1.0) / factorial(n);
        let limit = (0.1 * accuracy / left)
            .powf(1.0 / n as f64)
            .clamp(LEAST, NEAR);
        // Sampling; sums over the surface in eight lanes; the powers of q. Terms grow by e^limit < 3 in all.
        let sums = 6.0 * (nodes as f64 / 8.0).sqrt() + 60.0;
        let rounding = 3.0 * 0.5 * f64::EPSILON * slender * sums;
        Self {
            terms: terms.to_vec(),
            reach,
            limit,
            error: left * limit.powi(n as i32) + 3.0 * sampled + rounding,
        }
    }

    /// Whether the series is used at this q.
    pub fn serve(&self, q: &Q) -> bool {
        q.norm_squared() * self.reach * self.reach < self.limit * self.limit
    }

    /// F(q) about the centre, nm³.
    pub fn at(&self, q: &Q) -> Complex64 {
        let mut z = [Complex64::ONE; ORDER + 1];
        for c in 1..=ORDER {
            z[c] = z[c - 1] * q.z;
        }
        // Even powers have real factors, odd ones imaginary.
        let mut sums = [Complex64::ZERO; 2];
        let mut at = 0;
        let mut x = 1.0;
        for a in 0..=ORDER {
            let mut y = x;
            for b in 0..=ORDER - a {
                for (c, power) in z[..=ORDER - a - b].iter().enumerate() {
                    sums[(a + b + c) % 2] += power * (y * self.terms[at]);
                    at += 1;
                }
                y *= q.y;
            }
            x *= q.x;
        }
        sums[0] + Complex64::I * sums[1]
    }
}
