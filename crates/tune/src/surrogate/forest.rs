//! Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): thresholds are drawn at random, the
//! best of a few is kept; the spread of the trees says how much they know.

/// Size of a forest.
#[derive(Clone, Copy, Debug)]
pub struct ForestPlan {
    /// Number of trees.
    pub trees: usize,
    /// Features tried at each split; 0 for all.
    pub tries: usize,
    /// Points a leaf holds at least.
    pub leaf: usize,
    /// Each tree sees as many rows as there are, drawn with repetition.
    pub bootstrap: bool,
}

impl Default for ForestPlan {
    fn default() -> Self {
        Self {
            trees: 48,
            tries: 0,
            leaf: 1,
            bootstrap: false,
        }
    }
}

#[derive(Clone, Copy)]
struct Split {
    /// `u32::MAX` for a leaf.
    feature: u32,
    threshold: f64,
    /// Left child; the right one follows it. For a leaf unused.
    left: u32,
    value: f64,
}

const LEAF: u32 = u32::MAX;

/// A fitted forest.
pub struct Forest {
    trees: Vec<Vec<Split>>,
    /// Share of the variance that splits on each feature removed.
    pub importance: Vec<f64>,
}

/// Rows one after another, so that all features of a row are looked at together.
struct Growing<'a> {
    x: &'a [f64],
    features: usize,
    y: &'a [f64],
    plan: ForestPlan,
    importance: &'a mut [f64],
    scan: Scan,
}

/// What a node knows of each feature: its range, a threshold, and how many rows with which sum lie below.
#[derive(Default)]
struct Scan {
    lo: Vec<f64>,
    hi: Vec<f64>,
    threshold: Vec<f64>,
    count: Vec<f64>,
    sum: Vec<f64>,
}

impl Forest {
    /// Fits to rows `x` (all of one length) and values `y`; needs at least one row.
    pub fn fit(x: &[Vec<f64>], y: &[f64], plan: ForestPlan, rng: &mut fastrand::Rng) -> Self {
        let rows: Vec<usize> = (0..y.len()).collect();
        Self::fit_rows(x, y, &rows, plan, rng)
    }

    /// The same to some of the rows, at least one.
    pub fn fit_rows(
        x: &[Vec<f64>],
        y: &[f64],
        rows: &[usize],
        plan: ForestPlan,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let features = x.first().map_or(0, Vec::len);
        let mut importance = vec![0.0; features];
        let flat: Vec<f64> = rows.iter().flat_map(|&r| &x[r]).copied().collect();
        let y: Vec<f64> = rows.iter().map(|&r| y[r]).collect();
        let mut growing = Growing {
            x: &flat,
            features,
            y: &y,
            plan,
            importance: &mut importance,
            scan: Scan::default(),
        };
        let trees = (0..plan.trees).map(|_| growing.tree(rng)).collect();
        let total: f64 = importance.iter().sum();
        if total > 0.0 {
            importance.iter_mut().for_each(|i| *i /= total);
        }
        Self { trees, importance }
    }

    /// Mean and standard deviation of the trees.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        self.predict_by(x, 0..self.trees.len())
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// What a single tree thinks: a plausible truth, as data of another draw would give.
    pub fn of_tree(&self, tree: usize, x: &[f64]) -> f64 {
        self.predict_by(x, tree..tree + 1).0
    }

    fn predict_by(&self, x: &[f64], trees: std::ops::Range<usize>) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        let n = trees.len() as f64;
        for tree in &self.trees[trees] {
            let mut at = tree[0];
            while at.feature != LEAF {
                let right = x[at.feature as usize] > at.threshold;
                at = tree[at.left as usize + usize::from(right)];
            }
            sum += at.value;
            squares += at.value * at.value;
        }
        let mean = sum / n;
        (mean, (squares / n - mean * mean).max(0.0).sqrt())
    }
}

