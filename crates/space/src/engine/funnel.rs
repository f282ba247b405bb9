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
    let late = || start.elapsed() > time || (limits.cancelled)();
    let one = |k: usize| -> Result<Option<u128>, Stop> {
        if k == n && valid.is_some() {
            return Ok(valid);
        }
        if start.elapsed() > time {
            return Ok(None);
        }
        let limits = Limits {
            cancelled: &late,
            ..limits.clone()
        };
        match count(space, |f| f < k, &limits) {
            Ok(c) => Ok(Some(c)),
            Err(Stop::Cancelled) if (limits.cancelled)() => Ok(None),
            // A filter below may guard what fails here.
            Err(Stop::Fault(_) | Stop::Memory) => Ok(None),
            Err(e) => Err(e),
        }
    };
    let cartesian = one(0)?;
    let mut rows = Vec::with_capacity(n);
    let mut before = cartesian;
    for filter in 0..n {
        // A filter that is true everywhere needs no count.
        let after = if space.filters()[filter].always_true(space) {
            before
        } else {
            one(filter + 1)?
        };
        rows.push(FunnelRow {
            filter,
            before,
            after,
        });
        before = after;
    }
    if (limits.cancelled)() {
        return Err(Stop::Cancelled);
    }
    Ok(Funnel { cartesian, rows })
}
