//! Exact counts, nothing held but what repeats.

use super::Stop;
use super::memo::Memo;
pub use super::parallel::Limits;
use super::parallel::{place, share, tasks};
use super::walk::Walker;
use crate::error::SpaceError;
use crate::plan::Space;
use crate::plan::compile::Nest;

struct Counter<'a> {
    walker: Walker<'a>,
    memos: Vec<Memo<u128>>,
    buffers: Vec<Vec<u64>>,
    key: Vec<Vec<u64>>,
    bytes: usize,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    checked: u64,
}

/// Points that pass the filters for which `active` holds.
///
/// # Errors
/// A fault of the space, or the caller stopped it.
pub fn count(space: &Space, active: impl Fn(usize) -> bool, limits: &Limits) -> Result<u128, Stop> {
    let nest = Nest::new(space, active);
    let mut first = Walker::new(&nest);
    if !first.constants_hold()? {
        return Ok(0);
    }
    let mut total = 1_u128;
    for &root in &nest.tree.roots {
        let least = if limits.threads > 1 {
            16 * limits.threads
        } else {
            1
        };
        let tasks = tasks(&mut first, root, least)?;
        let (_, counts) = share(
            limits.threads,
            tasks.len(),
            || Counter::new(&nest, limits),
            |c, t| {
                place(&mut c.walker, &tasks[t]);
                tasks[t].next.map_or(Ok(1), |k| c.below(k))
            },
        )?;
        total = counts
            .into_iter()
            .try_fold(0_u128, |a, (_, c)| a.checked_add(c))
            .and_then(|c| total.checked_mul(c))
            .ok_or_else(too_many)?;
        if total == 0 {
            break;
        }
    }
    Ok(total)
}

/// Points of the parameters alone, no filter applied.
///
/// # Errors
/// As [`count`].
pub fn count_unfiltered(space: &Space, limits: &Limits) -> Result<u128, Stop> {
    count(space, |_| false, limits)
}

fn too_many() -> SpaceError {
    SpaceError::new("the space has more than 3.4e38 points")
}

impl<'a> Counter<'a> {
    fn new(nest: &'a Nest<'a>, limits: &Limits<'a>) -> Self {
        Self {
            walker: Walker::new(nest),
            memos: nest
                .levels
                .iter()
                .map(|l| Memo::new(l.key.as_deref()))
                .collect(),
            buffers: nest.levels.iter().map(|_| Vec::new()).collect(),
            key: nest.levels.iter().map(|_| Vec::new()).collect(),
            bytes: limits.bytes / limits.threads.max(1),
            cancelled: limits.cancelled,
            checked: 0,
        }
    }

    /// Points of the group of levels headed by `k`.
    fn below(&mut self, k: usize) -> Result<u128, Stop> {
        let mut key = std::mem::take(&mut self.key[k]);
        if let Some(known) = self.memos[k].get(&self.walker.slots.words, &mut key) {
            self.key[k] = key;
            return Ok(known);
        }
        self.housekeeping()?;
        let count = self.fresh(k);
        if let Ok(c) = count {
            self.memos[k].insert(&key, c);
        }
        self.key[k] = key;
        count
    }

    /// Points below a chosen value of level `k`.
    fn after(&mut self, k: usize) -> Result<u128, Stop> {
        let nest = self.walker.nest;
        let mut product = 1_u128;
        for &child in &nest.tree.children[k] {
            product = product
                .checked_mul(self.below(child)?)
                .ok_or_else(too_many)?;
            if product == 0 {
                break;
            }
        }
        Ok(product)
    }

    fn fresh(&mut self, k: usize) -> Result<u128, Stop> {
        let nest = self.walker.nest;
        let level = &nest.levels[k];
        if level.tests.is_empty() && !level.matters {
            // Nothing depends on the value: all lead to the same.
            let values = self
                .walker
                .candidates
                .count(nest.space, k, &self.walker.slots);
            if let Ok(values) = values {
                let below = if values == 0 { 0 } else { self.after(k)? };
                return u128::from(values)
                    .checked_mul(below)
                    .ok_or_else(|| too_many().into());
            }
        }
        let mut values = std::mem::take(&mut self.buffers[k]);
        let found = self.walker.survivors(k, &mut values);
        let total = found.and_then(|()| {
            if nest.tree.children[k].is_empty() {
                return Ok(values.len() as u128);
            }
            let mut total = 0_u128;
            let mut below = None;
            for &v in &values {
                let count = match below {
                    Some(c) if !level.matters => c,
                    _ => {
                        self.walker.enter(k, v);
                        self.after(k)?
                    }
                };
                below = Some(count);
                total = total.checked_add(count).ok_or_else(too_many)?;
            }
            Ok(total)
        });
        self.buffers[k] = values;
        total
    }

    /// Now and then: does the user wait, is there memory.
    fn housekeeping(&mut self) -> Result<(), Stop> {
        if self.walker.looked < self.checked {
            return Ok(());
        }
        self.checked = self.walker.looked + 100_000;
        if (self.cancelled)() {
            return Err(Stop::Cancelled);
        }
        if self.memos.iter().map(Memo::bytes).sum::<usize>() > self.bytes {
            self.memos.iter_mut().for_each(Memo::clear);
        }
        Ok(())
    }
}
