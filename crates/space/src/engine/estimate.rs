//! Sizes that take too long to count, estimated by random walks down the nest.

use super::Stop;
use super::walk::Walker;
use crate::plan::nest::compile::Nest;
use std::time::Instant;

/// Fewer walks tell nothing of their own spread.
const LEAST_WALKS: u64 = 256;

/// A size and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Estimated number of points.
    pub points: f64,
    /// Standard error of the estimate.
    pub error: f64,
}

/// Estimates how many points a nest has, until a moment; `None` where the walks are too few or none of them found a point.
///
/// A walk chooses among the values that pass the tests of a level, all with the same chance, and multiplies their
/// numbers. The mean over walks is the number of points, without bias (Knuth, Mathematics of Computation 29, 1975,
/// 121–136).
///
/// # Errors
/// A fault of the space.
pub fn estimate(
    nest: &Nest,
    until: Instant,
    rng: &mut fastrand::Rng,
) -> Result<Option<Estimate>, Stop> {
    let late = || Instant::now() >= until;
    let mut walks = Walks {
        walker: Walker::new(nest),
        buffers: vec![Vec::new(); nest.levels.len()],
        rng,
    };
    walks.walker.cancelled = &late;
    if !walks.walker.constants_hold()? {
        return Ok(Some(Estimate {
            points: 0.0,
            error: 0.0,
        }));
    }
    let (mut n, mut mean, mut squares) = (0_u64, 0.0, 0.0);
    while !n.is_multiple_of(16) || Instant::now() < until {
        let found = match walks.product(&nest.tree.roots) {
            Ok(found) => found,
            // The walk that was not finished in time is none.
            Err(Stop::Cancelled) if late() => break,
            Err(e) => return Err(e),
        };
        // Welford's update: sums of squares of such numbers would lose their differences.
        n += 1;
        let before = found - mean;
        mean += before / n as f64;
        squares += before * (found - mean);
    }
    if n < LEAST_WALKS || mean == 0.0 {
        return Ok(None);
    }
    let error = (squares / (n as f64 * (n - 1) as f64)).sqrt();
    Ok((error.is_finite()).then_some(Estimate {
        points: mean,
        error,
    }))
}

struct Walks<'a> {
    walker: Walker<'a>,
    /// Values of a level, kept so that they are allocated once.
    buffers: Vec<Vec<u64>>,
    rng: &'a mut fastrand::Rng,
}

impl Walks<'_> {
    /// One walk through each of the groups of levels headed by `heads`.
    fn product(&mut self, heads: &[usize]) -> Result<f64, Stop> {
        let mut found = 1.0;
        for &k in heads {
            found *= self.below(k)?;
            if found == 0.0 {
                break;
            }
        }
        Ok(found)
    }

    fn below(&mut self, k: usize) -> Result<f64, Stop> {
        let mut values = std::mem::take(&mut self.buffers[k]);
        let survivors = self.walker.drawn_survivors(k, &mut values, self.rng);
        let chosen = self.rng.choice(&values).copied();
        let number = values.len() as f64;
        self.buffers[k] = values;
        let number = number * survivors?;
        let nest = self.walker.nest;
        match chosen {
            None => Ok(0.0),
            Some(_) if nest.tree.children[k].is_empty() => Ok(number),
            Some(value) => {
                self.walker.enter(k, value);
                Ok(number * self.product(&nest.tree.children[k])?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, Limits, Space, count};
    use std::time::Duration;

    /// Estimates are within five of their standard errors of the count, after each number of filters.
    #[test]
    fn walks_find_the_number_of_points() {
        let text = "
            [parameters]
            a = '1 : 30'
            b = 'divisors(720)'
            c = '1 : a'
            d = '1 : 30'
            e = '1 : 30'
            [hard]
            even = '(a + b) % 2 == 0'
            small = 'a * b * c < 5000'
            tangled = '(a * c + d * d) % 7 == 3'
            apart = 'e % 3 == 1'
        ";
        let space = Space::read(text, &Facts::new()).unwrap();
        let mut rng = fastrand::Rng::with_seed(1);
        for k in 0..=4 {
            let exact = count(&space, |f| f < k, &Limits::default()).unwrap() as f64;
            let until = Instant::now() + Duration::from_millis(300);
            let e = estimate(&Nest::new(&space, |f| f < k), until, &mut rng)
                .unwrap()
                .unwrap();
            let off = (e.points - exact).abs();
            assert!(off <= 5.0 * e.error + 1e-9 * exact, "{k}: {e:?} of {exact}");
            assert!(e.error < 0.1 * exact, "{k}: {e:?} of {exact}");
        }
    }

    #[test]
    fn nothing_found_is_not_zero() {
        let text = "[parameters]\na = '1 : 100000'\nb = '1 : 100000'\nc = '1 : 100000'\n\
                    [hard]\nrare = '(a * b * c * 7919) % 100000007 == 1'";
        let space = Space::read(text, &Facts::new()).unwrap();
        let mut rng = fastrand::Rng::with_seed(1);
        let until = Instant::now();
        assert_eq!(
            estimate(&Nest::new(&space, |_| true), until, &mut rng),
            Ok(None)
        );
        // A false constant needs no walk.
        let empty = format!("{text}\nnever = '1 == 2'");
        let space = Space::read(&empty, &Facts::new()).unwrap();
        let e = estimate(&Nest::new(&space, |_| true), until, &mut rng)
            .unwrap()
            .unwrap();
        assert_eq!((e.points, e.error), (0.0, 0.0));
    }
}
