//! The ways to a mesh's form factor, and the choice between them: what each costs and how wrong it is.

use super::bound::{Transform, condition, damped, growth};
use super::cost::{Costs, EXACT, runs};
use super::direct::{Blocks, Precision, direct};
use super::elsewhere::Accelerator;
use super::nufft::{Band, MOST_TERMS, grid};
use super::product::products;
use super::sheet::{Extent, Sheet};
use super::{Rule, Sampling, Surface, Watch};
use crate::form::{FormFactor, Polyhedron};
use crate::memory;
use num_complex::Complex64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How F of a mesh is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// One exponential for each node and q.
    Direct,
    /// The transform of each flat triangle, to machine precision.
    Exact,
    /// Matrix products on tensor grids and blocks of a detector's rows.
    Product,
    /// The nonuniform transform.
    Nufft,
}

/// What the user asks for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `None`: the cheapest.
    pub way: Option<Way>,
    /// Error of F over the volume.
    pub accuracy: f64,
    /// Of direct sums and products; `None`: single where the accuracy allows it.
    pub precision: Option<Precision>,
    /// `None`: by the accuracy. `Some(None)`: centroids with their second order.
    pub rule: Option<Option<Rule>>,
    pub blocks: Blocks,
    /// Bytes that may be used beside the mesh and the result.
    pub memory: u64,
    /// Another device than this CPU.
    pub on: Option<Arc<dyn Accelerator>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            way: None,
            accuracy: 1e-9,
            precision: None,
            rule: None,
            blocks: Blocks::default(),
            memory: 2 << 30,
            on: None,
        }
    }
}

/// Least error over the volume that double precision keeps.
pub const FINEST: f64 = 1e-12;
/// Errors that sums in single precision keep below, over the volume, where phases are small.
const SINGLE: f64 = 1e-6;

/// A way made ready for a mesh and a range of q.
pub struct Prepared<'a> {
    pub way: Way,
    pub precision: Precision,
    /// Points that stand for the surface; 0 where triangles are transformed whole.
    pub nodes: usize,
    /// Largest |F − F_exact| over the volume (F at q = 0) at the q it was prepared for: of the nonuniform transform and
    /// of sampling a bound (see [`super::bound`]), of other sums with rounding as it is in practice.
    pub error: f64,
    /// Seconds expected of one core like the one that the costs were measured on; not of other devices.
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
    Product {
        surface: Arc<Surface>,
        accuracy: f64,
        memory: u64,
    },
    Grid {
        surface: Arc<Surface>,
        accuracy: f64,
    },
    Band(Box<Band>),
    Elsewhere {
        on: Arc<dyn Accelerator>,
        surface: Arc<Surface>,
        accuracy: f64,
        memory: u64,
    },
}

impl<'a> Prepared<'a> {
    fn exact(form: &'a Polyhedron, cost_s: f64) -> Self {
        Self {
            way: Way::Exact,
            precision: Precision::Double,
            nodes: 0,
            error: FINEST,
            cost_s: Some(cost_s),
            how: How::Exact(form),
        }
    }
}

