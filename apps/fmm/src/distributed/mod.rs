//! Points distributed over ranks: each has consecutive Morton keys, and of others what its lists need.
//!
//! | module | contents |
//! |---|---|
//! | `cut` | which keys are whose |
//! | `boxes` | local essential trees |
//! | `local` | boxes and lists of a rank by a cut |
//! | `points` | points to their ranks, and results back |

mod boxes;
mod cut;
mod local;
mod points;

use crate::FmmError;
use crate::engine::Steps;
use crate::options::Options;
use crate::plan::{
    Close, ClosePairs, Parts, Plan, Root, SetupTimes, Sorted, attainable, charge_of, checked,
    extents, largest, scaled_parameter, sorted, unit_for,
};
use crate::points::Points;
use crate::precision::Real;
use boxes::Segment;
use cut::Cut;
use greenup_device::memory::bytes;
use greenup_ranks::Ranks;
use local::Local;
pub use points::values;
use points::{Owned, Route, ranges_of};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Points are cut anew if a rank has more than this share of the mean work.
const BALANCED: f64 = 1.03;

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
    /// Work of each rank, if each had as many points, and as they are cut.
    work_by_points: Vec<i64>,
    work: Vec<i64>,
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
        let [(a, b), (c, e), (f, g)] = extents(points);
        let mut most = [-a, b, -c, e, -f, g];
        ranks.max(&mut most);
        let [a, b, c, e, f, g] = most;
        let mut root = Root::around(&[[(-a, b), (-c, e), (-f, g)]]);
        scaled_parameter(options.kernel, p, root.unit)?;
        let mut all = [points.len() as i64];
        ranks.sum_integers(&mut all);
        let all = all[0] as u64;
        let mut setup_times = SetupTimes::default();
        let Placed {
            parts,
            sent,
            segments,
            owned,
            work_by_points,
            work,
        } = loop {
            let given = (points, charges, &root);
            match placed::<R>(ranks, given, (options, p), &mut setup_times)? {
                Some(placed) => break placed,
                None => root.on_grid = true,
            }
        };
        let sent = (sent.into_iter())
            .map(|s| {
                let boxes = s.expansions();
                (s.points, boxes)
            })
            .collect();
        Ok(Self {
            plan: Arc::new(Plan::of_parts(parts, options, p)?),
            charges: owned.charges,
            sent,
            segments,
            route: owned.route,
            all,
            me,
            work_by_points,
            work,
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

    /// Largest work of a rank over the mean: if each had as many points, and as points are cut.
    pub fn imbalance(&self) -> [f64; 2] {
        [imbalance(&self.work_by_points), imbalance(&self.work)]
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
        let converted = |q: &f64| R::of(q / unit);
        let messages = (self.sent.iter())
            .map(|s| {
                let own =
                    s.0.iter()
                        .flat_map(|r| &self.charges[r.start as usize * d..r.end as usize * d]);
                bytes(&own.map(converted).collect::<Vec<R>>()).to_vec()
            })
            .collect();
        let charges_came = of_others(ranks.exchange(messages));
        let mut exchange_s = start.elapsed().as_secs_f64();
        let mut values_sent = Vec::new();
        let own = (self.charges.as_slice(), self.me, converted);
        engine.begin(
            &mut |to| fill(to, own, &charges_came, (&self.segments, d)),
            &mut values_sent,
        )?;
        let start = Instant::now();
        let mut rest = values_sent.as_slice();
        let messages = (self.sent.iter())
            .map(|s| {
                let (now, after) = rest.split_at(s.1 * m);
                rest = after;
                bytes(now).to_vec()
            })
            .collect();
        let came = of_others(ranks.exchange(messages)).concat();
        exchange_s += start.elapsed().as_secs_f64();
        engine.finish(&came, &mut |sums| self.plan.in_units(sums, unit, out))?;
        if !self.plan.close.is_empty() {
            let n = self.plan.sources[0].len();
            let mut all = vec![R::default(); n * d];
            fill(&mut all, own, &charges_came, (&self.segments, d));
            let charge = |i: u32| charge_of(&all, (i as usize, d), |q: R| q.wide() * unit);
            self.plan.correct(charge, out);
        }
        Ok(exchange_s)
    }

    /// Results at the points that this rank gave, in their order, out of those that [`Distributed::evaluate`] found.
    pub fn in_input_order(&self, ranks: &dyn Ranks, results: &[f64]) -> Vec<f64> {
        let o = self.plan.options();
        self.route
            .back(ranks, results, o.kernel.outputs(o.gradient))
    }
}

/// What [`placed`] returns.
struct Placed<R: Real> {
    parts: Parts<R>,
    sent: Vec<boxes::Sent>,
    segments: Vec<Segment>,
    owned: Owned,
    work_by_points: Vec<i64>,
    work: Vec<i64>,
}

/// Cuts the points of all ranks, and sends them to their owners and to where lists need them. `None` if they are so close
/// that they must be on the grid.
fn placed<R: Real>(
    ranks: &dyn Ranks,
    (points, charges, root): (&Points, &[f64], &Root),
    (options, p): (&Options, usize),
    setup_times: &mut SetupTimes,
) -> Result<Option<Placed<R>>, FmmError> {
    let (d, me) = (options.kernel.inputs(), ranks.rank());
    let begun = Instant::now();
    let (order, _) = sorted::<R>(points, root);
    let mut cut = Cut::by_points(ranks, &order.keys, options.ncrit);
    setup_times.sort_s += begun.elapsed().as_secs_f64();
    let local = |cut: &Cut, times: &mut SetupTimes| {
        Local::new(ranks, cut, &order.keys, (options, p), times)
    };
    let mut here = local(&cut, setup_times)?;
    let work_by_points = of_ranks(ranks, here.work());
    let mut work = work_by_points.clone();
    if imbalance(&work) > BALANCED {
        // The leaves and their work do not depend on the cut, so one more is enough.
        cut = Cut::by_work(ranks, &order.keys, options.ncrit, &here.leaves);
        here = local(&cut, setup_times)?;
        work = of_ranks(ranks, here.work());
    }
    let Local {
        sent, made, lists, ..
    } = here;
    let begun = Instant::now();
    let owned = points::to_owners::<R>(ranks, &cut, (order, points, root), (charges, d));
    setup_times.sort_s += begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut exact: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; made.sources]);
    for (of, x) in exact.iter_mut().zip(&owned.x) {
        let messages = sent.iter().map(|s| ranges_of(x, &s.points, 1)).collect();
        let came = of_others(ranks.exchange(messages));
        fill(of, (x, me, |x| *x), &came, (&made.segments, 1));
    }
    let rounded = |x: &[Vec<f64>; 3]| -> [Vec<R>; 3] {
        let along = |a: usize| x[a].par_iter().map(|x| root.rounded(a, *x)).collect();
        [0, 1, 2].map(along)
    };
    let (sources, targets) = (rounded(&exact), rounded(&owned.x));
    let found = Close::find(
        (&made.tree, &lists, *root),
        &Sorted {
            rounded: &targets,
            exact: &owned.x,
            from: None,
        },
        &Sorted {
            rounded: &sources,
            exact: &exact,
            from: None,
        },
        attainable::<R>(options),
    );
    setup_times.tree_s += begun.elapsed().as_secs_f64();
    // All ranks go on, or none.
    let mut any = [
        f64::from(u8::from(matches!(found, Ok(ClosePairs::Tight)))),
        0.0,
    ];
    any[1] = f64::from(u8::from(found.is_err()));
    ranks.max(&mut any);
    let close = match found? {
        ClosePairs::Pairs(close) => close,
        ClosePairs::Tight => Close::default(),
    };
    if any[1] > 0.0 {
        return Err(FmmError::OtherRank);
    }
    if any[0] > 0.0 {
        return Ok(None);
    }
    Ok(Some(Placed {
        parts: Parts {
            tree: made.tree,
            lists,
            close,
            unit: root.unit,
            sources,
            targets,
            essential: made.essential,
            setup_times: *setup_times,
        },
        sent,
        segments: made.segments,
        owned,
        work_by_points,
        work,
    }))
}

