//! The mass matrix of the velocities: constant, zone by zone, solved by preconditioned conjugate gradients.

use crate::space::Space;
use rayon::prelude::*;

pub struct Mass {
    /// [zone][local][local].
    zones: Vec<f64>,
    diagonal: Vec<f64>,
    tolerance: f64,
    most: usize,
}

impl Mass {
    /// With ρ₀ |J₀| w at the points.
    pub fn new(space: &Space, mass: &[f64], tolerance: f64, most: usize) -> Self {
        let n = space.local;
        let zones: Vec<f64> = (0..space.zones)
            .into_par_iter()
            .flat_map_iter(|z| {
                let mut m = vec![0.0; n * n];
                for q in 0..space.points {
                    let w = mass[z * space.points + q];
                    let b = &space.value[q * n..(q + 1) * n];
                    for i in 0..n {
                        for j in 0..n {
                            m[i * n + j] += w * b[i] * b[j];
                        }
                    }
                }
                m
            })
            .collect();
        let own: Vec<f64> = (0..space.zones)
            .flat_map(|z| (0..n).map(move |i| (z, i)))
            .map(|(z, i)| zones[(z * n + i) * n + i])
            .collect();
        Self {
            diagonal: space.scatter(&own, 1),
            zones,
            tolerance,
            most,
        }
    }

    /// The matrix times a field, each component alike.
    pub fn times(&self, space: &Space, field: &[f64]) -> Vec<f64> {
        let n = space.local;
        let components = field.len() / space.nodes;
        let own: Vec<f64> = (0..space.zones)
            .into_par_iter()
            .with_min_len(16)
            .flat_map_iter(|z| {
                let x = space.gather(field, z);
                let m = &self.zones[z * n * n..(z + 1) * n * n];
                let mut out = vec![0.0; components * n];
                for (to, x) in out.chunks_mut(n).zip(x.chunks(n)) {
                    for (to, row) in to.iter_mut().zip(m.chunks(n)) {
                        *to = row.iter().zip(x).map(|(a, b)| a * b).sum();
                    }
                }
                out
            })
            .collect();
        space.scatter(&own, components)
    }

    /// Solves for every component; those that walls hold stay zero.
    pub fn solve(&self, space: &Space, right: &[f64]) -> Vec<f64> {
        let n = space.nodes;
        let mut out = vec![0.0; right.len()];
        for (c, (to, right)) in out.chunks_mut(n).zip(right.chunks(n)).enumerate() {
            let held = &space.held[c * n..(c + 1) * n];
            let free = |x: &mut [f64]| {
                for (x, h) in x.iter_mut().zip(held) {
                    if *h {
                        *x = 0.0;
                    }
                }
            };
            let mut r = right.to_vec();
            free(&mut r);
            let scaled = |r: &[f64]| -> Vec<f64> {
                r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect()
            };
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let mut z = scaled(&r);
            let mut p = z.clone();
            let mut now = dot(&r, &z);
            let end = self.tolerance * self.tolerance * now;
            for _ in 0..self.most {
                if now <= end || now == 0.0 {
                    break;
                }
                let mut ap = self.times(space, &p);
                free(&mut ap);
                let alpha = now / dot(&p, &ap);
                for i in 0..n {
                    to[i] += alpha * p[i];
                    r[i] -= alpha * ap[i];
                }
                z = scaled(&r);
                let next = dot(&r, &z);
                let beta = next / now;
                now = next;
                for i in 0..n {
                    p[i] = z[i] + beta * p[i];
                }
            }
        }
        out
    }
}