/// Makes the asked or the cheapest way ready.
pub fn prepare<'a>(
    form: &'a Polyhedron,
    sheets: &[Sheet],
    settings: &Settings,
) -> Result<Prepared<'a>, String> {
    let extent = Extent::of(sheets);
    let what = format!("F at {} q", extent.points);
    memory::check(&what, 16 * extent.points as u64)?;
    let accuracy = settings.accuracy;
    // Where waves grow over the particle, so do errors.
    let grown = growth(form.mesh().span_z(), &extent);
    let worse = grown * damped(&extent);
    let sampling = match settings.rule {
        None => Sampling::Within(0.5 * accuracy / worse.max(1.0)),
        Some(None) => Sampling::Every(Rule::Centroid),
        Some(Some(rule)) => Sampling::Every(rule),
    };
    let corrected = settings.rule == Some(None);
    let precision = settings.precision.unwrap_or(if accuracy >= SINGLE {
        Precision::Single
    } else {
        Precision::Double
    });
    let points = extent.points as f64;
    let exact = form.triangles() as f64 * points * EXACT;
    // A few q of a few triangles are not worth any preparation.
    let free = settings.way.is_none() && settings.on.is_none();
    if (settings.way == Some(Way::Exact) && settings.on.is_none()) || (free && exact < 1e-3) {
        return Ok(Prepared::exact(form, exact));
    }
    let surface = Surface::new(form.mesh(), extent.most.max(1e-9), sampling);
    let surface = Arc::new(surface);
    if let Some(on) = &settings.on {
        return elsewhere(
            on,
            surface,
            (sheets, &extent),
            settings,
            (precision, corrected),
        );
    }
    if precision == Precision::Split {
        return Err(
            "--precision f16x2 is for the tensor cores of a GPU: take --device cuda".into(),
        );
    }
    let nodes = &surface.nodes;
    let transform = match settings.way {
        None | Some(Way::Nufft) => {
            Transform::plan(&surface, &extent, runs(sheets).is_some(), accuracy)
        }
        _ => Transform {
            accuracy,
            error: 0.0,
        },
    };
    let costs = Costs::new(
        &surface,
        (sheets, &extent),
        (precision, corrected),
        transform.accuracy,
    );
    // Where waves are damped much within a cell, windows lose all digits.
    let served = transform.error <= 100.0 * accuracy;
    let way = settings
        .way
        .unwrap_or_else(|| costs.cheapest(exact, served, settings.memory));
    let needed = costs.bytes(way);
    if needed > settings.memory {
        let mib = |b: u64| format!("{:.1} MiB", b as f64 / f64::from(1 << 20));
        return Err(format!(
            "the memory given, {}, is too small for one tile: {} are needed for {} points on the surface",
            mib(settings.memory),
            mib(needed),
            nodes.len()
        ));
    }
    // What single precision leaves, growing with the phases and with the terms of a sum.
    let rounding = match precision {
        Precision::Single => {
            let terms = match way {
                Way::Direct => (settings.blocks.nodes as f64 / 512.0).max(1.0),
                _ => 1.0,
            };
            6e-7 * terms.sqrt() * (1.0 + extent.most * nodes.reach / 30.0)
        }
        Precision::Double | Precision::Split => 1e-13,
    };
    // Of a solid that is flat, or near q = 0, F is the small rest of a large sum.
    let rounding = rounding * (grown * condition(&surface, &extent) / 3.0).max(1.0);
    let size = nodes.len();
    let sampled = worse * sampled(&surface, corrected);
    let made = |error: f64, cost_s: f64, precision: Precision, how: How<'a>| Prepared {
        way,
        precision,
        nodes: size,
        error,
        cost_s: Some(cost_s),
        how,
    };
    Ok(match way {
        Way::Exact => Prepared::exact(form, exact),
        Way::Direct => made(
            sampled + rounding,
            costs.direct,
            precision,
            How::Direct {
                surface,
                corrected,
                blocks: settings.blocks,
            },
        ),
        Way::Product | Way::Nufft if corrected => {
            return Err("the second order of a triangle goes with direct sums only".into());
        }
        Way::Product => made(
            sampled + rounding,
            costs.product,
            precision,
            How::Product {
                surface,
                accuracy,
                memory: settings.memory,
            },
        ),
        Way::Nufft if !costs.transforms => {
            return Err(format!(
                "q_x spans too much for the nonuniform transform: {} terms, at most {MOST_TERMS}",
                costs.terms
            ));
        }
        Way::Nufft if !transform.error.is_finite() => {
            return Err(
                "q_z is damped too much for the nonuniform transform: take --way direct".into(),
            );
        }
        Way::Nufft => {
            let error = sampled + transform.error;
            let accuracy = transform.accuracy;
            let how = if costs.tensor {
                How::Grid { surface, accuracy }
            } else {
                How::Band(Box::new(Band::new(surface, &extent, accuracy)))
            };
            made(error, costs.nufft, Precision::Double, how)
        }
    })
}

