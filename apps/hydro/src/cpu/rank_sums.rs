//! A solve by several ranks: shared nodes are exchanged and scalar products summed over all, each node counted by the rank
//! that owns it; sums without rounding have the same bits on any number of ranks.

use crate::fem::fe_space::Space;
use crate::part::Halo;
use crate::part::halo::Terms;
use greenup_ranks::{Exact, sum_exact};
use std::ops::Range;
use std::sync::{Mutex, PoisonError, RwLock};

/// The other ranks of a solve.
pub struct RankSums {
    halo: RwLock<Halo>,
    /// Whether a node is counted here.
    owned: Vec<bool>,
    /// Sums without rounding, `[component][part]`; `None` for plain sums.
    exact: Option<Vec<Mutex<Exact>>>,
    is_exact: bool,
}

impl RankSums {
    /// The ranks of a halo; `owned` says which nodes are counted here. With `exact`, scalar products are not rounded: the halo
    /// must then be by zones, else by ranks.
    pub fn new(halo: Halo, owned: Vec<bool>, exact: bool) -> Self {
        Self {
            halo: RwLock::new(halo),
            owned,
            exact: None,
            is_exact: exact,
        }
    }

    /// With room for scalar products of this number of parts.
    pub(super) fn with_slots(mut self, slots: usize) -> Self {
        let sums = || (0..slots).map(|_| Mutex::default()).collect();
        self.exact = self.is_exact.then(sums);
        self
    }

    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Nodes shared with other ranks, ascending.
    pub(super) fn shared_nodes(&self) -> Vec<u32> {
        let halo = self.halo.read().unwrap_or_else(PoisonError::into_inner);
        halo.nodes().to_vec()
    }

    /// The zones that contribute to them, ascending.
    pub(super) fn boundary(&self, space: &Space) -> Vec<u32> {
        let node = |n: u32| space.begin[n as usize] as usize..space.begin[n as usize + 1] as usize;
        let nodes = self.shared_nodes().into_iter();
        let zones = nodes.flat_map(|n| space.shares[node(n)].iter().map(|(z, _)| *z));
        let mut zones: Vec<u32> = zones.collect();
        zones.sort_unstable();
        zones.dedup();
        zones
    }

    /// Begins to exchange the contributions to shared nodes.
    pub(super) fn begin(&self, of: &dyn Terms) {
        let mut halo = self.halo.write().unwrap_or_else(PoisonError::into_inner);
        halo.begin(of);
    }

    /// Ends the exchange that was begun.
    pub(super) fn finish(&self) {
        let mut halo = self.halo.write().unwrap_or_else(PoisonError::into_inner);
        halo.finish();
    }

    /// Replaces values at shared nodes by the sums of the last exchange.
    pub(super) fn patch(&self, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        let halo = self.halo.read().unwrap_or_else(PoisonError::into_inner);
        halo.patch(component, nodes, to);
    }

    /// Sums at most [`PART`] terms without rounding, and keeps the sum in a slot.
    pub(super) fn keep(&self, slot: usize, terms: impl Iterator<Item = f64>) {
        let mut all = [0.0; PART];
        let mut count = 0;
        for (to, term) in all.iter_mut().zip(terms) {
            *to = term;
            count += 1;
        }
        if let Some(slots) = &self.exact {
            let mut sum = slots[slot].lock().unwrap_or_else(PoisonError::into_inner);
            *sum = Exact::default();
            sum.add_all(&mut all[..count]);
        }
    }

    /// Whether a node is counted here.
    pub(super) fn owned(&self) -> &[bool] {
        &self.owned
    }

    /// Puts the sums of all parts and ranks into the first part of each component, and 0 into the others.
    pub(super) fn reduce(&self, sums: &mut [f64], components: usize) {
        let halo = self.halo.read().unwrap_or_else(PoisonError::into_inner);
        let total: Vec<f64> = match &self.exact {
            None => {
                let parts = sums.len() / components;
                let mut total: Vec<f64> = sums.chunks(parts).map(|s| s.iter().sum()).collect();
                halo.ranks().sum(&mut total);
                total
            }
            Some(slots) => {
                let of = |slots: &[Mutex<Exact>]| {
                    slots.iter().fold(Exact::default(), |mut sum, s| {
                        sum.merge(&s.lock().unwrap_or_else(PoisonError::into_inner));
                        sum
                    })
                };
                let parts = slots.len() / components;
                let mut total: Vec<Exact> = slots.chunks(parts).map(of).collect();
                sum_exact(halo.ranks(), &mut total);
                total.iter().map(Exact::value).collect()
            }
        };
        let parts = sums.len() / components;
        sums.fill(0.0);
        for (c, total) in total.into_iter().enumerate() {
            sums[c * parts] = total;
        }
    }
}

/// Number of nodes of a part, the unit of work of a thread and of the scalar products.
pub const PART: usize = 1024;
