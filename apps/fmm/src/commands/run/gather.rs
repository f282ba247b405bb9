//! Results of all ranks in the order of the input.

use crate::FmmError;
use crate::distributed::values;
use crate::plan::{Part, Plan, merge};
use crate::precision::Real;
use greenup_app::Result;
use greenup_device::memory::bytes;
use greenup_ranks::Ranks;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// Gathers the results of ranks that are threads of this process. Each puts its own where the others can read them, and then
/// writes some of the targets out of those of all ranks, so that no two write to a cache line at the same time.
pub struct Gather<'a> {
    own: Vec<RwLock<Vec<f64>>>,
    targets: Vec<OnceLock<Arc<Vec<u32>>>>,
    pieces: Vec<Mutex<Piece<'a>>>,
}

/// What a rank writes: its first target, and the memory for each component.
type Piece<'a> = (usize, Vec<&'a mut [f64]>);

impl<'a> Gather<'a> {
    /// Gathers into `all`, `[component][target]`, for this number of targets and ranks.
    pub fn new(all: &'a mut [f64], targets: usize, ranks: usize) -> Self {
        let begin = |rank: usize| (targets as u128 * rank as u128 / ranks as u128) as usize;
        let mut pieces: Vec<_> = (0..ranks).map(|r| (begin(r), Vec::new())).collect();
        for mut component in all.chunks_mut(targets.max(1)) {
            for (rank, piece) in pieces.iter_mut().enumerate() {
                let (head, rest) = component.split_at_mut(begin(rank + 1) - begin(rank));
                piece.1.push(head);
                component = rest;
            }
        }
        Self {
            own: (0..ranks).map(|_| RwLock::default()).collect(),
            targets: (0..ranks).map(|_| OnceLock::new()).collect(),
            pieces: pieces.into_iter().map(Mutex::new).collect(),
        }
    }

    /// Says which targets a rank evaluates.
    pub fn targets(&self, rank: usize, targets: Option<&Arc<Vec<u32>>>) {
        let all = || Arc::new((0..self.count() as u32).collect());
        self.targets[rank].get_or_init(|| targets.cloned().unwrap_or_else(all));
    }

    fn count(&self) -> usize {
        let of = |p: &Mutex<Piece<'_>>| {
            let piece = p.lock().unwrap_or_else(PoisonError::into_inner);
            piece.1.first().map_or(0, |x| x.len())
        };
        self.pieces.iter().map(of).sum()
    }

    /// Computes the own results of a rank.
    pub fn evaluate(
        &self,
        rank: usize,
        f: impl FnOnce(&mut Vec<f64>) -> std::result::Result<(), FmmError>,
    ) -> Result<()> {
        let mut own = self.own[rank]
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(f(&mut own)?)
    }

    /// Writes the results at this rank's share of all targets, once all ranks have evaluated theirs.
    pub fn merge(&self, rank: usize) {
        let own: Vec<_> = (self.own.iter())
            .map(|x| x.read().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let parts: Vec<Part> = (own.iter().zip(&self.targets))
            .filter_map(|(results, targets)| {
                let targets = targets.get()?;
                Some(Part { targets, results })
            })
            .collect();
        let mut piece = self.pieces[rank]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (begin, to) = &mut *piece;
        merge(&parts, *begin, to);
    }
}

/// Gathers the results of processes on the first.
pub struct Processes {
    /// On the first: the targets of each rank.
    targets: Vec<Vec<u32>>,
    all: usize,
    outputs: usize,
}

impl Processes {
    /// For the parts of a plan; all ranks call it.
    pub fn new<R: Real>(ranks: &dyn Ranks, own: &Plan<R>) -> Self {
        let o = own.options();
        let mut count = [own.targets() as i64];
        ranks.sum_integers(&mut count);
        let own = own.own_targets().map(|t| bytes(t.as_slice()).to_vec());
        let all = match ranks.size() {
            1 => None,
            _ => ranks.gather(&own.unwrap_or_default()),
        };
        Self {
            targets: all.iter().flatten().map(|b| values(b)).collect(),
            all: count[0] as usize,
            outputs: o.kernel.outputs(o.gradient),
        }
    }

    /// Replaces the results of each rank by those of all on the first; does nothing if there is one.
    pub fn gather(&self, ranks: &dyn Ranks, results: &mut Vec<f64>) {
        if ranks.size() == 1 {
            return;
        }
        let Some(parts) = ranks.gather(bytes(results)) else {
            return;
        };
        let parts: Vec<Vec<f64>> = parts.iter().map(|b| values(b)).collect();
        results.resize(self.all * self.outputs, 0.0);
        let parts: Vec<Part> = (self.targets.iter().zip(&parts))
            .map(|(targets, results)| Part { targets, results })
            .collect();
        let mut components: Vec<_> = results.chunks_mut(self.all.max(1)).collect();
        merge(&parts, 0, &mut components);
    }
}
