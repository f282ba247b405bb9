//! The ways to a mesh's form factor, and the choice between them: what each costs and how wrong it is.

use super::direct::{Blocks, Precision, direct};
use super::nufft::{Band, MOST_TERMS, grid};
use super::product::{least as products_least, products};
use super::sheet::{Extent, Sheet};
use super::{Rule, Sampling, Surface, Watch};
use crate::form::{FormFactor, Polyhedron};
use num_complex::Complex64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, Debug)]
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
        }
    }
}

/// Least error over the volume that double precision keeps.
pub const FINEST: f64 = 1e-12;
/// Errors that sums in single precision keep below, over the volume, where phases are small.
const SINGLE: f64 = 1e-6;

/// Seconds of one core for a step of each way. Measured on one core of a 2024 EPYC with AVX-512; only
/// their ratios choose.
mod cost {
    pub const EXACT: f64 = 6e-8;
    pub const DIRECT_32: f64 = 3e-10;
    pub const DIRECT_64: f64 = 1.1e-9;
    /// A real multiplication or addition of a matrix product.
    pub const FLOP: f64 = 1.2e-11;
    /// Spreading one sum to one cell.
    pub const SPREAD: f64 = 1.5e-10;
    /// Reading a value from one node.
    pub const READ: f64 = 1.5e-10;
    pub const POINT: f64 = 6e-9;
}

/// A way made ready for a mesh and a range of q.
pub struct Prepared<'a> {
    pub way: Way,
    pub precision: Precision,
    /// Points that stand for the surface; 0 where triangles are transformed whole.
    pub nodes: usize,
    /// Bound of the error of F over the volume: of sampling, of the transform, of rounding.
    pub error: f64,
    /// Seconds expected of one core like the one that the costs were measured on.
    pub cost_s: f64,
    how: How<'a>,
}

enum How<'a> {
    Exact(&'a Polyhedron),
    Direct {
        surface: Surface,
        corrected: bool,
        blocks: Blocks,
    },
    Product {
        surface: Surface,
        accuracy: f64,
        memory: u64,
    },
    Grid {
        surface: Surface,
        accuracy: f64,
    },
    Band(Box<Band>),
}

/// Runs of equal q_x where a transform cell by cell in z serves: one sheet, few different q_x, many q_z.
fn runs(sheets: &[Sheet]) -> Option<usize> {
    let [s] = sheets else { return None };
    let runs = s.runs().count();
    (s.z.len() >= 8 && s.xy.len() >= 4 * runs).then_some(runs)
}

