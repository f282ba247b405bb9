//! Prepares the cheapest method that is accurate enough, or the one asked for.

use super::accelerator::{Accelerator, Request};
use super::cost::{Costs, EXACT, runs};
use super::direct::{Blocks, Precision, direct};
use super::each::on_any;
use super::gemm::products;
use super::nufft::{
    BLOCK, DetectorNufft, GridNufft, MAX_SHARED, MAX_TERMS, Transform, condition, damped, growth,
};
use super::q_grid::{Extent, QGrid, part_of};
use super::{Method, Quadrature, QuadratureChoice, Sampling, Settings, Surface, Watch, each};
use crate::form::Polyhedron;
use greenup_process::memory;
use greenup_ranks::Ranks;
use greenup_setting::setting;
use num_complex::Complex64;
use std::sync::Arc;

/// Smallest error relative to the volume that double precision permits.
pub const FINEST: f64 = 1e-12;
/// q_z of one matrix product, where ranks share a tensor grid.
const HEIGHTS: usize = 256;
/// Bound of the error of sums in single precision relative to the volume, for small phases.
const SINGLE: f64 = 1e-6;

/// A method prepared for a mesh and a range of q.
pub struct Prepared<'a> {
    /// The method.
    pub method: Method,
    /// Its precision.
    pub precision: Precision,
    /// Number of quadrature nodes on the surface; 0 for the exact method.
    pub nodes: usize,
    /// Largest |F − F_exact| relative to the volume F(0) at the q it was prepared for. For the nonuniform FFT and the
    /// quadrature it is a bound; the share of rounding in other sums is its typical size.
    pub error: f64,
    /// Time expected on one core like that on which the costs were measured, s; `None` on other devices.
    pub cost_s: Option<f64>,
    how: How<'a>,
}

enum How<'a> {
    Exact(&'a Polyhedron),
    Direct {
        surface: Arc<Surface>,
        corrected: bool,
        blocks: Blocks,
    },
    Gemm {
        surface: Arc<Surface>,
        accuracy: f64,
        memory: u64,
    },
    Grid(Box<GridNufft>),
    DetectorNufft(Box<DetectorNufft>),
    Accelerated {
        on: Arc<dyn Accelerator>,
        request: Box<Request>,
        /// The nodes on the cells of the nonuniform FFT.
        sums: Option<Arc<Vec<i64>>>,
    },
}

impl<'a> Prepared<'a> {
    fn exact(form: &'a Polyhedron, cost_s: f64) -> Self {
        Self {
            method: Method::Exact,
            precision: Precision::F64,
            nodes: 0,
            error: FINEST,
            cost_s: Some(cost_s),
            how: How::Exact(form),
        }
    }
}

/// Bytes of F on a grid of several, beyond its numbers: two lists of them, of the method and of its caller; and a family of
/// the GEMM method, with three short allocations.
const OF_GRID: u64 = 2 * (24 + 16) + 96 + 3 * 40;

/// Bytes of F on some grids, with what is held per grid while it is computed.
fn bytes_of_values(grids: &[QGrid], points: usize) -> u64 {
    match grids.len() {
        0 | 1 => 16 * points as u64,
        n => 2 * 16 * points as u64 + OF_GRID * n as u64,
    }
}

