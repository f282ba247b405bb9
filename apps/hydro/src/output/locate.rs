//! Finds positions in the moved mesh: the zone, and the reference coordinates in it.

use crate::engine::State;
use crate::fem::element::nodal;
use crate::fem::small_matrix::{adjugate, determinant};
use crate::hydro::Hydro;
use rayon::prelude::*;

/// How far outside of a zone a point may lie, in reference coordinates.
const SLACK: f64 = 1e-7;
/// Most steps of Newton's method.
const STEPS: usize = 40;

/// A zone and reference coordinates in it.
pub type ZonePoint = (usize, Vec<f64>);

/// Zone and reference coordinates of each point; `None` outside of the mesh. Points between zones belong to the zone
/// of the lowest number.
pub fn locate(h: &Hydro, s: &State, points: &[[f64; 3]]) -> Vec<Option<ZonePoint>> {
    let d = h.space.dim;
    let per_zone: Vec<Vec<(usize, Vec<f64>)>> = (0..h.space.zones)
        .into_par_iter()
        .map(|z| {
            let x = h.space.gather(&s.x, z);
            let n = h.space.element.local;
            let boxes: Vec<(f64, f64)> = (0..d)
                .map(|c| {
                    let (lo, hi) = x[c * n..(c + 1) * n]
                        .iter()
                        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                            (a.min(*v), b.max(*v))
                        });
                    // Curved sides reach beyond their nodes.
                    let pad = 0.15 * (hi - lo);
                    (lo - pad, hi + pad)
                })
                .collect();
            points
                .iter()
                .enumerate()
                .filter(|(_, p)| (p.iter().zip(&boxes)).all(|(p, (lo, hi))| (lo..=hi).contains(&p)))
                .filter_map(|(i, p)| Some((i, inside(h, &x, &p[..d])?)))
                .collect()
        })
        .collect();
    let mut out = vec![None; points.len()];
    for (z, found) in per_zone.into_iter().enumerate() {
        for (i, at) in found {
            if out[i].is_none() {
                out[i] = Some((z, at));
            }
        }
    }
    out
}

/// Reference coordinates of a point in a zone with node positions `x`; `None` outside of it.
fn inside(h: &Hydro, x: &[f64], point: &[f64]) -> Option<Vec<f64>> {
    let e = &h.space.element;
    let d = h.space.dim;
    let tensor = e.shape.tensor();
    let mut at = vec![if tensor { 0.5 } else { 1.0 / (d + 1) as f64 }; d];
    let mut found = false;
    for _ in 0..STEPS {
        let (value, gradient) = nodal(e.shape, e.order, &at);
        let (mut off, mut j) = ([0.0; 3], [[0.0; 3]; 3]);
        for c in 0..d {
            let own = &x[c * e.local..(c + 1) * e.local];
            off[c] = point[c] - own.iter().zip(&value).map(|(x, v)| x * v).sum::<f64>();
            for (x, w) in own.iter().zip(gradient.chunks(d)) {
                for g in 0..d {
                    j[c][g] += x * w[g];
                }
            }
        }
        let det = determinant(&j, d);
        let a = adjugate(&j, d);
        let mut moved = 0.0_f64;
        for (g, to) in at.iter_mut().enumerate() {
            let step = (0..d).map(|c| a[g][c] * off[c]).sum::<f64>() / det;
            moved = moved.max(step.abs());
            // Far steps leave the range in which the map has an inverse.
            *to = (*to + step.clamp(-0.3, 0.3)).clamp(-0.4, 1.4);
        }
        if !moved.is_finite() {
            return None;
        }
        if moved < 1e-9 {
            found = true;
            break;
        }
    }
    let sum: f64 = at.iter().sum();
    let within = at.iter().all(|x| (-SLACK..=1.0 + SLACK).contains(x));
    (found && within && (tensor || sum <= 1.0 + SLACK)).then(|| {
        // Exactly inside, so that densities do not come from beyond a jump.
        at.iter().map(|x| x.clamp(0.0, 1.0)).collect()
    })
}
