//! Pairs of points so close that rounding their positions in the root cube would spoil the accuracy. Engines compute them
//! from the rounded positions as all others; the difference to the kernel at the positions of the input is added to their
//! results, in double precision and on the host, whichever engine computed them.

use super::cube::grid;
use super::{Plan, Root};
use crate::error::FmmError;
use crate::pair;
use crate::precision::Real;
use crate::tree::{Lists, Tree};
use greenup_setting::setting;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Above this number of pairs, and a quarter of the number of points, only closer pairs are kept: where there are so many,
/// their errors average out.
const ENOUGH: usize = 1 << 20;
/// Largest number of pairs that is kept.
const MOST: usize = 1 << 22;
/// Rounding steps at which a distance is as good as unknown. Pairs closer than this are always kept, and positions are then put on a
/// grid of such steps: rounded positions either coincide or are a step apart, so that no distance is too small by chance.
const TIGHT: f64 = 64.0;
/// Pairs per step of the correction.
const CHUNK: usize = 1 << 14;
/// Classes of distances, each half of the one before.
const CLASSES: usize = 64;

/// A target and a source, in the sorted order, and the position of the target less that of the source in the units of the
/// points.
#[derive(Clone, Copy, Debug)]
struct Pair {
    target: u32,
    source: u32,
    d: [f64; 3],
}

/// Close pairs, by targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Close(Vec<Pair>);

/// Charges of a source of a plan, out of those of all in their order or in that of the plan, in a precision and unit.
pub(crate) fn charge_of<T: Copy>(
    charges: &[T],
    (i, each): (usize, usize),
    wide: impl Fn(T) -> f64,
) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (to, q) in out.iter_mut().zip(&charges[i * each..][..each]) {
        *to = wide(*q);
    }
    out
}

/// Sorted points: rounded positions in the root cube, and positions in the units of the points.
pub(crate) struct Sorted<'a, R: Real> {
    pub rounded: &'a [Vec<R>; 3],
    pub exact: &'a [Vec<f64>; 3],
    /// Index of each among the exact ones; none if these are sorted too.
    pub from: Option<&'a [u32]>,
}

impl<R: Real> Sorted<'_, R> {
    fn at(&self, i: u32) -> [f64; 3] {
        let i = self.from.map_or(i, |from| from[i as usize]) as usize;
        [0, 1, 2].map(|a| self.exact[a][i])
    }

    fn in_cube(&self, i: u32) -> [f64; 3] {
        [0, 1, 2].map(|a| self.rounded[a][i as usize].wide())
    }
}

fn length(d: [f64; 3]) -> f64 {
    d[0].hypot(d[1]).hypot(d[2])
}

/// What [`Close::find`] found.
pub(crate) enum ClosePairs {
    Pairs(Close),
    /// Positions must be on the grid first.
    Tight,
}