/// Prepares the method asked for, or the cheapest one, for a mesh and some grids of q. All of some ranks call it for the
/// same mesh and grids; each can then compute any of the grids, with the digits that one rank has. `None` if one of them was
/// stopped.
///
/// # Errors
/// The method does not support these q, this precision or this quadrature, or the memory is too small.
pub fn prepare<'a>(
    form: &'a Polyhedron,
    grids: &[QGrid],
    settings: &Settings,
    ranks: &dyn Ranks,
    watch: &Watch,
) -> Result<Option<Prepared<'a>>, crate::GisaxsError> {
    let extent = Extent::until(grids, watch.stop);
    let stopped = on_any(ranks, extent.is_none());
    let Some(extent) = extent.filter(|_| !stopped) else {
        return Ok(None);
    };
    let what = format!("F at {} q", extent.points);
    memory::check(&what, bytes_of_values(grids, extent.points))?;
    let accuracy = settings.accuracy;
    // Where waves grow over the particle, errors grow too.
    let grown = growth(form.mesh().span_z(), &extent);
    let worse = grown * damped(&extent);
    let sampling = match settings.quadrature {
        QuadratureChoice::Fitted => Sampling::Within(0.5 * accuracy / worse.max(1.0)),
        QuadratureChoice::Rule(rule) => Sampling::Every(rule),
        QuadratureChoice::Corrected => Sampling::Every(Quadrature::Centroid),
    };
    let corrected = settings.quadrature == QuadratureChoice::Corrected;
    let precision = settings.precision.unwrap_or(if accuracy >= SINGLE {
        Precision::F32
    } else {
        Precision::F64
    });
    let points = extent.points as f64;
    let exact = form.triangles() as f64 * points * EXACT;
    // A few q of a few triangles are not worth any preparation.
    let free = settings.method.is_none() && settings.on.is_none();
    if (settings.method == Some(Method::Exact) && settings.on.is_none()) || (free && exact < 1e-3) {
        return Ok(Some(Prepared::exact(form, exact)));
    }
    let surface = Surface::until(form.mesh(), extent.most.max(1e-9), sampling, watch.stop);
    let stopped = on_any(ranks, surface.is_none());
    let Some(surface) = surface.filter(|_| !stopped).map(Arc::new) else {
        return Ok(None);
    };
    if let Some(on) = &settings.on {
        return on_accelerator(
            on,
            surface,
            (grids, &extent),
            (settings, ranks),
            (precision, corrected),
        )
        .map(Some);
    }
    if precision == Precision::F16x2 {
        return Err(format!(
            "{} is for the tensor cores of a GPU: use {}",
            setting("precision").to("f16x2"),
            setting("device").to("cuda")
        )
        .into());
    }
    let nodes = &surface.nodes;
    let transform = match settings.method {
        None | Some(Method::Nufft) => {
            Transform::plan(&surface, &extent, runs(grids).is_some(), accuracy)
        }
        _ => Transform {
            accuracy,
            error: 0.0,
        },
    };
    let costs = Costs::new(
        &surface,
        (grids, &extent),
        (precision, corrected),
        transform.accuracy,
        watch,
    );
    if on_any(ranks, watch.stopped()) {
        return Ok(None);
    }
    // For a large Im(q_z) times the size of a cell, windows lose all digits.
    let served = transform.error <= 100.0 * accuracy;
    let method = match settings.method {
        Some(method) => method,
        // Ranks with other numbers of threads could choose others.
        None => of_first(costs.cheapest(exact, served, settings.memory), ranks),
    };
    let needed = costs.bytes(method);
    if needed > settings.memory {
        let mib = |b: u64| format!("{:.1} MiB", b as f64 / f64::from(1 << 20));
        return Err(format!(
            "the memory given, {}, is too small for one tile: {} are needed for {} points on the surface",
            mib(settings.memory),
            mib(needed),
            nodes.len()
        ).into());
    }
    // Rounding errors grow with the phases and with the length of a sum.
    let rounding = match precision {
        Precision::F32 => {
            let terms = match method {
                Method::Direct => (settings.blocks.nodes as f64 / 512.0).max(1.0),
                _ => 1.0,
            };
            6e-7 * terms.sqrt() * (1.0 + extent.most * nodes.reach / 30.0)
        }
        Precision::F64 | Precision::F16x2 => 1e-13,
    };
    // For a flat solid, or near q = 0, F is the small remainder of a large sum.
    let rounding = rounding * (grown * condition(&surface, &extent) / 3.0).max(1.0);
    let size = nodes.len();
    let sampled = worse * sampled(&surface, corrected);
    let made = |error: f64, cost_s: f64, precision: Precision, how: How<'a>| Prepared {
        method,
        precision,
        nodes: size,
        error,
        cost_s: Some(cost_s),
        how,
    };
    Ok(Some(match method {
        Method::Exact => Prepared::exact(form, exact),
        Method::Direct => made(
            sampled + rounding,
            costs.direct,
            precision,
            How::Direct {
                surface,
                corrected,
                blocks: settings.blocks,
            },
        ),
        Method::Gemm | Method::Nufft if corrected => {
            return Err(format!(
                "{} needs {}",
                setting("quadrature").to("corrected"),
                setting("method").to("direct")
            )
            .into());
        }
        Method::Gemm => made(
            sampled + rounding,
            costs.product,
            precision,
            How::Gemm {
                surface,
                accuracy,
                memory: settings.memory,
            },
        ),
        Method::Nufft if !costs.transforms => {
            return Err(format!(
                "q_x spans too much for the nonuniform FFT: {} terms, at most {MAX_TERMS}",
                costs.terms
            )
            .into());
        }
        Method::Nufft if !transform.error.is_finite() => {
            let direct = setting("method").to("direct");
            return Err(
                format!("Im(q_z) is too large for the nonuniform FFT: use {direct}").into(),
            );
        }
        Method::Nufft => {
            let error = sampled + transform.error;
            let accuracy = transform.accuracy;
            let on = (ranks, watch);
            let how = if costs.tensor {
                GridNufft::new(surface, &grids[0], accuracy, on).map(|g| How::Grid(Box::new(g)))
            } else {
                DetectorNufft::over(surface, (&extent, accuracy), on)
                    .map(|d| How::DetectorNufft(Box::new(d)))
            };
            let Some(how) = how else {
                return Ok(None);
            };
            made(error, costs.nufft, Precision::F64, how)
        }
    }))
}

