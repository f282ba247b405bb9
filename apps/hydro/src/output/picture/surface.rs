//! The outer faces of a mesh in space, seen from afar, with light.

use super::plane::outline;
use super::raster::{Corner, Raster};
use super::view::Surface;
use super::{Job, triangle};
use crate::fem::element::{Shape, node_positions};
use crate::output::fields::{Sample, Sampler};
use hashbrown::HashMap;
use rayon::prelude::*;

/// Direction to the viewer, over the corner of least x and y.
const VIEWER: [f64; 3] = [-0.62, -1.0, 0.72];

/// How far behind the nearest face lines are still drawn, of the size of the picture.
const BEHIND: f64 = 0.003;
/// Brightness in the shadow: more of it would make other values of the colours.
const DARK: f64 = 0.88;

/// A view without perspective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    right: [f64; 3],
    up: [f64; 3],
    to: [f64; 3],
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    a.map(|x| x / length)
}

impl Camera {
    pub fn new() -> Self {
        let to = unit(VIEWER);
        let right = unit(cross([0.0, 0.0, 1.0], to));
        Self {
            right,
            up: cross(to, right),
            to,
        }
    }

    /// Position in the picture.
    pub fn at(&self, x: [f64; 3]) -> (f64, f64) {
        (dot(self.right, x), dot(self.up, x))
    }

    /// Brightness of a triangle in space: full light comes from the viewer's left shoulder.
    fn light(&self, [a, b, c]: [[f64; 3]; 3]) -> f64 {
        let from = |p: [f64; 3]| std::array::from_fn(|i| p[i] - a[i]);
        let normal = cross(from(b), from(c));
        let length = dot(normal, normal).sqrt();
        let lamp = unit(std::array::from_fn(|i| {
            self.to[i] + 0.55 * self.up[i] - 0.5 * self.right[i]
        }));
        if length > 0.0 {
            // What is seen faces the viewer.
            let facing = dot(normal, self.to).signum() / length;
            DARK + (1.0 - DARK) * (facing * dot(normal, lamp)).max(0.0)
        } else {
            1.0
        }
    }
}

/// Reference coordinates of a corner.
fn corner_position(shape: Shape, c: usize) -> [f64; 3] {
    std::array::from_fn(|g| match shape {
        Shape::Hex => (c >> g & 1) as f64,
        _ => f64::from(c == g + 1),
    })
}

/// The zones that are drawn, as often as they are mirrored.
pub(super) struct Zones {
    /// Whether a zone is drawn.
    drawn: Vec<bool>,
    /// Signs of the coordinates of each copy.
    copies: Vec<[f64; 3]>,
    /// Range of each coordinate of all copies.
    pub bounds: [(f64, f64); 3],
}

impl Zones {
    pub fn of(job: &Job, view: &Surface) -> Self {
        let space = &job.h.space;
        let mut bounds = [(f64::INFINITY, f64::NEG_INFINITY); 3];
        let drawn = (0..space.zones)
            .map(|z| {
                let own = space.gather(&job.s.x, z);
                let x = || own.chunks(space.element.local);
                let mean = |c: &[f64]| c.iter().sum::<f64>() / c.len() as f64;
                let mut centre = [0.0; 3];
                centre.iter_mut().zip(x()).for_each(|(to, c)| *to = mean(c));
                let drawn = view.only.as_ref().is_none_or(|r| r.holds(centre));
                if drawn {
                    for (b, c) in bounds.iter_mut().zip(x()) {
                        *b = c.iter().fold(*b, |(lo, hi), v| (lo.min(*v), hi.max(*v)));
                    }
                }
                drawn
            })
            .collect();
        let mut copies = vec![[1.0; 3]];
        if view.mirror {
            let sign = |i: usize, g: usize| if i >> g & 1 == 0 { 1.0 } else { -1.0 };
            let before = |s: &[f64; 3]| s.iter().zip(VIEWER).all(|(s, v)| s * v > 0.0);
            copies = (0..8)
                .map(|i| std::array::from_fn(|g| sign(i, g)))
                .collect();
            copies.retain(|s| !before(s));
            bounds = bounds.map(|(lo, hi)| (-hi.max(-lo), hi.max(-lo)));
        }
        if bounds.iter().any(|(lo, hi)| lo > hi) {
            bounds = [(0.0, 1.0); 3];
        }
        Self {
            drawn,
            copies,
            bounds,
        }
    }
}