impl Close {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs of U lists whose rounded distance is not as good as `accuracy`.
    ///
    /// # Errors
    /// There are too many.
    pub fn find<R: Real>(
        (tree, lists, Root { unit, on_grid, .. }): (&Tree, &Lists, Root),
        targets: &Sorted<'_, R>,
        sources: &Sorted<'_, R>,
        accuracy: f64,
    ) -> Result<ClosePairs, FmmError> {
        // The rounding of two positions changes a distance by a fifth of EPSILON on average.
        let reach = (R::EPSILON / accuracy).min(0.1);
        let tight = TIGHT * grid::<R>();
        let reach = reach.max(tight);
        let leaves: Vec<usize> = (tree.leaves())
            .filter(|i| !tree.nodes[*i].targets.is_empty())
            .collect();
        let search = Search {
            tree,
            lists,
            unit,
            targets,
            sources,
        };
        // Numbers of pairs by their distance.
        let counts: [AtomicUsize; CLASSES] = std::array::from_fn(|_| AtomicUsize::new(0));
        let too_many = || FmmError::TooClose {
            most: MOST,
            spacing: tight * unit,
            extent: 2.0 * unit,
            single: !R::DOUBLE,
        };
        let class_of = |r: f64| ((reach / r).log2().max(0.0) as usize).min(CLASSES - 1);
        let tight_class = class_of(tight);
        let enough = ENOUGH.max(targets.rounded[0].len() / 4);
        let all = AtomicUsize::new(0);
        let few: Vec<Vec<Pair>> = leaves
            .par_iter()
            .map_init(Candidates::default, |scratch, &i| {
                let (mut own, mut found) = ([0usize; CLASSES], Vec::new());
                search.leaf(i, reach, scratch, &mut |p| {
                    let class = class_of(length(p.d.map(|x| x / unit)));
                    own[class] += 1;
                    if found.len() < enough {
                        found.push(p);
                    }
                    class < tight_class || own[class] <= MOST
                });
                if all.fetch_add(own.iter().sum(), Ordering::Relaxed) > enough {
                    found.clear();
                }
                for (all, own) in counts.iter().zip(own) {
                    all.fetch_add(own, Ordering::Relaxed);
                }
                let closest = counts[tight_class..].iter();
                if closest.map(|c| c.load(Ordering::Relaxed)).sum::<usize>() > MOST {
                    Err(too_many())
                } else {
                    Ok(found)
                }
            })
            .collect::<Result<_, _>>()?;
        let counts = counts.map(AtomicUsize::into_inner);
        if !on_grid && counts[tight_class..].iter().sum::<usize>() > 0 {
            return Ok(ClosePairs::Tight);
        }
        let first = (0..=tight_class)
            .find(|c| counts[*c..].iter().sum::<usize>() <= enough)
            .unwrap_or(tight_class);
        let total: usize = counts[first..].iter().sum();
        if total == 0 {
            return Ok(ClosePairs::Pairs(Self::default()));
        }
        crate::memory::check(
            "pairs of points that are close for the extent of all",
            crate::memory::bytes(total, 2 * size_of::<Pair>()),
            format!("use a lower accuracy or {}", setting("precision").to("f64")),
        )?;
        let reach = reach * 0.5f64.powi(first as i32);
        let mut pairs: Vec<Pair> = if all.into_inner() <= enough {
            few.into_iter().flatten().collect()
        } else {
            leaves
                .par_iter()
                .flat_map_iter(|&i| {
                    let mut found = Vec::new();
                    search.leaf(i, reach, &mut Candidates::default(), &mut |p| {
                        found.push(p);
                        true
                    });
                    found
                })
                .collect()
        };
        pairs.par_sort_unstable_by_key(|p| (p.target, p.source));
        Ok(ClosePairs::Pairs(Self(pairs)))
    }

    fn of(&self, targets: &Range<u32>) -> &[Pair] {
        let begin = self.0.partition_point(|p| p.target < targets.start);
        let end = self.0.partition_point(|p| p.target < targets.end);
        &self.0[begin..end]
    }
}

struct Search<'a, R: Real> {
    tree: &'a Tree,
    lists: &'a Lists,
    unit: f64,
    targets: &'a Sorted<'a, R>,
    sources: &'a Sorted<'a, R>,
}

/// A point in the cube, and its place in the sorted order.
type Candidate = ([f64; 3], u32);

/// Scratch memory of a thread.
#[derive(Default)]
struct Candidates {
    /// Targets near the faces of their leaf.
    outer: Vec<Candidate>,
    targets: Vec<Candidate>,
    sources: Vec<Candidate>,
}

