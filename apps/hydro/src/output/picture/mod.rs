//! Pictures of a field: in 1D a line, in 2D the moved mesh, in 3D planes through it and its outer faces.

mod chart;
mod edges;
mod plane;
mod raster;
mod scene;
mod surface;
pub(super) mod view;

pub use chart::Common;
pub use scene::{Pixels, Scene};
pub use view::{MeshLines, Region, Slice, Surface, View, drawable};

use super::exact::exact;
use super::fields::{bounds, sample};
use crate::engine::State;
use crate::fem::element::Shape;
use crate::hydro::Hydro;
use crate::output::solution::beside;
use greenup_report::chart::axis::short;
use greenup_report::chart::{Axis, Scale, Unit};
use plane::Plane;
use raster::Raster;
use scene::{AXES, Edge, Job, Shown, Tick, lattice, triangle};

/// Most subdivisions of the edges of a zone.
const PARTS: f64 = 8.0;
/// Length of an edge of the bounding box for its marks, pixels: they have as much room as labels next to each other.
const EDGE: f64 = 260.0;
/// Zones narrower than this many pixels have no lines with [`MeshLines::Auto`].
const NARROW: f64 = 8.0;

impl Scene {
    /// Evaluates a state at time `t` after so many steps.
    pub fn new(h: &Hydro, s: &State, view: &View, (t, step): (f64, usize), size: Pixels) -> Self {
        let job = Job {
            h,
            s,
            field: view.field,
        };
        let panels = match h.space.dim {
            1 => vec![line(&job, view, t)],
            2 => vec![flat(&job, view, size)],
            _ => space(&job, view, size),
        };
        Self {
            field: view.field,
            t,
            step,
            panels,
        }
    }
}

/// Width and height over the longer of them that a picture has in its panel.
fn longer(size: Pixels, panels: usize, (x, y): ((f64, f64), (f64, f64))) -> f64 {
    let columns = (size.width / 330.0).floor().clamp(1.0, panels as f64);
    // Labels and the colour bar take the rest.
    let panel = size.width / columns;
    let aspect = (y.1 - y.0) / (x.1 - x.0);
    let width = (panel - 110.0)
        .max(100.0)
        .min(chart::TALLEST * panel / aspect);
    (width.max(width * aspect) * size.scale).clamp(16.0, 4096.0)
}

/// Subdivisions of the edges of zones, and whether they are drawn.
fn detail(job: &Job, view: &View, longer: f64, scale: f64) -> (usize, bool) {
    let d = job.h.space.dim as f64;
    let zone = longer / (job.h.space.zones as f64).powf(1.0 / d) / scale;
    let drawn = match view.mesh_lines {
        MeshLines::On => true,
        MeshLines::Off => false,
        MeshLines::Auto => zone >= NARROW,
    };
    let least = if job.h.space.element.order > 1 {
        2.0
    } else {
        1.0
    };
    let parts = (zone * scale / 4.0).ceil().clamp(least, PARTS) as usize;
    (parts, drawn)
}

fn flat(job: &Job, view: &View, size: Pixels) -> Shown {
    let b = bounds(job.h, job.s);
    let long = longer(size, 1, (b[0], b[1]));
    let (parts, lines) = detail(job, view, long, size.scale);
    let mut raster = Raster::new(b[0], b[1], long);
    plane::flat(job, &mut raster, parts, lines);
    Shown::Plane {
        title: String::new(),
        axes: (AXES[0], AXES[1]),
        raster,
    }
}

fn space(job: &Job, view: &View, size: Pixels) -> Vec<Shown> {
    let b = bounds(job.h, job.s);
    if let Some(surface) = &view.surface {
        let shown = surface::Zones::of(job, surface);
        // Edges are smooth when a finer picture is scaled down.
        let fine = Pixels {
            scale: 2.0 * size.scale,
            ..size
        };
        return vec![outside(job, view, fine, (&shown, 1))];
    }
    let slices = if view.slices.is_empty() {
        view::default_slices(job.h, &b)
    } else {
        view.slices.clone()
    };
    let panels = slices.len() + usize::from(view.slices.is_empty());
    let mut out: Vec<Shown> = slices
        .iter()
        .map(|slice| {
            let (lo, hi) = b[slice.axis];
            // A little off the faces of zones, of which rounding decides on which side they lie.
            let off = 1e-9 * (hi - lo);
            let at = (slice.at + off).min(hi - off);
            let plane = Plane {
                axis: slice.axis,
                at,
            };
            let (u, v) = plane.axes();
            let long = longer(size, panels, (b[u], b[v]));
            let (parts, lines) = detail(job, view, long, size.scale);
            let mut raster = Raster::new(b[u], b[v], long);
            plane::section(job, plane, &mut raster, parts, lines);
            Shown::Plane {
                title: format!("plane {} = {}", AXES[slice.axis], short(slice.at)),
                axes: (AXES[u], AXES[v]),
                raster,
            }
        })
        .collect();
    if view.slices.is_empty() {
        let all = surface::Zones::of(job, &Surface::default());
        out.push(outside(job, view, size, (&all, 4)));
    }
    out
}

