//! Points distributed over ranks: each has consecutive Morton keys, and of others what its lists need.
//!
//! | module | contents |
//! |---|---|
//! | `cut` | which keys are whose |
//! | `boxes` | local essential trees |
//! | `points` | points to their ranks, and results back |

mod boxes;
mod cut;
mod points;

use crate::FmmError;
use crate::engine::Steps;
use crate::operators::surface;
use crate::options::Options;
use crate::plan::{
    MAX_POINTS, Parts, Plan, SetupTimes, checked, cube, extents, largest, sorted, unit_for,
};
use crate::points::Points;
use crate::precision::Real;
use boxes::{Segment, Sent, assemble, own_boxes, received, sent};
use cut::Cut;
use greenup_device::memory::bytes;
use greenup_ranks::Ranks;
use points::{Owned, Route, ranges_of, values};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A sum over points that are distributed over ranks, seen from one of them. All ranks call its functions together.
pub struct Distributed<R: Real> {
    plan: Arc<Plan<R>>,
    /// Charges of the own points, in their order.
    charges: Vec<f64>,
    /// For each rank: own points whose charges it needs, and the number of boxes.
    sent: Vec<(Vec<Range<u32>>, usize)>,
    segments: Vec<Segment>,
    route: Route,
    /// Points of all ranks.
    all: u64,
    me: usize,
}

impl<R: Real> Distributed<R> {
    /// Distributes the points of all ranks, of which each gives a piece of the input, in the order of ranks.
    ///
    /// # Errors
    /// As [`Plan::new`], and charges that do not fit the points or are not finite.
    pub fn new(
        ranks: &dyn Ranks,
        (points, charges): (&Points, &[f64]),
        options: &Options,
    ) -> Result<Self, FmmError> {
        let p = checked::<R>(options)?;
        points.check("source")?;
        let (d, me) = (options.kernel.inputs(), ranks.rank());
        if charges.len() != points.len() * d {
            return Err(FmmError::Charges {
                values: charges.len(),
                sources: points.len(),
                kernel: options.kernel.name(),
                each: d,
            });
        }
        largest(charges, d)?;
        let begun = Instant::now();
        let mut setup_times = SetupTimes::default();
        let [(a, b), (c, e), (f, g)] = extents(points);
        let mut most = [-a, b, -c, e, -f, g];
        ranks.max(&mut most);
        let [a, b, c, e, f, g] = most;
        let (center, unit) = cube(&[[(-a, b), (-c, e), (-f, g)]]);
        let (order, x) = sorted::<R>(points, center, unit);
        let mut all = [points.len() as i64];
        ranks.sum_integers(&mut all);
        let all = all[0] as u64;
        let cut = Cut::new(ranks, &order, all, options.ncrit);
        let Owned {
            keys,
            x,
            charges,
            route,
        } = points::to_owners(ranks, &cut, (order, x), (charges, d));
        setup_times.sort_s = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut counts = vec![0i64; ranks.size()];
        counts[me] = keys.len() as i64;
        ranks.sum_integers(&mut counts);
        if counts.iter().any(|n| *n > MAX_POINTS as i64) {
            return Err(FmmError::TooManyPoints(MAX_POINTS));
        }
        let first = counts[..me].iter().sum::<i64>() as u64;
        let own = own_boxes(&keys, &cut, options.ncrit);
        let to = sent(&own, &cut, me, first, surface::count(p));
        let messages = to.iter().map(|s| bytes(&s.boxes).to_vec()).collect();
        let (boxes, _): (Vec<_>, Vec<_>) = (ranks.exchange(messages).iter())
            .map(|m| received(&values::<u64>(m)))
            .unzip();
        let made = assemble((&keys, &own), &cut, (me, first), &to, &boxes);
        let mut sources: [Vec<R>; 3] = std::array::from_fn(|_| vec![R::default(); made.sources]);
        for (of, x) in sources.iter_mut().zip(&x) {
            let messages = to.iter().map(|s| ranges_of(x, &s.points, 1)).collect();
            fill(of, (x, me), &ranks.exchange(messages), &made.segments, 1);
        }
        setup_times.tree_s = begun.elapsed().as_secs_f64();
        let parts = Parts {
            tree: made.tree,
            unit,
            sources,
            targets: x,
            essential: made.essential,
            setup_times,
        };
        let sent = (to.into_iter())
            .map(|s: Sent| {
                let boxes = s.expansions();
                (s.points, boxes)
            })
            .collect();
        Ok(Self {
            plan: Arc::new(Plan::of_parts(parts, options, p)?),
            charges,
            sent,
            segments: made.segments,
            route,
            all,
            me,
        })
    }

