//! Zones in the lanes of vectors.

use super::kernels::{Held, Kernels, Rules};
use super::parts::with_scratch;
use crate::HydroError;
use crate::hydro::Hydro;
use greenup_device::HostIsa;
use rayon::prelude::*;
use std::ops::Range;

/// Batches of zones of a range, one zone in each lane; the last is filled up with its last zone.
pub(super) struct Batches {
    pub tables: Held,
    pub kernels: Kernels,
    pub rules: Rules,
    pub lanes: usize,
    pub range: Range<usize>,
    pub count: usize,
    pub dim: usize,
    pub zones: usize,
    pub nodes: usize,
    pub local: usize,
    pub energies: usize,
    pub points: usize,
    /// [batch][local][lane] and [batch][energy][lane].
    pub index: Vec<u32>,
    pub index_e: Vec<u32>,
    scratch: usize,
}

impl Batches {
    /// # Errors
    /// Zones that are not products of segments or not there.
    pub fn new(
        h: &Hydro,
        isa: HostIsa,
        general: bool,
        range: Range<usize>,
    ) -> Result<Self, HydroError> {
        let (space, e) = (&h.space, &h.space.element);
        h.consistent()?;
        if range.is_empty() || range.end > space.zones {
            return Err(HydroError(format!("zones {range:?} of {}", space.zones)));
        }
        let Some(factors) = &e.factors else {
            return Err(HydroError(format!(
                "the matrix-free operator needs quadrilaterals or hexahedra: take --operator full for a {:?}",
                e.shape
            )));
        };
        let tables = Held::new(factors);
        let order = if general { 0 } else { e.order };
        let kernels = Kernels::of(isa.get(), space.dim, order, e.energy_order);
        let lanes = isa.get().vector_bytes() / 8;
        // SAFETY: the tables are alive.
        let scratch = unsafe { (kernels.scratch)(tables.get()) } as usize;
        let mut b = Self {
            tables,
            kernels,
            rules: h.rules(),
            lanes,
            count: range.len().div_ceil(lanes),
            range,
            dim: space.dim,
            zones: space.zones,
            nodes: space.nodes,
            local: e.local,
            energies: e.energies,
            points: e.points(),
            index: Vec::new(),
            index_e: Vec::new(),
            scratch,
        };
        b.index = b.spread(&space.of_zone, e.local);
        let all: Vec<u32> = (0..(space.zones * e.energies) as u32).collect();
        b.index_e = b.spread(&all, e.energies);
        Ok(b)
    }

    /// Whether fields are those of all nodes, and energies those of all zones, as kernels index them.
    ///
    /// # Panics
    /// They are not.
    pub fn check(&self, fields: &[&[f64]], energies: &[&[f64]]) {
        assert!(
            fields.iter().all(|f| f.len() == self.dim * self.nodes)
                && energies
                    .iter()
                    .all(|e| e.len() == self.zones * self.energies),
            "fields of another problem"
        );
    }

    /// Zones of a batch that are not there to fill it up.
    pub fn real(&self, b: usize) -> usize {
        (self.range.len() - b * self.lanes).min(self.lanes)
    }

    /// The zone in a lane.
    pub fn zone(&self, b: usize, lane: usize) -> usize {
        self.range.start + (b * self.lanes + lane).min(self.range.len() - 1)
    }

    /// From [zone][n] of all zones to [batch][n][lane].
    pub fn spread<T: Copy + Default + Send + Sync>(&self, of_zones: &[T], n: usize) -> Vec<T> {
        let mut out = vec![T::default(); self.count * n * self.lanes];
        out.par_chunks_mut(n * self.lanes)
            .enumerate()
            .for_each(|(b, to)| {
                for l in 0..self.lanes {
                    let z = self.zone(b, l);
                    for i in 0..n {
                        to[i * self.lanes + l] = of_zones[z * n + i];
                    }
                }
            });
        out
    }

    /// Runs on each batch, with room to work in.
    pub fn each(&self, f: impl Fn(usize, &mut [f64]) + Sync) {
        (0..self.count)
            .into_par_iter()
            .with_min_len(8)
            .for_each(|b| self.with_room(|s| f(b, s)));
    }

    pub fn with_room<T>(&self, f: impl FnOnce(&mut [f64]) -> T) -> T {
        with_scratch(self.scratch, f)
    }
}
