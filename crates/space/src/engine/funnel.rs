//! How the filters prune the space, one after the other.

use super::Stop;
use super::count::{Limits, count_nest};
use super::estimate::{Estimate, estimate};
use crate::plan::Space;
use crate::plan::nest::compile::Nest;
use std::time::{Duration, Instant};

/// Size before and after one filter, the filters above it applied.
#[derive(Clone, Debug, PartialEq)]
pub struct FunnelRow {
    /// Index of the filter, in declared order.
    pub filter: usize,
    /// Number of points before it; `None` if not counted.
    pub before: Option<u128>,
    /// Number of points after it; `None` if not counted.
    pub after: Option<u128>,
    /// Size after it, where it was not counted.
    pub estimate: Option<Estimate>,
}

/// The pruning of a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Funnel {
    /// Points of the parameters, before any filter.
    pub cartesian: Option<u128>,
    /// Their size, where it was not counted.
    pub estimate: Option<Estimate>,
    /// One row a filter, in declared order.
    pub rows: Vec<FunnelRow>,
}

/// Counts after each filter, in declared order; `valid` is the count after all, when known. Sizes that three fifths of
/// the time do not suffice for are estimated in the rest. A filter that has no value at a point rejects it here, though
/// only a filter below might: `n % d == 0` where `d != 0` comes later.
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
    // A century: a sum of instants and longer times may overflow.
    let time = time.min(Duration::from_secs(100 * 365 * 86_400));
    let n = space.filters().len();
    let mut counts = Counts {
        space,
        limits,
        start,
        // After so many filters.
        known: vec![None; n + 1],
    };
    counts.known[n] = valid;
    let exact = time * 3 / 5;
    counts.pass(0..n + 1, exact / 4)?;
    counts.pass((0..n + 1).rev(), exact)?;
    counts.pass(0..n + 1, exact)?;
    let estimates = counts.estimates(start + time)?;
    if (limits.cancelled)() {
        return Err(Stop::Cancelled);
    }
    let rows = (0..n)
        .map(|filter| FunnelRow {
            filter,
            before: counts.known[filter],
            after: counts.known[filter + 1],
            estimate: estimates[filter + 1],
        })
        .collect();
    Ok(Funnel {
        cartesian: counts.known[0],
        estimate: estimates[0],
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
                self.known[k] = match self.same_size(k) {
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
    fn same_size(&self, k: usize) -> Option<u128> {
        let always = |f: usize| self.space.filters()[f].always_true(self.space);
        let above = (k > 0 && always(k - 1)).then(|| self.known[k - 1]);
        let below = (k + 1 < self.known.len() && always(k)).then(|| self.known[k + 1]);
        above.flatten().or(below.flatten())
    }

    /// The first `k` filters. Where one of them has no value at a point, it rejects the point: a filter below does in any
    /// case, for no point that passes all has such a fault.
    fn nest(&self, k: usize) -> Nest<'_> {
        let mut nest = Nest::new(self.space, |f| f < k);
        nest.faults_reject = true;
        nest
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
        match count_nest(&self.nest(k), &limits) {
            Ok(c) => Ok(Some(c)),
            Err(Stop::Cancelled) if late() => Ok(None),
            // A filter below may guard what fails here.
            Err(Stop::Fault(_) | Stop::Memory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Sizes of what was not counted, by random walks until a moment. They keep the order that the sizes have: each filter
    /// leaves at most what came to it.
    fn estimates(&self, until: Instant) -> Result<Vec<Option<Estimate>>, Stop> {
        let mut out = vec![None; self.known.len()];
        let mut left = self.known.iter().filter(|k| k.is_none()).count();
        let mut rng = fastrand::Rng::with_seed(0);
        let mut most = f64::INFINITY;
        for k in 0..self.known.len() {
            if let Some(exact) = self.known[k] {
                most = exact as f64;
                continue;
            }
            let same = k > 0 && self.space.filters()[k - 1].always_true(self.space);
            let now = Instant::now();
            let share = until.saturating_duration_since(now) / left.max(1) as u32;
            left -= 1;
            let found = match out[k - usize::from(k > 0)] {
                before @ Some(_) if same => before,
                _ if share.is_zero() || (self.limits.cancelled)() => None,
                // A filter below may guard what fails here.
                _ => estimate(&self.nest(k), now + share, &mut rng).unwrap_or(None),
            };
            let least = self.known[k..].iter().flatten().next().copied();
            out[k] = found.map(|e| Estimate {
                points: e.points.min(most).max(least.unwrap_or(0) as f64),
                ..e
            });
            most = out[k].map_or(most, |e| e.points);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, count};

    #[test]
    fn a_filter_that_one_below_guards_rejects_where_it_has_no_value() {
        let text = "[parameters]\na = '0 : 11'\n[hard]\nwhole = '12 % a == 0'\nnot_zero = 'a > 0'";
        let space = Space::read(text, &Facts::new()).unwrap();
        let f = funnel(&space, Some(5), Duration::from_secs(1), &Limits::default()).unwrap();
        let after: Vec<_> = f.rows.iter().map(|r| r.after).collect();
        assert_eq!(after, [Some(5), Some(5)]);
        assert_eq!(count(&space, |_| true, &Limits::default()), Ok(5));
    }

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
        // One value in 1009 is 3, and one of 700 is 1.
        for (row, share) in [(0, 1009.0), (1, 1009.0 * 700.0)] {
            let e = f.rows[row].estimate.unwrap();
            let expected = 700_f64.powi(4) / share;
            assert!((e.points / expected - 1.0).abs() < 0.2, "{e:?} {expected}");
        }
        assert_eq!(f.rows[2].estimate, None);
        assert_eq!(f.rows[2].after, f.rows[3].before);
        // No time: only what is known already.
        let f = funnel(&space, Some(valid), Duration::ZERO, &limits).unwrap();
        assert_eq!(f.rows[3].after, Some(valid));
        assert_eq!((f.rows[0].after, f.rows[0].estimate), (None, None));
    }
}
