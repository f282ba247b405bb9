//! Batches of zones, one zone per SIMD lane.

use super::kernels::{Kernels, OwnedTables};
use super::parts::with_scratch;
use crate::HydroError;
use crate::hydro::Hydro;
use crate::hydro::PointRules;
use greenup_device::HostIsa;
use greenup_setting::setting;
use rayon::prelude::*;
use std::ops::Range;

/// Batches of some zones, one zone per lane; the last batch is padded with copies of the last zone.
pub(super) struct Batches {
    pub tables: OwnedTables,
    pub kernels: Kernels,
    pub rules: PointRules,
    pub lanes: usize,
    /// The zones in their order.
    order: Vec<u32>,
    pub count: usize,
    pub dim: usize,
    pub zones: usize,
    pub nodes: usize,
    pub local: usize,
    pub energies: usize,
    pub points: usize,
    /// Kinematic nodes, [batch][local][lane].
    pub index: Vec<u32>,
    /// Energy coefficients, [batch][energy][lane].
    pub index_e: Vec<u32>,
    scratch: usize,
}

impl Batches {
    /// Batches for an instruction set, with kernels for the orders of the problem or `general` ones for any order. The zones
    /// `first`, ascending, come before the others of the range.
    ///
    /// # Errors
    /// The zones are not tensor products, or do not exist.
    pub fn new(
        h: &Hydro,
        isa: HostIsa,
        general: bool,
        range: Range<usize>,
        first: &[u32],
    ) -> Result<Self, HydroError> {
        let (space, e) = (&h.space, &h.space.element);
        h.consistent()?;
        if range.is_empty() || range.end > space.zones {
            return Err(HydroError::Device(format!(
                "zones {range:?} of {}",
                space.zones
            )));
        }
        let Some(factors) = &e.factors else {
            return Err(HydroError::Device(format!(
                "partial assembly needs quadrilaterals or hexahedra: use {} for a {:?}",
                setting("assembly").to("full"),
                e.shape
            )));
        };
        let tables = OwnedTables::new(factors);
        let order = if general { 0 } else { e.order };
        let kernels = Kernels::of(isa.get(), space.dim, order, e.energy_order);
        let lanes = isa.get().vector_bytes() / 8;
        // SAFETY: the tables are alive.
        let scratch = unsafe { (kernels.scratch)(tables.get()) } as usize;
        let rest =
            (range.start as u32..range.end as u32).filter(|z| first.binary_search(z).is_err());
        let order: Vec<u32> = first.iter().copied().chain(rest).collect();
        let mut b = Self {
            tables,
            kernels,
            rules: h.rules(),
            lanes,
            count: order.len().div_ceil(lanes),
            order,
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

    /// Checks that fields have values for all nodes, and energies for all zones, as the kernels index them.
    ///
    /// # Panics
    /// A length differs.
    pub fn check(&self, fields: &[&[f64]], energies: &[&[f64]]) {
        assert!(
            fields.iter().all(|f| f.len() == self.dim * self.nodes)
                && energies
                    .iter()
                    .all(|e| e.len() == self.zones * self.energies),
            "fields of another problem"
        );
    }

    /// Number of zones of a batch without padding.
    pub fn real(&self, b: usize) -> usize {
        (self.order.len() - b * self.lanes).min(self.lanes)
    }

    /// The zone in a lane of a batch.
    pub fn zone(&self, b: usize, lane: usize) -> usize {
        self.order[(b * self.lanes + lane).min(self.order.len() - 1)] as usize
    }

    /// Batch and lane of each zone, by their numbers from the first of the range on.
    pub fn places(&self) -> Vec<(usize, usize)> {
        let from = self.order.iter().min().copied().unwrap_or(0);
        let mut out = vec![(0, 0); self.order.len()];
        for (i, z) in self.order.iter().enumerate() {
            out[(z - from) as usize] = (i / self.lanes, i % self.lanes);
        }
        out
    }

    /// Reorders values [zone][n] of all zones to [batch][n][lane].
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

    /// Calls `f` for each batch in parallel, with scratch memory.
    pub fn each(&self, f: impl Fn(usize, &mut [f64]) + Sync) {
        self.each_of(0..self.count, f);
    }

    /// The same for a range of batches.
    pub fn each_of(&self, batches: Range<usize>, f: impl Fn(usize, &mut [f64]) + Sync) {
        batches
            .into_par_iter()
            .with_min_len(8)
            .for_each(|b| self.with_room(|s| f(b, s)));
    }

    /// Calls `f` with the scratch memory of the thread.
    pub fn with_room<T>(&self, f: impl FnOnce(&mut [f64]) -> T) -> T {
        with_scratch(self.scratch, f)
    }
}
