//! Exact counts, nothing held but what repeats.

use super::Stop;
use super::walk::Walker;
pub use super::walk::parallel::Limits;
use super::walk::parallel::{go_to, share, tasks};
use super::walk::recall::Recall;
use crate::error::SpaceError;
use crate::plan::Space;
use crate::plan::nest::compile::Nest;

struct Counter<'a>(Recall<'a, u128>);

/// Points that pass the filters for which `active` holds.
///
/// # Errors
/// A fault of the space, or the caller stopped it.
pub fn count(space: &Space, active: impl Fn(usize) -> bool, limits: &Limits) -> Result<u128, Stop> {
    count_nest(&Nest::new(space, active), limits)
}

/// Points of a nest.
pub(super) fn count_nest<'a>(nest: &'a Nest<'a>, limits: &Limits<'a>) -> Result<u128, Stop> {
    let mut first = Walker::new(nest);
    first.cancelled = limits.cancelled;
    if !first.constants_hold()? {
        return Ok(0);
    }
    let mut total = 1_u128;
    for &root in &nest.tree.roots {
        let least = if limits.workers() > 1 {
            16 * limits.workers()
        } else {
            1
        };
        let tasks = tasks(&mut first, root, least)?;
        let (_, counts) = share(
            limits.workers(),
            tasks.len(),
            || Counter(Recall::new(nest, limits)),
            |c, t| {
                go_to(&mut c.0.walker, &tasks[t]);
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

impl Counter<'_> {
    /// Points of the group of levels headed by `k`.
    fn below(&mut self, k: usize) -> Result<u128, Stop> {
        if let Some(known) = self.0.known(k) {
            return Ok(known);
        }
        // What is forgotten is only counted again.
        if self.0.due()? && self.0.memo_bytes() > self.0.bytes {
            self.0.forget();
        }
        let count = self.fresh(k)?;
        self.0.remember(k, count);
        Ok(count)
    }

    /// Points below a chosen value of level `k`.
    fn after(&mut self, k: usize) -> Result<u128, Stop> {
        let nest = self.0.walker.nest;
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
        let nest = self.0.walker.nest;
        let level = &nest.levels[k];
        if level.tests.is_empty() && !level.matters {
            // Nothing depends on the value: all lead to the same.
            let values = self
                .0
                .walker
                .candidates
                .count(nest.space, k, &self.0.walker.slots);
            if let Ok(values) = values {
                let below = if values == 0 { 0 } else { self.after(k)? };
                return u128::from(values)
                    .checked_mul(below)
                    .ok_or_else(|| too_many().into());
            }
        }
        let mut values = std::mem::take(&mut self.0.buffers[k]);
        let found = self.0.walker.survivors(k, &mut values);
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
                        self.0.walker.enter(k, v);
                        self.after(k)?
                    }
                };
                below = Some(count);
                total = total.checked_add(count).ok_or_else(too_many)?;
            }
            Ok(total)
        });
        self.0.buffers[k] = values;
        total
    }
}