    /// The plan of this rank. Its targets are the own points.
    pub fn plan(&self) -> &Arc<Plan<R>> {
        &self.plan
    }

    /// Points of all ranks.
    pub fn points(&self) -> u64 {
        self.all
    }

    /// Points of this rank, and those of others that it has too.
    pub fn own_points(&self) -> (usize, usize) {
        let all: usize = self.segments.iter().map(|s| s.to.len()).sum();
        (self.plan.targets(), all - self.plan.targets())
    }

    /// Results at the own points, `[component][point]`, into `out`, by an engine of its plan. Returns the seconds of the
    /// exchanges of charges and equivalent charges.
    ///
    /// # Errors
    /// The device is lost.
    pub fn evaluate(
        &self,
        ranks: &dyn Ranks,
        engine: &mut dyn Steps<R>,
        out: &mut Vec<f64>,
    ) -> Result<f64, FmmError> {
        let start = Instant::now();
        let (d, m) = (
            self.plan.options().kernel.inputs(),
            self.plan.surface_values(),
        );
        let mut most = [largest(&self.charges, d)?];
        ranks.max(&mut most);
        let unit = unit_for(most[0]);
        let own: Vec<R> = self.charges.iter().map(|q| R::of(q / unit)).collect();
        let messages = self.sent.iter().map(|s| ranges_of(&own, &s.0, d)).collect();
        let got = ranks.exchange(messages);
        let mut charges = vec![R::default(); self.plan.sources[0].len() * d];
        fill(&mut charges, (&own, self.me), &got, &self.segments, d);
        let mut exchange_s = start.elapsed().as_secs_f64();
        drop(got);
        let mut values_sent = Vec::new();
        engine.begin(&charges, &mut values_sent)?;
        let start = Instant::now();
        let mut rest = values_sent.as_slice();
        let messages = (self.sent.iter())
            .map(|s| {
                let (now, after) = rest.split_at(s.1 * m);
                rest = after;
                bytes(now).to_vec()
            })
            .collect();
        let came: Vec<R> = ranks
            .exchange(messages)
            .iter()
            .flat_map(|b| values(b))
            .collect();
        exchange_s += start.elapsed().as_secs_f64();
        let mut sums = Vec::new();
        engine.finish(&came, &mut sums)?;
        self.plan.in_units(&sums, unit, out);
        Ok(exchange_s)
    }

    /// Results at the points that this rank gave, in their order, out of those that [`Distributed::evaluate`] found.
    pub fn in_input_order(&self, ranks: &dyn Ranks, results: &[f64]) -> Vec<f64> {
        let o = self.plan.options();
        self.route
            .back(ranks, results, o.kernel.outputs(o.gradient))
    }
}

/// Puts values of own points and those that came into the places of sources, `each` for one.
fn fill<R: Real>(
    to: &mut [R],
    (own, me): (&[R], usize),
    came: &[Vec<u8>],
    segments: &[Segment],
    each: usize,
) {
    let came: Vec<Vec<R>> = came.iter().map(|b| values(b)).collect();
    for s in segments {
        let from = if s.from.0 == me { own } else { &came[s.from.0] };
        let n = s.to.len() * each;
        to[s.to.start as usize * each..][..n]
            .copy_from_slice(&from[s.from.1 as usize * each..][..n]);
    }
}
