//! How wrong the nonuniform transform may be: |F − F_exact| / V, at most, at all q of an [`Extent`].
//!
//! With nodes about the centre, F = −i/|q|² Σ_t (q*·s_t) w_t, where w_t stands for e^{iq·r_t}. What is wrong with it by
//! δ_t adds at most Σ|s_t| |δ_t| / |q|, so that over the volume
//!
//! error ≤ G (sampling + A / (|q| V) · δ),  G = max e^{−Im q_z z}: the growth of the wave over the particle,
//!
//! with the surface A and the least |q| at which sums are taken. Where |q| is smaller F is a power series
//! ([`super::moments`]). δ has four parts:
//! - aliasing: a wave is read between the cells of a grid, an axis after the other ([`Window::quality`]); in q_x
//!   Chebyshev's series ends;
//! - rounding of phases and places: deterministic, a few u |q| (reach + |centre|);
//! - rounding of sums: independent errors, at six standard deviations (Higham and Mary 2019). Those of cells grow by
//!   g = √Σ window² / |its transform| of an axis. A sum over c cells has partial sums of at most 1 for nodes whose window is
//!   complete and p ([`Quality::partial`]) for the w cells of a window: r = √(2 c + 2 w p²);
//! - rounding of normals, which is a share of the product of two edges, not of a triangle's area.

use super::nufft::Layout;
use super::sheet::Extent;
use super::spread::{Axis, Correction};
use super::window::{Quality, Window};
use super::{Nodes, Surface, chebyshev};
use std::f64::consts::{FRAC_PI_2, PI};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;
/// Standard deviations of rounding errors.
const SIGMA: f64 = 6.0;
/// Share of the accuracy that aliasing may take; sampling takes a half.
const SHARE: f64 = 0.4;

/// The accuracy that grids are made for, and what F may then be wrong by over the volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transform {
    pub accuracy: f64,
    pub error: f64,
}

/// Largest e^{−Im q_z z} on a surface between two heights.
pub(super) fn growth(z: [f64; 2], extent: &Extent) -> f64 {
    let corners = z.iter().flat_map(|z| extent.loss.map(|l| -l * z));
    corners.fold(f64::MIN, f64::max).exp()
}

/// What the bounds of sampling, which are of real phases, grow by where q_z is complex. They rest on the symmetric
/// functions e₃ and e₂ e₃ of three phases that sum to zero, at most 1/4 and 3/16 of p³ and p⁵; an imaginary part of δ
/// adds no more than 3 δ/p and 15/4 δ/p to them. Gauss's rules have a margin of five and more.
pub(super) fn damped(extent: &Extent) -> f64 {
    (1.0 + 20.0 * extent.damping / extent.most.max(f64::MIN_POSITIVE)).min(8.0)
}

/// A / (|q| V): what errors of waves are multiplied by, where sums are taken.
pub(super) fn condition(surface: &Surface, extent: &Extent) -> f64 {
    let nodes = &surface.nodes;
    let least = extent
        .least
        .max(surface.near_limit() / nodes.reach.max(f64::MIN_POSITIVE));
    nodes.area / (least * nodes.volume).max(f64::MIN_POSITIVE)
}

impl Transform {
    /// Grids that keep `accuracy` where double precision can; of cells in z where `tensor`, else of rows of a detector.
    pub fn plan(surface: &Surface, extent: &Extent, tensor: bool, accuracy: f64) -> Self {
        let growth = growth(surface.nodes.z, extent);
        let condition = growth * condition(surface, extent);
        let mut inner = accuracy;
        // What a loss adds is small where it matters, and takes time: only from where the rest is good enough.
        let mut loss = 0.0;
        loop {
            let finest = Window::new(0.1 * inner).width == Window::new(inner).width;
            let delta = if tensor {
                Delta::tensor(&surface.nodes, (extent, loss), inner)
            } else {
                Delta::band(&surface.nodes, (extent, loss), inner)
            };
            if condition * delta.aliasing <= SHARE * accuracy || finest {
                if loss < extent.damping {
                    loss = extent.damping;
                    continue;
                }
                let near = if extent.least * surface.nodes.reach < surface.near_limit() {
                    surface.near_error()
                } else {
                    0.0
                };
                return Self {
                    accuracy: inner,
                    error: (condition * (delta.aliasing + delta.rounding)).max(growth * near),
                };
            }
            inner *= 0.1;
        }
    }
}