impl<R: Real> Search<'_, R> {
    /// Gives the pairs of a leaf within `reach` half widths of the root cube to `take`, until that is false; none that
    /// coincide in the input.
    fn leaf(
        &self,
        i: usize,
        reach: f64,
        scratch: &mut Candidates,
        take: &mut dyn FnMut(Pair) -> bool,
    ) {
        let Candidates {
            outer,
            targets,
            sources,
        } = scratch;
        let node = &self.tree.nodes[i];
        // Positions are rounded, and a little outside of their boxes.
        let near = reach + 8.0 * R::EPSILON;
        let far_from = |b: usize, x: &[f64; 3]| {
            let (center, half) = (self.tree.nodes[b].center(), self.tree.nodes[b].half_width());
            (0..3).fold(f64::NEG_INFINITY, |m: f64, a| {
                m.max((x[a] - center[a]).abs() - half)
            })
        };
        outer.clear();
        let list = self.lists.u.of_box(i);
        if list.len() > 1 || list.first() != Some(&(i as u32)) {
            let all = node.targets.clone().map(|p| (self.targets.in_cube(p), p));
            outer.extend(all.filter(|(x, _)| far_from(i, x) >= -near));
        }
        for &b in list {
            let b = b as usize;
            targets.clear();
            if b == i {
                targets.extend(node.targets.clone().map(|p| (self.targets.in_cube(p), p)))
            } else {
                targets.extend(outer.iter().filter(|(x, _)| far_from(b, x) <= near))
            }
            if targets.is_empty() {
                continue;
            }
            let of_box = self.tree.nodes[b].sources.clone();
            let of_box = of_box.map(|p| (self.sources.in_cube(p), p));
            sources.clear();
            if b == i {
                sources.extend(of_box)
            } else {
                sources.extend(of_box.filter(|(x, _)| far_from(i, x) <= near))
            }
            let along_x = |a: &Candidate, b: &Candidate| a.0[0].total_cmp(&b.0[0]);
            targets.sort_unstable_by(along_x);
            sources.sort_unstable_by(along_x);
            let mut first = 0;
            for &(x, target) in targets.iter() {
                while sources.get(first).is_some_and(|s| s.0[0] < x[0] - near) {
                    first += 1;
                }
                for &(y, source) in sources[first..]
                    .iter()
                    .take_while(|s| s.0[0] <= x[0] + near)
                {
                    if (1..3).any(|a| (x[a] - y[a]).abs() > near) {
                        continue;
                    }
                    let (at, from) = (self.targets.at(target), self.sources.at(source));
                    let d: [f64; 3] = std::array::from_fn(|a| at[a] - from[a]);
                    let r = length(d.map(|x| x / self.unit));
                    if d != [0.0; 3] && r <= reach && !take(Pair { target, source, d }) {
                        return;
                    }
                }
            }
        }
    }
}

impl<R: Real> Plan<R> {
    /// Adds to results of [`Plan::in_units`] what the rounding of close pairs cost. `charge` gives the charges of a source of
    /// the plan, in their unit.
    pub(crate) fn correct(&self, charge: impl Fn(u32) -> [f64; 3] + Sync, out: &mut [f64]) {
        let (o, n) = (&self.options, self.places.len());
        let (inputs, outputs) = (o.kernel.inputs(), o.kernel.outputs(o.gradient));
        let how = (o.kernel, o.kernel.parameter(1.0), o.gradient);
        let factor = o.kernel.factor();
        for pairs in self.close.of(&self.share).chunks(CHUNK) {
            let all: Vec<[f64; 8]> = pairs
                .par_iter()
                .map(|p| {
                    let mut sum = [0.0; 8];
                    let q = charge(p.source);
                    let rounded: [f64; 3] = std::array::from_fn(|a| {
                        let [t, s] = [
                            &self.targets[a][p.target as usize],
                            &self.sources[a][p.source as usize],
                        ];
                        (t.wide() - s.wide()) * self.unit
                    });
                    pair::add(how, &q[..inputs], p.d, |i, v| sum[i] += factor * v);
                    pair::add(how, &q[..inputs], rounded, |i, v| sum[i] -= factor * v);
                    sum
                })
                .collect();
            for (p, sum) in pairs.iter().zip(&all) {
                let place = self.places[(p.target - self.share.start) as usize] as usize;
                for c in 0..outputs {
                    out[c * n + place] += sum[c];
                }
            }
        }
    }
}