/// A number of each rank, by rank.
fn of_ranks(ranks: &dyn Ranks, own: i64) -> Vec<i64> {
    let mut all = vec![0; ranks.size()];
    all[ranks.rank()] = own;
    ranks.sum_integers(&mut all);
    all
}

/// The largest over the mean.
fn imbalance(work: &[i64]) -> f64 {
    let (most, sum) = (work.iter().max(), work.iter().sum::<i64>());
    match most {
        Some(most) if sum > 0 => *most as f64 * work.len() as f64 / sum as f64,
        _ => 1.0,
    }
}

/// Messages as values.
fn of_others<R: Real>(messages: Vec<Vec<u8>>) -> Vec<Vec<R>> {
    messages.iter().map(|b| values(b)).collect()
}

/// Puts values of own points, converted, and those that came into the places of sources, `each` for one; zeros where no
/// point is.
fn fill<R: Real, T: Sync>(
    to: &mut [R],
    (own, me, convert): (&[T], usize, impl Fn(&T) -> R + Sync),
    came: &[Vec<R>],
    (segments, each): (&[Segment], usize),
) {
    let (mut rest, mut at) = (to, 0);
    for s in segments {
        let [start, end] = [s.to.start, s.to.end].map(|i| i as usize * each);
        let (gap, after) = rest.split_at_mut(start - at);
        gap.fill(R::default());
        let (now, after) = after.split_at_mut(end - start);
        let from = s.from.1 as usize * each;
        let from = from..from + now.len();
        if s.from.0 == me {
            (now.par_iter_mut().zip(&own[from]))
                .with_min_len(1 << 14)
                .for_each(|(to, x)| *to = convert(x))
        } else {
            now.copy_from_slice(&came[s.from.0][from])
        }
        (rest, at) = (after, end);
    }
    rest.fill(R::default());
}
