//! A part of a space for job arrays: point p belongs to shard p mod N, so that every shard has points from all over the
//! space and no two shards have a point in common.

use crate::points::Points;
use greenup_space::Value;
use std::fmt;
use std::str::FromStr;

/// Name of the fact that records a shard.
pub const SHARD: &str = "shard";

/// Shard `number` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    count: u64,
}

/// Text that is not a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid shard `{0}`: use I/N with 1 ≤ I ≤ N, such as 2/8")]
pub struct InvalidShard(String);

impl Default for Shard {
    /// The whole space.
    fn default() -> Self {
        Self {
            number: 1,
            count: 1,
        }
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let read = || {
            let (number, count) = text.split_once('/')?;
            let (number, count) = (number.trim().parse().ok()?, count.trim().parse().ok()?);
            (1 <= number && number <= count).then_some(Self { number, count })
        };
        read().ok_or_else(|| InvalidShard(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl Shard {
    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Number of shards.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Number of its points, of `all` that the space has.
    pub fn len(self, all: u64) -> u64 {
        // Of 0 … all − 1, those that are number − 1 modulo count.
        let first = self.number - 1;
        if first >= all {
            return 0;
        }
        (all - 1 - first) / self.count + 1
    }

    /// Number in the whole space of its point `local`.
    pub fn global(self, local: u64) -> u64 {
        local * self.count + self.number - 1
    }

    /// Number in the shard of the space's point `global`; `None` if it is in another shard.
    pub fn local(self, global: u64) -> Option<u64> {
        (global % self.count == self.number - 1).then_some(global / self.count)
    }
}

/// The points of a shard.
pub struct Sharded<'a> {
    all: &'a (dyn Points + Sync),
    shard: Shard,
}

impl<'a> Sharded<'a> {
    /// Restricts points to a shard.
    pub fn new(all: &'a (dyn Points + Sync), shard: Shard) -> Self {
        Self { all, shard }
    }
}

impl Points for Sharded<'_> {
    fn len(&self) -> u64 {
        self.shard.len(self.all.len())
    }

    fn names(&self) -> Vec<String> {
        self.all.names()
    }

    fn values(&self) -> &[Vec<Value>] {
        self.all.values()
    }

    fn coordinates(&self, point: u64) -> Vec<u32> {
        self.all.coordinates(self.shard.global(point))
    }

    fn find(&self, coordinates: &[u32]) -> Option<u64> {
        self.shard.local(self.all.find(coordinates)?)
    }

    fn neighbours(&self, point: u64) -> Vec<u64> {
        let all = self.all.neighbours(self.shard.global(point));
        all.into_iter()
            .filter_map(|p| self.shard.local(p))
            .collect()
    }

    fn position(&self, config: &[Value]) -> Option<u64> {
        self.shard.local(self.all.position(config)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Table;
    use proptest::prelude::*;

    #[test]
    fn shards_are_read_and_written() {
        let shard: Shard = "2/8".parse().unwrap();
        assert_eq!(shard.to_string(), "2/8");
        for bad in ["", "0/3", "4/3", "1", "1/0", "a/b", "-1/2", "1/2/3"] {
            let e = bad.parse::<Shard>().unwrap_err().to_string();
            assert!(e.contains("I/N"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn shards_are_disjoint_and_complete(points in 1_u64..300, count in 1_u64..40) {
            let rows: Vec<Vec<Value>> = (0..points)
                .map(|x| vec![Value::Int(x as i64 % 7), Value::Int(x as i64)])
                .collect();
            let all = Table::new(vec!["a".to_owned(), "b".to_owned()], &rows);
            let mut seen = Vec::new();
            for number in 1..=count {
                let shard = Shard { number, count };
                let part = Sharded::new(&all, shard);
                // Sizes differ by one at most.
                prop_assert!(part.len() == points / count || part.len() == points / count + 1);
                for p in 0..part.len() {
                    let config = part.config(p);
                    prop_assert_eq!(part.position(&config), Some(p));
                    prop_assert_eq!(part.find(&part.coordinates(p)), Some(p));
                    prop_assert!(part.neighbours(p).iter().all(|q| *q < part.len() && *q != p));
                    seen.push(config);
                }
            }
            seen.sort_by_key(|c| c[1].to_string().parse::<i64>().unwrap());
            prop_assert_eq!(seen, rows);
        }
    }
}
