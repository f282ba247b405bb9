//! A walk that remembers what it found below each group of levels.

use super::Walker;
use super::memo::Memo;
use super::parallel::Limits;
use crate::engine::Stop;
use crate::plan::nest::compile::Nest;

/// A walker with a memo, a key and a buffer for each level.
pub struct Recall<'a, T> {
    pub walker: Walker<'a>,
    /// Values of a level, kept so that they are allocated once.
    pub buffers: Vec<Vec<u64>>,
    memos: Vec<Memo<'a, T>>,
    key: Vec<Vec<u64>>,
    /// Memory for this thread.
    pub bytes: usize,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    checked: u64,
}

impl<'a, T: Copy> Recall<'a, T> {
    pub fn new(nest: &'a Nest<'a>, limits: &Limits<'a>) -> Self {
        let mut walker = Walker::new(nest);
        walker.cancelled = limits.cancelled;
        Self {
            walker,
            buffers: nest.levels.iter().map(|_| Vec::new()).collect(),
            memos: nest
                .levels
                .iter()
                .map(|l| Memo::new(l.key.as_ref()))
                .collect(),
            key: nest.levels.iter().map(|_| Vec::new()).collect(),
            bytes: limits.bytes / limits.workers(),
            cancelled: limits.cancelled,
            checked: 0,
        }
    }

    /// What is known of the group of levels headed by `k`, where the walker stands.
    pub fn known(&mut self, k: usize) -> Option<T> {
        self.memos[k].get(&self.walker.slots.words, &mut self.key[k])
    }

    /// Keeps what was found after [`Recall::known`] of the same level knew nothing; levels are
    /// nested, so `k` was not requested in between.
    pub fn remember(&mut self, k: usize, found: T) {
        self.memos[k].insert(&self.key[k], found);
    }

    /// Whether it is time to look after memory again: now and then.
    ///
    /// # Errors
    /// The caller wants to stop.
    pub fn due(&mut self) -> Result<bool, Stop> {
        if self.walker.looked < self.checked {
            return Ok(false);
        }
        self.checked = self.walker.looked + 100_000;
        if (self.cancelled)() {
            return Err(Stop::Cancelled);
        }
        Ok(true)
    }

    pub fn memo_bytes(&self) -> usize {
        self.memos.iter().map(Memo::bytes).sum()
    }

    pub fn forget(&mut self) {
        self.memos.iter_mut().for_each(Memo::clear);
    }
}
