//! What each way costs, in time and in memory.

use super::direct::Precision;
use super::nufft::{Band, MOST_TERMS};
use super::pairs::serves as pairs;
use super::product::least as products_least;
use super::sheet::{Extent, Sheet};
use super::{Surface, Way};
use std::f64::consts::PI;

// Seconds of one core for a step of each way. Measured on one core of a 2024 EPYC with AVX-512; only
// their ratios choose.
/// A triangle and a q.
pub(super) const EXACT: f64 = 6e-8;
const DIRECT_32: f64 = 3e-10;
const DIRECT_64: f64 = 1.1e-9;
/// A real multiplication or addition of a matrix product.
const FLOP: f64 = 6e-12;
/// Spreading one sum to one cell.
const SPREAD: f64 = 1.5e-10;
/// Reading a value from one node.
const READ: f64 = 1.5e-10;
const POINT: f64 = 3e-9;

/// Runs of equal q_x where a transform cell by cell in z serves: one sheet, few different q_x, many q_z.
pub(crate) fn runs(sheets: &[Sheet]) -> Option<usize> {
    let [s] = sheets else { return None };
    let runs = s.runs().count();
    (s.z.len() >= 8 && s.xy.len() >= 4 * runs).then_some(runs)
}

/// Seconds of each way for some q, and what decides how many bytes each needs at least, beside the mesh
/// and the result.
pub(super) struct Costs {
    pub direct: f64,
    pub product: f64,
    pub nufft: f64,
    /// Whether the nonuniform transform serves, with so many terms along q_x.
    pub transforms: bool,
    pub terms: usize,
    /// Whether it goes cell by cell in z.
    pub tensor: bool,
    nodes: u64,
    precision: Precision,
    corrected: bool,
    places: u64,
    heights: u64,
    cells: (u64, u64),
}

impl Costs {
    pub fn new(
        surface: &Surface,
        (sheets, extent): (&[Sheet], &Extent),
        (precision, corrected): (Precision, bool),
        accuracy: f64,
    ) -> Self {
        let nodes = &surface.nodes;
        let n = nodes.len() as f64;
        let points = extent.points as f64;
        let (each, wide) = match precision {
            Precision::Single => (DIRECT_32, 1.0),
            Precision::Double | Precision::Split => (DIRECT_64, 2.0),
        };
        let tensor = runs(sheets);
        let terms = Band::terms(nodes, extent, accuracy);
        let width = 1.0 - accuracy.log10().floor();
        let cells = |extent: f64, half: f64| 4.0 * extent * half / PI + width;
        let (cy, cz) = (
            cells(nodes.extent(1), 0.5 * (extent.y[1] - extent.y[0])),
            cells(nodes.extent(2), 0.5 * (extent.z[1] - extent.z[0])),
        );
        let heights: usize = sheets.iter().map(|s| s.z.len()).sum();
        let spread = n * 6.0 * width * width * SPREAD;
        let nufft = if let Some(runs) = tensor {
            runs as f64 * spread + points * (16.0 * cz * 2.0 * FLOP + POINT)
        } else {
            let terms = terms as f64;
            terms * spread
                + 16.0 * FLOP * terms * 3.0 * cy * (cy * cz + cz * heights as f64)
                + points * (6.0 * terms * width * READ / 4.0 + POINT)
        };
        // Pairs of q_y share half of the operations.
        let operations = match sheets {
            [s] if pairs(nodes, s) => 8.0,
            _ => 16.0,
        };
        Self {
            direct: n * points * each,
            product: operations * n * points * FLOP * wide,
            nufft,
            transforms: tensor.is_some() || terms <= MOST_TERMS,
            terms,
            tensor: tensor.is_some(),
            nodes: nodes.len() as u64,
            precision,
            corrected,
            places: sheets.iter().map(|s| s.xy.len()).max().unwrap_or(0) as u64,
            heights: heights as u64,
            cells: (cy.ceil() as u64, cz.ceil() as u64),
        }
    }

    /// The way of least time that the memory holds, beside one of whole triangles in `exact` seconds; `served` says
    /// whether the nonuniform transform is accurate enough.
    pub fn cheapest(&self, exact: f64, served: bool, memory: u64) -> Way {
        let all = [
            (exact, Way::Exact, true),
            (self.direct, Way::Direct, true),
            (self.product, Way::Product, !self.corrected),
            (
                self.nufft,
                Way::Nufft,
                self.transforms && served && !self.corrected,
            ),
        ];
        all.into_iter()
            .filter(|a| a.2 && self.bytes(a.1) <= memory)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(Way::Exact, |b| b.1)
    }

    pub fn bytes(&self, way: Way) -> u64 {
        let real = match self.precision {
            Precision::Single => 4,
            Precision::Double | Precision::Split => 8,
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
                let grids = 48 * cy * cz * threads.max(self.terms_kept());
                let tables = if self.tensor {
                    16 * (self.heights * cz + self.places * (cy + 8 * cz))
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