/// (zone, face) of the faces that one of the drawn zones has alone.
fn outer(job: &Job, shown: &Zones) -> Vec<(usize, usize)> {
    let space = &job.h.space;
    let shape = space.element.shape;
    // Local numbers of the corners' nodes.
    let nodes = node_positions(shape, space.element.order);
    let local: Vec<usize> = (0..shape.corners())
        .filter_map(|c| {
            let want = corner_position(shape, c);
            let near = |p: &Vec<f64>| p.iter().zip(want).all(|(p, w)| (p - w).abs() < 1e-9);
            nodes.iter().position(near)
        })
        .collect();
    let mut seen: HashMap<Vec<u32>, Option<(usize, usize)>> = HashMap::new();
    for z in (0..space.zones).filter(|z| shown.drawn[*z]) {
        let own = space.zone(z);
        for (f, corners) in shape.faces().iter().enumerate() {
            let mut key: Vec<u32> = corners.iter().map(|c| own[local[*c]]).collect();
            key.sort_unstable();
            seen.entry(key)
                .and_modify(|e| *e = None)
                .or_insert(Some((z, f)));
        }
    }
    let mut all: Vec<(usize, usize)> = seen.into_values().flatten().collect();
    all.sort_unstable();
    all
}

/// Draws the outer faces.
pub(super) fn surface(
    job: &Job,
    (camera, shown): (&Camera, &Zones),
    r: &mut Raster,
    parts: usize,
    lines: bool,
) {
    let shape = job.h.space.element.shape;
    let samplers: Vec<Sampler> = (shape.faces().iter())
        .map(|corners| {
            let corner: Vec<[f64; 3]> =
                corners.iter().map(|c| corner_position(shape, *c)).collect();
            let positions: Vec<Vec<f64>> = (0..=parts)
                .flat_map(|j| (0..=parts).map(move |i| (i, j)))
                .map(|(i, j)| {
                    let (u, v) = (i as f64 / parts as f64, j as f64 / parts as f64);
                    let weights = match corner.len() {
                        4 => vec![(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v],
                        _ => {
                            let (u, v) = triangle(u, v);
                            vec![1.0 - u - v, u, v]
                        }
                    };
                    let mix = |g: usize| weights.iter().zip(&corner).map(|(w, c)| w * c[g]).sum();
                    (0..3).map(mix).collect()
                })
                .collect();
            Sampler::new(job.h, &positions)
        })
        .collect();
    let own: Vec<(usize, Vec<Sample>)> = outer(job, shown)
        .into_par_iter()
        .map(|(z, f)| (z, samplers[f].zone(job.s, z)))
        .collect();
    let all: Vec<(usize, Vec<Sample>)> = (shown.copies.iter())
        .flat_map(|sign| {
            own.iter().map(move |(z, p)| {
                let mirrored = |s: &Sample| Sample {
                    x: std::array::from_fn(|g| sign[g] * s.x[g]),
                    ..*s
                };
                (*z, p.iter().map(mirrored).collect())
            })
        })
        .collect();
    let width = parts + 1;
    let of = |z: usize, s: &Sample| job.corner(camera.at(s.x), dot(camera.to, s.x), s, z);
    for (z, p) in &all {
        for j in 0..parts {
            for i in 0..parts {
                let cell =
                    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(u, v)| &p[(j + v) * width + i + u]);
                for t in [[0, 1, 2], [1, 3, 2]] {
                    let corners = t.map(|k| of(*z, cell[k]));
                    r.fill(corners, camera.light(t.map(|k| cell[k].x)));
                }
            }
        }
    }
    if lines {
        let size = (r.x.1 - r.x.0).max(r.y.1 - r.y.0);
        for (z, p) in &all {
            let corner = |i: usize, j: usize| of(*z, &p[j * width + i]);
            outline(parts, &corner, &mut |a: Corner, b: Corner| {
                r.edge(a, b, BEHIND * size);
            });
        }
    }
}