/// The method that the first rank chose.
fn of_first(own: Method, ranks: &dyn Ranks) -> Method {
    let mut bytes = serde_json::to_vec(&own).unwrap_or_default();
    ranks.broadcast(&mut bytes);
    serde_json::from_slice(&bytes).unwrap_or(own)
}

/// Bound of the error of the quadrature relative to the volume.
fn sampled(surface: &Surface, corrected: bool) -> f64 {
    let error = surface.nodes.error;
    if corrected {
        // The next order of the centroid's error.
        error * (0.1 * (error * 12.0).sqrt()).min(1.0)
    } else {
        error
    }
}

/// Prepares a method on another device.
fn on_accelerator<'a>(
    on: &Arc<dyn Accelerator>,
    surface: Arc<Surface>,
    (grids, extent): (&[QGrid], &Extent),
    (settings, ranks): (&Settings, &dyn Ranks),
    (precision, corrected): (Precision, bool),
) -> Result<Prepared<'a>, crate::GisaxsError> {
    if corrected {
        return Err(format!(
            "{} runs on the CPU only: use {}",
            setting("quadrature").to("corrected"),
            setting("device").to("cpu")
        )
        .into());
    }
    let grid = runs(grids).is_some();
    let plan = Transform::plan(&surface, extent, grid, settings.accuracy);
    let terms = DetectorNufft::terms(&surface.nodes, extent, plan.accuracy);
    let method = on.method(settings.method, grid, terms <= MAX_TERMS)?;
    if precision == Precision::F16x2 && method != Method::Gemm {
        return Err(format!(
            "{} needs {}",
            setting("precision").to("f16x2"),
            setting("method").to("gemm")
        )
        .into());
    }
    let rounding = match precision {
        // On rows of a detector the transform has double precision only.
        _ if method == Method::Nufft && !grid => 1e-13,
        // Sums of 2048 nodes; sines by the hardware.
        Precision::F32 | Precision::F16x2 => {
            1.5e-6 * (1.0 + extent.most * surface.nodes.reach / 30.0)
        }
        Precision::F64 => 1e-13,
    };
    let grown = growth(surface.nodes.z, extent);
    let rounding = rounding * (grown * condition(&surface, extent) / 3.0).max(1.0);
    let (transform, accuracy) = match method {
        Method::Nufft => (plan.error, plan.accuracy),
        _ => (0.0, settings.accuracy),
    };
    let nodes = surface.nodes.len();
    let error = grown * damped(extent) * sampled(&surface, false) + rounding + transform;
    let how = (method, precision, accuracy);
    let request = Box::new(Request::new(surface, grids, how, settings.memory));
    let shared = request
        .cells
        .as_ref()
        .is_some_and(|c| c.all() <= MAX_SHARED);
    let sums = if shared {
        let own = part_of(nodes, ranks.rank(), (ranks.size(), 1));
        let mut sums = on.spread(&request, own)?;
        if ranks.size() > 1 {
            ranks.sum_integers(&mut sums);
        }
        Some(Arc::new(sums))
    } else {
        None
    };
    Ok(Prepared {
        method,
        precision,
        nodes,
        error,
        cost_s: None,
        how: How::Accelerated {
            on: Arc::clone(on),
            request,
            sums,
        },
    })
}

impl Prepared<'_> {
    /// Whether another device than this CPU computes.
    pub fn accelerated(&self) -> bool {
        matches!(self.how, How::Accelerated { .. })
    }

    /// The other device, and what it computes.
    pub(super) fn on(&self) -> Option<(&Arc<dyn Accelerator>, &Request)> {
        match &self.how {
            How::Accelerated { on, request, .. } => Some((on, request)),
            _ => None,
        }
    }

    /// Number of q_z of a tensor grid that stay together when it is cut: with other cuts, digits would differ.
    pub(super) fn grain(&self) -> usize {
        match &self.how {
            How::Exact(_) | How::Direct { .. } | How::DetectorNufft(_) => 1,
            How::Gemm { .. } => HEIGHTS,
            How::Grid(_) => BLOCK,
            How::Accelerated { on, request, .. } => on.grain(request),
        }
    }

    /// F on each grid, nm³; `None` if stopped.
    ///
    /// # Errors
    /// Another device fails.
    pub fn grids(
        &self,
        grids: &[QGrid],
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, crate::GisaxsError> {
        Ok(match &self.how {
            How::Exact(form) => each(*form, grids, watch),
            How::Direct {
                surface,
                corrected,
                blocks,
            } => direct(surface, grids, *corrected, (self.precision, *blocks), watch),
            How::Gemm {
                surface,
                accuracy,
                memory,
            } => products(surface, grids, self.precision, *accuracy, *memory, watch),
            How::Grid(transform) => transform.values(&grids[0], watch).map(|v| vec![v]),
            How::DetectorNufft(band) => band.grids(grids, watch),
            How::Accelerated { on, request, sums } => {
                return on.grids(request, grids, sums.as_ref(), watch);
            }
        })
    }
}
