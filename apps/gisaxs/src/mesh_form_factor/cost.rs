//! Cost of each method in time and memory.

use super::direct::Precision;
use super::nufft::{DetectorNufft, MAX_TERMS, PARTS};

use super::gemm::{families, least as products_least, serves as pairs};
use super::q_grid::{Extent, QGrid};
use super::{Method, Surface, Watch};
use std::f64::consts::PI;

// Seconds per step of each method, measured on one core of a 2024 EPYC with AVX-512; the selection depends only on
// their ratios.
/// The exact transform of a triangle at one q.
pub(super) const EXACT: f64 = 6e-8;
/// A node and a q of the direct method in single precision.
const DIRECT_32: f64 = 3e-10;
/// The same in double precision.
const DIRECT_64: f64 = 1.1e-9;
/// A real multiplication or addition of a matrix product.
const FLOP: f64 = 6e-12;
/// A factor of a matrix product: one exponential of a node and a position, with its weights.
const LEFT: f64 = 3e-9;
/// One exponential of a node and a q_z.
const RIGHT: f64 = 1.1e-9;
/// Starting the exponentials of a node.
const START: f64 = 3e-8;
/// Spreading one sum onto one cell.
const SPREAD: f64 = 1.5e-10;
/// Interpolation: one value from one node.
const READ: f64 = 1.5e-10;
/// The rest of the work at each q.
const POINT: f64 = 3e-9;

/// Number of runs of equal q_x, if the nonuniform FFT for tensor grids suits: one grid, few different q_x, many q_z.
pub(crate) fn runs(grids: &[QGrid]) -> Option<usize> {
    let [s] = grids else { return None };
    let runs = s.runs().count();
    (s.z.len() >= 8 && s.xy.len() >= 4 * runs).then_some(runs)
}

/// Time of each method for some q, s, and the sizes that determine its minimum memory beyond the mesh and the result.
pub(super) struct Costs {
    pub direct: f64,
    pub product: f64,
    pub nufft: f64,
    /// Whether the nonuniform FFT supports these q.
    pub transforms: bool,
    /// Chebyshev terms of the nonuniform FFT in q_x.
    pub terms: usize,
    /// Whether it is the one for tensor grids.
    pub tensor: bool,
    nodes: u64,
    precision: Precision,
    corrected: bool,
    positions: u64,
    heights: u64,
    cells: (u64, u64),
}

impl Costs {
    /// They are wrong if stopped.
    pub fn new(
        surface: &Surface,
        (grids, extent): (&[QGrid], &Extent),
        (precision, corrected): (Precision, bool),
        accuracy: f64,
        watch: &Watch,
    ) -> Self {
        let nodes = &surface.nodes;
        let n = nodes.len() as f64;
        let points = extent.points as f64;
        let (each, wide) = match precision {
            Precision::F32 => (DIRECT_32, 1.0),
            Precision::F64 | Precision::F16x2 => (DIRECT_64, 2.0),
        };
        let tensor = runs(grids);
        let terms = DetectorNufft::terms(nodes, extent, accuracy);
        let width = 1.0 - accuracy.log10().floor();
        let cells = |extent: f64, half: f64| 4.0 * extent * half / PI + width;
        let (cy, cz) = (
            cells(nodes.extent(1), 0.5 * (extent.y[1] - extent.y[0])),
            cells(nodes.extent(2), 0.5 * (extent.z[1] - extent.z[0])),
        );
        let heights: usize = grids.iter().map(|s| s.z.len()).sum();
        let spread = n * 6.0 * width * width * SPREAD;
        let nufft = if let Some(runs) = tensor {
            runs as f64 * spread + points * (16.0 * cz * 2.0 * FLOP + POINT)
        } else {
            let terms = terms as f64;
            terms * spread
                + 16.0 * FLOP * terms * 3.0 * cy * (cy * cz + cz * heights as f64)
                + points * (6.0 * terms * width * READ / 4.0 + POINT)
        };
        // Symmetric pairs of q_y share half of the operations.
        let operations = match grids {
            [s] if pairs(nodes, s) => 8.0,
            _ => 16.0,
        };
        // Rows that share factors compute them once.
        let factors: f64 = families(nodes, grids, accuracy)
            .take_while(|_| !watch.stopped())
            .map(|f| START + f.base.len() as f64 * LEFT)
            .sum();
        let factors = n * (factors + heights as f64 * RIGHT);
        Self {
            direct: n * points * each,
            product: operations * n * points * FLOP * wide + factors,
            nufft,
            transforms: tensor.is_some() || terms <= MAX_TERMS,
            terms,
            tensor: tensor.is_some(),
            nodes: nodes.len() as u64,
            precision,
            corrected,
            positions: grids.iter().map(|s| s.xy.len()).max().unwrap_or(0) as u64,
            heights: heights as u64,
            cells: (cy.ceil() as u64, cz.ceil() as u64),
        }
    }

    /// The fastest method that fits the memory, bytes. `exact` is the time of the exact method, s; `served` whether the
    /// nonuniform FFT is accurate enough.
    pub fn cheapest(&self, exact: f64, served: bool, memory: u64) -> Method {
        let all = [
            (exact, Method::Exact, true),
            (self.direct, Method::Direct, true),
            (self.product, Method::Gemm, !self.corrected),
            (
                self.nufft,
                Method::Nufft,
                self.transforms && served && !self.corrected,
            ),
        ];
        all.into_iter()
            .filter(|a| a.2 && self.bytes(a.1) <= memory)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(Method::Exact, |b| b.1)
    }

    /// Minimum memory of a method beyond the mesh and the result, bytes.
    pub fn bytes(&self, method: Method) -> u64 {
        let real = match self.precision {
            Precision::F32 => 4,
            Precision::F64 | Precision::F16x2 => 8,
        };
        let threads = rayon::current_num_threads() as u64;
        let nodes = 48 * self.nodes;
        let (cy, cz) = self.cells;
        match method {
            Method::Exact => 0,
            Method::Direct => {
                let numbers = if self.corrected { 8 + 16 + 6 } else { 8 };
                nodes + real * numbers * self.nodes + threads * (1 << 17)
            }
            Method::Gemm => nodes + products_least(self.positions, real, threads),
            Method::Nufft => {
                let grids = 48 * cy * cz * (PARTS as u64).max(self.terms_kept());
                let tables = if self.tensor {
                    16 * (self.heights * cz + self.positions * (cy + 8 * cz))
                } else {
                    32 * 3 * self.terms_kept() * cy * cz
                };
                nodes + grids + tables
            }
        }
    }

    fn terms_kept(&self) -> u64 {
        if self.tensor { 1 } else { self.terms as u64 }
    }
}