/// The outer faces with the edges of the bounding box.
fn outside(
    job: &Job,
    view: &View,
    size: Pixels,
    (shown, panels): (&surface::Zones, usize),
) -> Shown {
    let b = shown.bounds;
    let camera = surface::Camera::new();
    let corner = |i: usize| -> [f64; 3] {
        std::array::from_fn(|g| if i >> g & 1 == 0 { b[g].0 } else { b[g].1 })
    };
    let around = |pick: fn((f64, f64)) -> f64| {
        (0..8)
            .map(|i| pick(camera.at(corner(i))))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                (a.min(v), b.max(v))
            })
    };
    let (x, y) = (around(|p| p.0), around(|p| p.1));
    let long = longer(size, panels, (x, y));
    let (parts, lines) = detail(job, view, long, size.scale);
    let mut raster = Raster::new(x, y, long).with_depth();
    surface::surface(job, (&camera, shown), &mut raster, parts, lines);
    let middle = (0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1));
    // Edges on the outline: two at the bottom, one upright.
    let edges = [(0, 0, 1), (1, 0, 2), (2, 1, 5)]
        .into_iter()
        .map(|(g, p, q): (usize, usize, usize)| {
            let ends = [camera.at(corner(p)), camera.at(corner(q))];
            let half = |f: fn((f64, f64)) -> f64| 0.5 * (f(ends[0]) + f(ends[1]));
            let at = (half(|p| p.0), half(|p| p.1));
            let out = (at.0 - middle.0, at.1 - middle.1);
            let away = |p: (f64, f64), by: f64| (p.0 + by * out.0, p.1 + by * out.1);
            let axis = Axis::new("", Unit::None, Scale::Linear).over(b[g].0, b[g].1);
            let span = axis.resolve(std::iter::empty());
            let tick = |(v, label): (f64, String)| {
                let share = (v - b[g].0) / (b[g].1 - b[g].0);
                let along =
                    |f: fn((f64, f64)) -> f64| f(ends[0]) + share * (f(ends[1]) - f(ends[0]));
                let p = (along(|p| p.0), along(|p| p.1));
                Tick {
                    ends: [p, away(p, 0.025)],
                    label,
                    at: away(p, 0.09),
                }
            };
            Edge {
                ends,
                name: AXES[g].to_owned(),
                at: away(at, 0.2),
                ticks: axis
                    .ticks(&span, EDGE, true)
                    .into_iter()
                    .map(tick)
                    .collect(),
            }
        })
        .collect();
    Shown::Surface { raster, edges }
}

/// A field over x: a line per zone, as it may jump between zones.
fn line(job: &Job, view: &View, t: f64) -> Shown {
    const PARTS: usize = 16;
    let mut zones: Vec<Vec<(f64, f64)>> = sample(job.h, job.s, &lattice(Shape::Segment, PARTS))
        .iter()
        .zip(&job.h.material)
        .map(|(p, m)| p.iter().map(|p| (p.x[0], p.of(job.field, *m))).collect())
        .collect();
    zones.sort_by(|a, b| a[0].0.total_cmp(&b[0].0));
    let ends = bounds(job.h, job.s)[0];
    let mut computed = Vec::new();
    for z in zones {
        computed.extend(z);
        computed.push((f64::NAN, f64::NAN));
    }
    let exact = exact(job.h, t, view.e0).map_or_else(Vec::new, |e| {
        let values = computed.iter().map(|p| p.1).filter(|v| v.is_finite());
        let limit = if e.unbounded == Some(job.field) {
            values.fold(0.0, f64::max)
        } else {
            f64::INFINITY
        };
        e.line(&[ends.0, 0.0, 0.0], &[ends.1, 0.0, 0.0])
            .into_iter()
            .filter_map(|(s, e)| {
                let x = ends.0 + s * (ends.1 - ends.0);
                Some((x, beside(e.of(job.field)?, limit)))
            })
            .collect()
    });
    Shown::Line { computed, exact }
}

#[cfg(test)]
mod tests;
