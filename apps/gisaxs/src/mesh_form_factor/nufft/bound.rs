//! Bound of the error of the nonuniform FFT, |F − F_exact| / V, at all q of an [`Extent`].
//!
//! With nodes about the centre, F = −i/|q|² Σ_t (q*·s_t) w_t, where w_t approximates e^{iq·r_t}. Errors δ_t of w_t
//! change F by at most Σ|s_t| |δ_t| / |q|, so that, relative to the volume,
//!
//! error ≤ G (sampling + A / (|q| V) · δ),  G = max e^{−Im q_z z}: the growth of the wave over the particle,
//!
//! with the surface area A and the smallest |q| at which sums are used. For smaller |q|, F is a power series
//! ([`crate::mesh_form_factor::surface`]). δ has four parts:
//! - aliasing: interpolation between the cells of a grid, one axis after the other ([`Window::quality`]), and
//!   truncation of the Chebyshev series in q_x;
//! - rounding of phases and positions: deterministic, a few u |q| (reach + |centre|);
//! - rounding of sums: independent errors, at six standard deviations (Higham and Mary 2019). Those of cells grow by
//!   g = √Σ window² / |its transform| of an axis. A sum over c cells has partial sums of at most 1 for nodes whose
//!   window is complete and p ([`Quality::partial`]) for the w cells of a window: r = √(2 c + 2 w p²);
//! - rounding of normals, which is proportional to the product of two edges, not to the area of a triangle.

use super::spread::{Axis, Correction};
use super::transform::Layout;
use super::window::{Quality, Window};
use crate::mesh_form_factor::q_grid::Extent;
use crate::mesh_form_factor::{Nodes, Surface, chebyshev};
use std::f64::consts::{FRAC_PI_2, PI};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;
/// Standard deviations of rounding errors.
const SIGMA: f64 = 6.0;
/// Share of the accuracy for aliasing; the quadrature has a half.
const SHARE: f64 = 0.4;

/// Accuracy of the windows, and the bound of the error of F that follows.
#[derive(Clone, Copy, Debug)]
pub(in crate::mesh_form_factor) struct Transform {
    /// Accuracy for which windows are made.
    pub accuracy: f64,
    /// Bound of the error of F relative to the volume, without the quadrature.
    pub error: f64,
}

/// Largest e^{−Im q_z z} on a surface between two heights.
pub(in crate::mesh_form_factor) fn growth(z: [f64; 2], extent: &Extent) -> f64 {
    let corners = z.iter().flat_map(|z| extent.loss.map(|l| -l * z));
    corners.fold(f64::MIN, f64::max).exp()
}

/// Factor for the error bounds of quadrature rules, which hold for real phases, if q_z is complex. The bounds use the
/// symmetric functions e₃ and e₂ e₃ of three phases that sum to zero, at most 1/4 and 3/16 of p³ and p⁵; an imaginary
/// part δ adds at most 3 δ/p and 15/4 δ/p. The bounds of Gauss rules have a margin of at least five.
pub(in crate::mesh_form_factor) fn damped(extent: &Extent) -> f64 {
    (1.0 + 20.0 * extent.im_qz / extent.most.max(f64::MIN_POSITIVE)).min(8.0)
}

/// A / (|q| V) for the smallest |q| at which sums are used: the factor from errors of waves to errors of F.
pub(in crate::mesh_form_factor) fn condition(surface: &Surface, extent: &Extent) -> f64 {
    let nodes = &surface.nodes;
    let least = extent
        .least
        .max(surface.near_limit() / nodes.reach.max(f64::MIN_POSITIVE));
    nodes.area / (least * nodes.volume).max(f64::MIN_POSITIVE)
}

impl Transform {
    /// Windows that keep `accuracy`, as far as double precision permits: on a tensor grid (`tensor`) or on rows of a
    /// detector.
    pub fn plan(surface: &Surface, extent: &Extent, tensor: bool, accuracy: f64) -> Self {
        let growth = growth(surface.nodes.z, extent);
        let condition = growth * condition(surface, extent);
        let mut inner = accuracy;
        // The share of Im(q_z) is small and slow to compute: only once the rest is accurate enough.
        let mut loss = 0.0;
        loop {
            let finest = Window::new(0.1 * inner).width == Window::new(inner).width;
            let delta = if tensor {
                Delta::tensor(&surface.nodes, (extent, loss), inner)
            } else {
                Delta::band(&surface.nodes, (extent, loss), inner)
            };
            if condition * delta.aliasing <= SHARE * accuracy || finest {
                if loss < extent.im_qz {
                    loss = extent.im_qz;
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

/// Relative error of a wave at a node.
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
        // Interpolation between the nodes of q_y uses the same window.
        let read = across;
        let strengths = Correction::new(window, 1.0, FRAC_PI_2).error(window, FRAC_PI_2);
        let along = chebyshev::tail(half * nodes.extent(0), terms);
        // Largest Σ|ℓ_k| of polynomials between the nodes of q_x.
        let lines = 1.0 + 2.0 / PI * (terms as f64).ln();
        let stages = Stages::new(nodes, extent, (y, &across), (z, &up), window);
        // Errors of spreading are the same for all nodes of q_y; those of products are not. Coefficients in q_x are
        // sums of `terms` values, and are summed once more.
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

/// Rounding of the sums of each stage, in u and standard deviations.
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
        // The phase of each cell: a product and two sums.
        let turns = |half: f64, extent: f64| 4.0 * (1.0 + half * extent);
        Self {
            // Each product of strength, wave and windows, and the sum over nodes.
            spread: gy * gz * ((nodes.len() as f64).sqrt() + 8.0),
            y: gz * long(y.cells, across) + gy * turns(half(extent.y), nodes.extent(1)),
            z: long(z.cells, up) + gz * turns(half(extent.z) + extent.im_qz, nodes.extent(2)),
        }
    }
}

/// Rounding of positions, phases and normals, in u.
fn phases(nodes: &Nodes, extent: &Extent, cells: f64) -> f64 {
    let centre = nodes.centre.iter().map(|x| x * x).sum::<f64>().sqrt();
    // A position in cells is rounded to u × cells, at half a radian a cell and more: π/2.
    let rule = 10.0 + 0.5 * nodes.order as f64;
    12.0 * extent.most * (nodes.reach + centre)
        + PI * cells
        + 20.0
        + rule
        + 8.0 * nodes.edges / nodes.area
}
