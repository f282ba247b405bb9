//! Zones of a plane mesh, and of a plane through a mesh in space, as triangles.

use super::raster::{Corner, Raster};
use super::{Job, lattice};
use crate::output::fields::{Sample, Sampler};
use rayon::prelude::*;

/// Zones that are sampled at once.
const CHUNK: usize = 2048;

/// Draws the zones of a plane mesh.
pub(super) fn flat(job: &Job, r: &mut Raster, parts: usize, lines: bool) {
    let sampler = Sampler::new(job.h, &lattice(job.h.space.element.shape, parts));
    let width = parts + 1;
    for begin in (0..job.h.space.zones).step_by(CHUNK) {
        let end = (begin + CHUNK).min(job.h.space.zones);
        let all: Vec<Vec<Sample>> = (begin..end)
            .into_par_iter()
            .map(|z| sampler.zone(job.s, z))
            .collect();
        for (z, p) in (begin..end).zip(&all) {
            let corner = |i: usize, j: usize| {
                let s = &p[j * width + i];
                job.corner((s.x[0], s.x[1]), 0.0, s, z)
            };
            square(parts, &corner, &mut |t| r.fill(t, 1.0));
            if lines {
                outline(parts, &corner, &mut |a, b| r.edge(a, b, 0.0));
            }
        }
    }
}

/// The triangles of a lattice of corners.
pub(super) fn square(
    parts: usize,
    corner: &dyn Fn(usize, usize) -> Corner,
    fill: &mut dyn FnMut([Corner; 3]),
) {
    for j in 0..parts {
        for i in 0..parts {
            let [a, b, c, d] = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(u, v)| corner(i + u, j + v));
            fill([a, b, c]);
            fill([b, d, c]);
        }
    }
}

/// The sides of a lattice of corners.
pub(super) fn outline(
    parts: usize,
    corner: &dyn Fn(usize, usize) -> Corner,
    line: &mut dyn FnMut(Corner, Corner),
) {
    for i in 0..parts {
        line(corner(i, 0), corner(i + 1, 0));
        line(corner(0, i), corner(0, i + 1));
        line(corner(i, parts), corner(i + 1, parts));
        line(corner(parts, i), corner(parts, i + 1));
    }
}

/// The tetrahedra of a cube around its diagonal, by corners with x fastest.
const TETS: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 1, 5, 7],
    [0, 2, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 4, 6, 7],
];

/// A plane normal to an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plane {
    pub axis: usize,
    pub at: f64,
}

impl Plane {
    /// The axes in the plane.
    pub fn axes(&self) -> (usize, usize) {
        [(1, 2), (0, 2), (0, 1)][self.axis]
    }
}

/// Draws the section of the zones with a plane.
pub(super) fn section(job: &Job, plane: Plane, r: &mut Raster, parts: usize, lines: bool) {
    let space = &job.h.space;
    let sampler = Sampler::new(job.h, &lattice(space.element.shape, parts));
    let met: Vec<usize> = (0..space.zones)
        .into_par_iter()
        .filter(|z| meets(job, plane, *z))
        .collect();
    let (u, v) = plane.axes();
    for chunk in met.chunks(CHUNK) {
        let all: Vec<Vec<Sample>> = chunk.par_iter().map(|z| sampler.zone(job.s, *z)).collect();
        for (z, p) in chunk.iter().zip(&all) {
            let points: Vec<(f64, Corner)> = p
                .iter()
                .map(|s| {
                    let corner = job.corner((s.x[u], s.x[v]), 0.0, s, *z);
                    (s.x[plane.axis] - plane.at, corner)
                })
                .collect();
            cells(parts, &points, &mut |t| r.fill(t, 1.0));
            if lines {
                faces(parts, &points, &mut |a, b| r.edge(a, b, 0.0));
            }
        }
    }
}

/// Whether a zone may meet the plane: its nodes lie on both sides, or close to it.
fn meets(job: &Job, plane: Plane, z: usize) -> bool {
    let space = &job.h.space;
    let x = &job.s.x[plane.axis * space.nodes..];
    let (lo, hi) = space
        .zone(z)
        .iter()
        .map(|n| x[*n as usize])
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(x), b.max(x))
        });
    // Curved sides reach beyond their nodes.
    let pad = 0.15 * (hi - lo);
    lo - pad <= plane.at && plane.at <= hi + pad
}

/// A point on the plane between two points, at which their distance from it is zero.
fn between(a: &(f64, Corner), b: &(f64, Corner)) -> Corner {
    let s = a.0 / (a.0 - b.0);
    let mix = |p: f64, q: f64| p + s * (q - p);
    Corner {
        at: (mix(a.1.at.0, b.1.at.0), mix(a.1.at.1, b.1.at.1)),
        depth: 0.0,
        value: mix(a.1.value, b.1.value),
    }
}

fn cells(parts: usize, points: &[(f64, Corner)], fill: &mut dyn FnMut([Corner; 3])) {
    let n = parts + 1;
    for k in 0..parts {
        for j in 0..parts {
            for i in 0..parts {
                let corner: [&(f64, Corner); 8] = std::array::from_fn(|c| {
                    &points[((k + (c >> 2)) * n + j + (c >> 1 & 1)) * n + i + (c & 1)]
                });
                let above = corner.iter().filter(|c| c.0 >= 0.0).count();
                if above == 0 || above == 8 {
                    continue;
                }
                for t in TETS {
                    tet(t.map(|c| corner[c]), fill);
                }
            }
        }
    }
}

fn tet(t: [&(f64, Corner); 4], fill: &mut dyn FnMut([Corner; 3])) {
    let (above, below): (Vec<_>, Vec<_>) = t.into_iter().partition(|c| c.0 >= 0.0);
    match (&above[..], &below[..]) {
        ([a], [p, q, r]) | ([p, q, r], [a]) => {
            fill([between(a, p), between(a, q), between(a, r)]);
        }
        ([a, b], [p, q]) => {
            let corner = [between(a, p), between(a, q), between(b, p), between(b, q)];
            fill([corner[0], corner[1], corner[2]]);
            fill([corner[1], corner[3], corner[2]]);
        }
        _ => {}
    }
}

/// The lines in which the faces of a zone meet the plane.
fn faces(parts: usize, points: &[(f64, Corner)], line: &mut dyn FnMut(Corner, Corner)) {
    let n = parts + 1;
    for side in 0..6 {
        let (axis, end) = (side / 2, side % 2 * parts);
        let at = |i: usize, j: usize| {
            let [x, y, z] = match axis {
                0 => [end, i, j],
                1 => [i, end, j],
                _ => [i, j, end],
            };
            &points[(z * n + y) * n + x]
        };
        for j in 0..parts {
            for i in 0..parts {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
                for t in [[a, b, d], [a, c, d]] {
                    let ends: Vec<Corner> = [(0, 1), (1, 2), (0, 2)]
                        .into_iter()
                        .filter(|(p, q)| (t[*p].0 >= 0.0) != (t[*q].0 >= 0.0))
                        .map(|(p, q)| between(t[p], t[q]))
                        .collect();
                    if let [p, q] = ends[..] {
                        line(p, q);
                    }
                }
            }
        }
    }
}
