//! How the filters prune the space, one after the other.

use super::Stop;
use super::count::{Limits, count};
use crate::plan::Space;
use std::time::{Duration, Instant};

/// Size before and after one filter, the filters above it applied.
#[derive(Clone, Debug, PartialEq)]
pub struct FunnelRow {
    pub filter: usize,
    pub before: Option<u128>,
    pub after: Option<u128>,
}

/// The pruning of a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Funnel {
    /// Points of the parameters, before any filter.
    pub cartesian: Option<u128>,
    pub rows: Vec<FunnelRow>,
}

/// Counts after each filter, in declared order; `valid` is the count after all, when known. Rows
/// that the time given does not suffice for stay unknown.
///
/// Without filters a count is a product, with all of them little is left: what lies between takes longest. So both ends
/// are counted first.
///
/// # Errors
/// The caller stopped it.
pub fn funnel(
    space: &Space,
    valid: Option<u128>,
    time: Duration,
    limits: &Limits,
) -> Result<Funnel, Stop> {
    let start = Instant::now();
    let n = space.filters().len();
    let mut counts = Counts {
        space,
        limits,
        start,
        // After so many filters.
        known: vec![None; n + 1],
    };
    counts.known[n] = valid;
    counts.pass(0..n + 1, time / 4)?;
    counts.pass((0..n + 1).rev(), time)?;
    counts.pass(0..n + 1, time)?;
    if (limits.cancelled)() {
        return Err(Stop::Cancelled);
    }
    let rows = (0..n)
        .map(|filter| FunnelRow {
            filter,
            before: counts.known[filter],
            after: counts.known[filter + 1],
        })
        .collect();
    Ok(Funnel {
        cartesian: counts.known[0],
        rows,
    })
}

struct Counts<'a> {
    space: &'a Space,
    limits: &'a Limits<'a>,
    start: Instant,
    known: Vec<Option<u128>>,
}

impl Counts<'_> {
    /// Counts after each of these numbers of filters, up to the first that is not done when the time is over.
    fn pass(&mut self, order: impl Iterator<Item = usize>, until: Duration) -> Result<(), Stop> {
        for k in order {
            if self.known[k].is_none() {
                self.known[k] = match self.beside(k) {
                    Some(same) => Some(same),
                    None => self.one(k, until)?,
                };
            }
            if self.known[k].is_none() && self.start.elapsed() > until {
                break;
            }
        }
        Ok(())
    }

    /// The count of a neighbour from which a filter that is true everywhere separates it.
    fn beside(&self, k: usize) -> Option<u128> {
        let always = |f: usize| self.space.filters()[f].always_true(self.space);
        let above = (k > 0 && always(k - 1)).then(|| self.known[k - 1]);
        let below = (k + 1 < self.known.len() && always(k)).then(|| self.known[k + 1]);
        above.flatten().or(below.flatten())
    }

    fn one(&self, k: usize, until: Duration) -> Result<Option<u128>, Stop> {
        if self.start.elapsed() > until {
            return Ok(None);
        }
        let late = || self.start.elapsed() > until || (self.limits.cancelled)();
        let limits = Limits {
            cancelled: &late,
            ..self.limits.clone()
        };
        match count(self.space, |f| f < k, &limits) {
            Ok(c) => Ok(Some(c)),
            Err(Stop::Cancelled) if late() => Ok(None),
            // A filter below may guard what fails here.
            Err(Stop::Fault(_) | Stop::Memory) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;

    #[test]
    fn what_is_quick_to_count_is_known_though_the_middle_is_not() {
        let text = "
            [parameters]
            a = '1 : 700'
            b = '1 : 700'
            c = '1 : 700'
            d = '1 : 700'
            [hard]
            tangled = '(a * a * b + b * c * c * d + d * d * a * c) % 1009 == 3'
            one = 'a == 1'
            two = 'b == 2'
            three = 'c == 3'
        ";
        let space = Space::read(text, &Facts::new()).unwrap();
        let limits = Limits::default();
        let valid = count(&space, |_| true, &limits).unwrap();
        let time = Duration::from_secs(2);
        let f = funnel(&space, Some(valid), time, &limits).unwrap();
        assert_eq!(f.cartesian, Some(700_u128.pow(4)));
        let after: Vec<_> = f.rows.iter().map(|r| r.after.is_some()).collect();
        assert_eq!(after, [false, false, true, true], "{f:?}");
        assert_eq!(f.rows[2].after, f.rows[3].before);
        // No time: only what is known already.
        let f = funnel(&space, Some(valid), Duration::ZERO, &limits).unwrap();
        assert_eq!(f.rows[3].after, Some(valid));
        assert_eq!(f.rows[0].after, None);
    }
}