/// Bound of the sampling's error over the volume.
fn sampled(surface: &Surface, corrected: bool) -> f64 {
    let error = surface.nodes.error;
    if corrected {
        // The next order of the centroid's error.
        error * (0.1 * (error * 12.0).sqrt()).min(1.0)
    } else {
        error
    }
}

/// The same on another device.
fn elsewhere<'a>(
    on: &Arc<dyn Accelerator>,
    surface: Arc<Surface>,
    (sheets, extent): (&[Sheet], &Extent),
    settings: &Settings,
    (precision, corrected): (Precision, bool),
) -> Result<Prepared<'a>, String> {
    if corrected {
        return Err("the second order of a triangle runs on the CPU: take --device cpu".into());
    }
    let grid = runs(sheets).is_some();
    let plan = Transform::plan(&surface, extent, grid, settings.accuracy);
    let terms = Band::terms(&surface.nodes, extent, plan.accuracy);
    let way = on.way(settings.way, grid, terms <= MOST_TERMS)?;
    if precision == Precision::Split && way != Way::Product {
        return Err("--precision f16x2 goes with --way product".into());
    }
    let rounding = match precision {
        // On a detector's rows the transform has no single precision.
        _ if way == Way::Nufft && !grid => 1e-13,
        // Sums of 2048 nodes; sines in hardware.
        Precision::Single | Precision::Split => {
            1.5e-6 * (1.0 + extent.most * surface.nodes.reach / 30.0)
        }
        Precision::Double => 1e-13,
    };
    let grown = growth(surface.nodes.z, extent);
    let rounding = rounding * (grown * condition(&surface, extent) / 3.0).max(1.0);
    let (transform, accuracy) = match way {
        Way::Nufft => (plan.error, plan.accuracy),
        _ => (0.0, settings.accuracy),
    };
    Ok(Prepared {
        way,
        precision,
        nodes: surface.nodes.len(),
        error: grown * damped(extent) * sampled(&surface, false) + rounding + transform,
        cost_s: None,
        how: How::Elsewhere {
            on: Arc::clone(on),
            surface,
            accuracy,
            memory: settings.memory,
        },
    })
}

impl Prepared<'_> {
    /// F of each sheet; `None` when stopped.
    ///
    /// # Errors
    /// What another device said.
    pub fn sheets(
        &self,
        sheets: &[Sheet],
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, String> {
        Ok(match &self.how {
            How::Exact(form) => each(*form, sheets, watch),
            How::Direct {
                surface,
                corrected,
                blocks,
            } => direct(
                surface,
                sheets,
                *corrected,
                (self.precision, *blocks),
                watch,
            ),
            How::Product {
                surface,
                accuracy,
                memory,
            } => products(surface, sheets, self.precision, *accuracy, *memory, watch),
            How::Grid { surface, accuracy } => {
                grid(surface, &sheets[0], *accuracy, watch).map(|v| vec![v])
            }
            How::Band(band) => band.sheets(sheets, watch),
            How::Elsewhere {
                on,
                surface,
                accuracy,
                memory,
            } => {
                let how = (self.way, self.precision, *accuracy);
                return on.sheets(surface, sheets, how, *memory, watch);
            }
        })
    }
}

/// F of each sheet, one q after the other.
pub fn each<F: FormFactor + ?Sized>(
    form: &F,
    sheets: &[Sheet],
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let out: Vec<Vec<Complex64>> = sheets
        .par_iter()
        .map(|s| {
            let mut out = vec![Complex64::ZERO; s.len()];
            out.par_chunks_mut(1024)
                .enumerate()
                .for_each(|(block, to)| {
                    if watch.stopped() {
                        return;
                    }
                    for (i, f) in to.iter_mut().enumerate() {
                        *f = form.at(&s.q(block * 1024 + i).vector());
                    }
                    watch.tick(to.len() as u64);
                });
            out
        })
        .collect();
    (!watch.stopped()).then_some(out)
}