/// Error of a wave at a node, over its size.
struct Delta {
    aliasing: f64,
    rounding: f64,
}

impl Delta {
    fn tensor(nodes: &Nodes, (extent, loss): (&Extent, f64), accuracy: f64) -> Self {
        let window = &Window::new(accuracy);
        let y = Axis::new(nodes.extent(1), extent.y, window);
        let z = Axis::new(nodes.extent(2), extent.z, window);
        let (across, up) = (window.quality(0.0), window.quality(loss * z.step));
        let stages = Stages::new(nodes, extent, (&y, &across), (&z, &up), window);
        let sums = stages.spread + stages.y + stages.z;
        Self {
            aliasing: (1.0 + across.error) * (1.0 + up.error) - 1.0,
            rounding: U * (SIGMA * sums + phases(nodes, extent, (y.cells + z.cells) as f64)),
        }
    }

    fn band(nodes: &Nodes, (extent, loss): (&Extent, f64), accuracy: f64) -> Self {
        let layout = Layout::new(nodes, extent, accuracy);
        let window = &layout.window;
        let (y, z) = (&layout.y, &layout.z);
        let (across, up) = (window.quality(0.0), window.quality(loss * z.step));
        let (terms, _, half) = layout.x;
        let count = layout.nodes.0 as f64;
        // The same window reads between the nodes of q_y.
        let read = across;
        let strengths = Correction::new(window, 1.0, FRAC_PI_2).error(window, FRAC_PI_2);
        let along = chebyshev::tail(half * nodes.extent(0), terms);
        // Largest Σ|ℓ_k| of polynomials between the nodes of q_x.
        let lines = 1.0 + 2.0 / PI * (terms as f64).ln();
        let stages = Stages::new(nodes, extent, (y, &across), (z, &up), window);
        // Errors of spreading are the same for all nodes of q_y; those of products are not. Coefficients in q_x are sums of
        // as many values, and are summed once more.
        let long = terms as f64 * (1.0 + read.partial) * (window.width as f64).sqrt();
        let sums = lines
            * (read.gain * stages.spread
                + read.gain * read.peak * (stages.y + stages.z + terms as f64)
                + long);
        Self {
            aliasing: (1.0 + along)
                * (1.0 + up.error)
                * (1.0 + read.error + strengths + read.gain * across.error)
                - 1.0,
            rounding: U
                * (SIGMA * sums + phases(nodes, extent, y.cells as f64 + z.cells as f64 + count)),
        }
    }
}

/// Rounding of sums, in u and standard deviations.
struct Stages {
    spread: f64,
    y: f64,
    z: f64,
}

impl Stages {
    fn new(
        nodes: &Nodes,
        extent: &Extent,
        (y, across): (&Axis, &Quality),
        (z, up): (&Axis, &Quality),
        window: &Window,
    ) -> Self {
        let half = |r: [f64; 2]| 0.5 * (r[1] - r[0]);
        let (gy, gz) = (across.gain * across.peak, up.gain * up.peak);
        let long = |cells: usize, q: &Quality| {
            let straddled = window.width as f64 * q.partial * q.partial;
            (2.0 * (cells as f64 + straddled)).sqrt()
        };
        // Phases of each cell: a product and two sums.
        let turns = |half: f64, extent: f64| 4.0 * (1.0 + half * extent);
        Self {
            // Each product of strength, wave and windows, and the sum over nodes.
            spread: gy * gz * ((nodes.len() as f64).sqrt() + 8.0),
            y: gz * long(y.cells, across) + gy * turns(half(extent.y), nodes.extent(1)),
            z: long(z.cells, up) + gz * turns(half(extent.z) + extent.damping, nodes.extent(2)),
        }
    }
}

/// Rounding of places, phases and normals, in u.
fn phases(nodes: &Nodes, extent: &Extent, cells: f64) -> f64 {
    let centre = nodes.centre.iter().map(|x| x * x).sum::<f64>().sqrt();
    // A place in cells is rounded to u × cells, at half a radian a cell and more: π/2.
    let rule = 10.0 + 0.5 * nodes.order as f64;
    12.0 * extent.most * (nodes.reach + centre)
        + PI * cells
        + 20.0
        + rule
        + 8.0 * nodes.edges / nodes.area
}