impl<'a> Prepared<'a> {
    fn exact(form: &'a Polyhedron, cost_s: f64) -> Self {
        Self {
            way: Way::Exact,
            precision: Precision::Double,
            nodes: 0,
            error: FINEST,
            cost_s,
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
    let accuracy = settings.accuracy;
    let sampling = match settings.rule {
        None => Sampling::Within(0.5 * accuracy),
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
    let exact = form.triangles() as f64 * points * cost::EXACT;
    // A few q of a few triangles are not worth any preparation.
    if settings.way == Some(Way::Exact) || (settings.way.is_none() && exact < 1e-3) {
        return Ok(Prepared::exact(form, exact));
    }
    let surface = Surface::new(form.mesh(), extent.most.max(1e-9), sampling);
    let nodes = &surface.nodes;
    let n = nodes.len() as f64;
    let each = match precision {
        Precision::Single => cost::DIRECT_32,
        Precision::Double => cost::DIRECT_64,
    };
    let direct = n * points * each;
    let product = 2.0
        * 8.0
        * n
        * points
        * cost::FLOP
        * if precision == Precision::Double {
            2.0
        } else {
            1.0
        };
    let tensor = runs(sheets);
    let terms = Band::terms(nodes, &extent, accuracy);
    let width = 1.0 - accuracy.log10().floor();
    let cells = |extent: f64, half: f64| 4.0 * extent * half / std::f64::consts::PI + width;
    let (cy, cz) = (
        cells(nodes.extent(1), 0.5 * (extent.y[1] - extent.y[0])),
        cells(nodes.extent(2), 0.5 * (extent.z[1] - extent.z[0])),
    );
    let heights: usize = sheets.iter().map(|s| s.z.len()).sum();
    let nufft = if let Some(runs) = tensor {
        runs as f64 * n * 6.0 * width * width * cost::SPREAD
            + points * (16.0 * cz * 2.0 * cost::FLOP + cost::POINT)
    } else {
        let terms = terms as f64;
        terms * n * 6.0 * width * width * cost::SPREAD
            + 16.0 * cost::FLOP * terms * 3.0 * cy * (cy * cz + cz * heights as f64)
            + points * (6.0 * terms * width * cost::READ / 4.0 + cost::POINT)
    };
    let possible = tensor.is_some() || terms <= MOST_TERMS;
    let size = Bytes {
        nodes: nodes.len() as u64,
        precision,
        corrected,
        places: sheets.iter().map(|s| s.xy.len()).max().unwrap_or(0) as u64,
        heights: heights as u64,
        cells: (cy.ceil() as u64, cz.ceil() as u64),
        terms: if tensor.is_some() { 1 } else { terms as u64 },
        tensor: tensor.is_some(),
    };
    let way = settings.way.unwrap_or_else(|| {
        let all = [
            (exact, Way::Exact, true),
            (direct, Way::Direct, true),
            (product, Way::Product, !corrected),
            (nufft, Way::Nufft, possible && !corrected),
        ];
        all.into_iter()
            .filter(|a| a.2 && size.of(a.1) <= settings.memory)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(Way::Exact, |b| b.1)
    });
    let needed = size.of(way);
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
        Precision::Double => 1e-13,
    };
    let size = nodes.len();
    let sampled = if corrected {
        // The next order of the centroid's error.
        nodes.error * (0.1 * (nodes.error * 12.0).sqrt()).min(1.0)
    } else {
        nodes.error
    };
    let made = |error: f64, cost_s: f64, precision: Precision, how: How<'a>| Prepared {
        way,
        precision,
        nodes: size,
        error,
        cost_s,
        how,
    };
    Ok(match way {
        Way::Exact => Prepared::exact(form, exact),
        Way::Direct => made(
            sampled + rounding,
            direct,
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
            product,
            precision,
            How::Product {
                surface,
                accuracy,
                memory: settings.memory,
            },
        ),
        Way::Nufft if !possible => {
            return Err(format!(
                "q_x spans too much for the nonuniform transform: {terms} terms, at most {MOST_TERMS}"
            ));
        }
        Way::Nufft => {
            let error = sampled + accuracy;
            let how = if tensor.is_some() {
                How::Grid { surface, accuracy }
            } else {
                How::Band(Box::new(Band::new(surface, &extent, accuracy)))
            };
            made(error, nufft, Precision::Double, how)
        }
    })
}

/// What decides how many bytes a way needs at least, beside the mesh and the result.
struct Bytes {
    nodes: u64,
    precision: Precision,
    corrected: bool,
    places: u64,
    heights: u64,
    cells: (u64, u64),
    terms: u64,
    tensor: bool,
}

impl Bytes {
    fn of(&self, way: Way) -> u64 {
        let real = match self.precision {
            Precision::Single => 4,
            Precision::Double => 8,
        };
        let threads = rayon::current_num_threads() as u64;
        let nodes = 48 * self.nodes;
        let (cy, cz) = self.cells;
        match way {
            Way::Exact => 0,
            Way::Direct => {
                let numbers = if self.corrected { 8 + 16 + 6 } else { 8 };
                nodes + real * numbers * self.nodes + threads * (1 << 17)
            }
            Way::Product => nodes + products_least(self.places, real, threads),
            Way::Nufft => {
                let grids = 48 * cy * cz * threads.max(self.terms);
                let tables = if self.tensor {
                    16 * (self.heights * cz + self.places * (cy + 8 * cz))
                } else {
                    32 * 3 * self.terms * cy * cz
                };
                nodes + grids + tables
            }
        }
    }
}

impl Prepared<'_> {
    /// F of each sheet; `None` when stopped.
    pub fn sheets(&self, sheets: &[Sheet], watch: &Watch) -> Option<Vec<Vec<Complex64>>> {
        match &self.how {
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
        }
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
