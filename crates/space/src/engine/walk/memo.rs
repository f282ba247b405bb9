//! Results remembered by the values that decide them.

use crate::plan::nest::compile::Key;
use hashbrown::HashTable;

/// Results of one level of the nest.
pub struct Memo<'a, R> {
    of: Option<&'a Key>,
    table: HashTable<u32>,
    keys: Vec<u64>,
    results: Vec<R>,
    lookups: u64,
    hits: u64,
    on: bool,
}

/// Lookups after which a level that seldom repeats is no longer remembered.
const TRIAL: u64 = 4096;

#[inline]
fn hash(key: &[u64]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15_u64;
    for &k in key {
        h = (h ^ k).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 32;
    }
    h.wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

impl<'a, R: Copy> Memo<'a, R> {
    /// `None` as key: nothing ever repeats here.
    pub fn new(key: Option<&'a Key>) -> Self {
        Self {
            on: key.is_some(),
            of: key,
            table: HashTable::new(),
            keys: Vec::new(),
            results: Vec::new(),
            lookups: 0,
            hits: 0,
        }
    }

    /// The result for the current values; otherwise the key to [`Memo::insert`] under.
    #[inline]
    pub fn get(&mut self, words: &[u64], key: &mut Vec<u64>) -> Option<R> {
        key.clear();
        let of = self.of.filter(|_| self.on)?;
        key.extend(of.slots.iter().map(|&s| words[s as usize]));
        for range in &of.unordered {
            key[range.clone()].sort_unstable();
        }
        self.lookups += 1;
        let n = key.len();
        let found = self
            .table
            .find(hash(key), |&i| {
                self.keys[i as usize * n..(i as usize + 1) * n] == **key
            })
            .copied();
        if let Some(i) = found {
            self.hits += 1;
            return Some(self.results[i as usize]);
        }
        if self.lookups == TRIAL && self.hits * 32 < TRIAL {
            self.on = false;
            self.table = HashTable::new();
            self.keys = Vec::new();
            self.results = Vec::new();
        }
        None
    }

    pub fn insert(&mut self, key: &[u64], result: R) {
        if !self.on {
            return;
        }
        let n = key.len();
        let i = self.results.len() as u32;
        self.keys.extend_from_slice(key);
        self.results.push(result);
        let keys = &self.keys;
        self.table.insert_unique(hash(key), i, |&j| {
            hash(&keys[j as usize * n..(j as usize + 1) * n])
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * 8
            + self.results.capacity() * size_of::<R>()
            + self.table.capacity() * 5
    }

    /// Forgets everything, when memory runs short.
    pub fn clear(&mut self) {
        self.table = HashTable::new();
        self.keys = Vec::new();
        self.results = Vec::new();
    }
}