impl Growing<'_> {
    fn tree(&mut self, rng: &mut fastrand::Rng) -> Vec<Split> {
        let n = self.y.len();
        let mut rows: Vec<usize> = if self.plan.bootstrap {
            (0..n).map(|_| rng.usize(..n)).collect()
        } else {
            (0..n).collect()
        };
        let mut tree = vec![Split {
            feature: LEAF,
            threshold: 0.0,
            left: 0,
            value: 0.0,
        }];
        // Node, and its rows as a range of `rows`.
        let mut stack = vec![(0_usize, 0_usize, rows.len())];
        while let Some((node, from, to)) = stack.pop() {
            let mean = rows[from..to].iter().map(|&r| self.y[r]).sum::<f64>() / (to - from) as f64;
            tree[node].value = mean;
            let Some((feature, threshold, gain)) = self.split(&rows[from..to], rng) else {
                continue;
            };
            let mut mid = from;
            for i in from..to {
                if self.x[rows[i] * self.features + feature] <= threshold {
                    rows.swap(i, mid);
                    mid += 1;
                }
            }
            self.importance[feature] += gain;
            let left = tree.len();
            let leaf = Split {
                feature: LEAF,
                ..tree[node]
            };
            tree.extend([leaf, leaf]);
            tree[node].feature = feature as u32;
            tree[node].threshold = threshold;
            tree[node].left = left as u32;
            stack.push((left, from, mid));
            stack.push((left + 1, mid, to));
        }
        tree
    }

    /// Feature, threshold and removed sum of squares of the best of the random splits.
    fn split(&mut self, rows: &[usize], rng: &mut fastrand::Rng) -> Option<(usize, f64, f64)> {
        if rows.len() < 2 * self.plan.leaf.max(1) {
            return None;
        }
        let first = self.y[rows[0]];
        if rows.iter().all(|&r| self.y[r] == first) {
            return None;
        }
        let features = self.features;
        let tries = match self.plan.tries {
            0 => features,
            some => some,
        };
        self.scan.ranges(self.x, rows, features);
        // Features that vary here, in an order that starts anywhere.
        let start = rng.usize(..features.max(1));
        let mut tried = 0;
        for k in 0..features {
            let f = (start + k) % features;
            let (lo, hi) = (self.scan.lo[f], self.scan.hi[f]);
            let varies = lo < hi && tried < tries;
            tried += usize::from(varies);
            // No row lies below minus infinity: such a split is none.
            self.scan.threshold[f] = if varies {
                lo + (hi - lo) * rng.f64()
            } else {
                f64::NEG_INFINITY
            };
        }
        let total = self.scan.sums(self.x, self.y, rows);
        let all = rows.len() as f64;
        let least = self.plan.leaf.max(1) as f64;
        let mut best: Option<(usize, f64, f64)> = None;
        for k in 0..features {
            let f = (start + k) % features;
            let (n, sum) = (self.scan.count[f], self.scan.sum[f]);
            if n < least || all - n < least {
                continue;
            }
            let gain =
                sum * sum / n + (total - sum) * (total - sum) / (all - n) - total * total / all;
            if best.is_none_or(|(_, _, g)| gain > g) {
                best = Some((f, self.scan.threshold[f], gain));
            }
        }
        best
    }
}

impl Scan {
    /// Ranges of all features over rows.
    fn ranges(&mut self, x: &[f64], rows: &[usize], features: usize) {
        for (of, value) in [
            (&mut self.lo, f64::INFINITY),
            (&mut self.hi, f64::NEG_INFINITY),
            (&mut self.threshold, 0.0),
            (&mut self.count, 0.0),
            (&mut self.sum, 0.0),
        ] {
            of.clear();
            of.resize(features, value);
        }
        for &r in rows {
            let row = &x[r * features..(r + 1) * features];
            for ((lo, hi), &v) in self.lo.iter_mut().zip(&mut self.hi).zip(row) {
                *lo = if v < *lo { v } else { *lo };
                *hi = if v > *hi { v } else { *hi };
            }
        }
    }

    /// Rows below the thresholds and the sums of their values; returns the sum over all rows.
    fn sums(&mut self, x: &[f64], y: &[f64], rows: &[usize]) -> f64 {
        let features = self.threshold.len();
        let mut total = 0.0;
        for &r in rows {
            let (row, value) = (&x[r * features..(r + 1) * features], y[r]);
            total += value;
            let below = row.iter().zip(&self.threshold);
            for ((n, sum), (v, t)) in self.count.iter_mut().zip(&mut self.sum).zip(below) {
                let inside = if v <= t { 1.0 } else { 0.0 };
                *n += inside;
                *sum += inside * value;
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_and_a_slope_are_learnt() {
        let mut rng = fastrand::Rng::with_seed(1);
        let f = |x: &[f64]| if x[0] > 0.5 { 3.0 } else { x[1] };
        let x: Vec<Vec<f64>> = (0..400)
            .map(|_| vec![rng.f64(), rng.f64(), rng.f64()])
            .collect();
        let y: Vec<f64> = x.iter().map(|x| f(x)).collect();
        let forest = Forest::fit(&x, &y, ForestPlan::default(), &mut rng);
        let mut worst = 0.0_f64;
        for _ in 0..200 {
            let p = vec![rng.f64(), rng.f64(), rng.f64()];
            if (p[0] - 0.5).abs() > 0.05 {
                worst = worst.max((forest.predict(&p).0 - f(&p)).abs());
            }
        }
        assert!(worst < 0.35, "{worst}");
        assert!(forest.importance[0] > 0.8 && forest.importance[2] < 0.03);
        // At a training point nothing is unknown.
        assert!(forest.predict(&x[0]).1 < 1e-9);
    }
}
