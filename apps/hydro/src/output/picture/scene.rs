//! What is drawn of a state.

use super::raster::{Corner, Raster};
use crate::engine::State;
use crate::fem::element::Shape;
use crate::hydro::Hydro;
use crate::output::fields::{Field, Sample};

/// What is drawn of a state at one time.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(super) field: Field,
    pub(super) t: f64,
    pub(super) step: usize,
    pub(super) panels: Vec<Shown>,
}

/// Size of the drawings of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Pixels {
    /// Width of the figure, pixels of 1/96 inch.
    pub width: f64,
    /// Pixels of a drawing per pixel of the figure.
    pub scale: f64,
}

/// A panel of a scene.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// A line per zone over x, and the exact solution.
    Line {
        computed: Vec<(f64, f64)>,
        exact: Vec<(f64, f64)>,
    },
    /// A plane with its axes.
    Plane {
        title: String,
        axes: (&'static str, &'static str),
        raster: Raster,
    },
    /// Outer faces: edges of the bounding box with their names.
    Surface { raster: Raster, edges: Vec<Edge> },
}

/// An edge of the bounding box, and the position of its name.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) ends: [(f64, f64); 2],
    pub(super) name: String,
    pub(super) at: (f64, f64),
    /// Marks at round values: where each begins and ends, its value, and where that stands.
    pub(super) ticks: Vec<Tick>,
}

/// A mark on an edge.
#[derive(Clone, Debug)]
pub(super) struct Tick {
    pub(super) ends: [(f64, f64); 2],
    pub(super) label: String,
    pub(super) at: (f64, f64),
}

/// What is being drawn.
pub(super) struct Job<'a> {
    pub(super) h: &'a Hydro,
    pub(super) s: &'a State,
    pub(super) field: Field,
}

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

impl Job<'_> {
    pub(super) fn corner(&self, at: (f64, f64), depth: f64, s: &Sample, z: usize) -> Corner {
        Corner {
            at,
            depth,
            value: s.of(self.field, self.h.material[z]),
        }
    }
}

/// A point of the unit square in the reference triangle; one side becomes a point.
pub(super) fn triangle(u: f64, v: f64) -> (f64, f64) {
    (u, v * (1.0 - u))
}

/// Reference positions of a lattice with so many parts along each edge, x fastest. Those of simplices are those of a
/// cube of which sides become edges.
pub(super) fn lattice(shape: Shape, parts: usize) -> Vec<Vec<f64>> {
    let (d, n) = (shape.dim(), parts + 1);
    (0..n.pow(d as u32))
        .map(|i| {
            let mut at: Vec<f64> = (0..d as u32)
                .map(|g| (i / n.pow(g) % n) as f64 / parts as f64)
                .collect();
            if !shape.tensor() {
                let mut left = 1.0;
                for x in &mut at {
                    let u = *x;
                    *x = u * left;
                    left *= 1.0 - u;
                }
            }
            at
        })
        .collect()
}
