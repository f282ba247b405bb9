//! Gradient boosting (Friedman 2001, 2002): small trees, each fitted to what the ones before leave of a part of the rows;
//! several such sums are averaged.

use super::{Forest, ForestPlan};

/// Trees of a sum.
const STAGES: usize = 250;
/// Share of a tree's correction that is taken.
const RATE: f64 = 0.08;
/// Share of the rows that a tree sees.
const ROWS: f64 = 0.7;
/// Rows that a leaf holds at least.
const LEAF: usize = 3;
/// Sums that are averaged.
const SUMS: usize = 4;

/// Fitted trees.
pub struct Boosted {
    mean: f64,
    trees: Vec<Forest>,
}

impl Boosted {
    /// Fits to rows `x` (all of one length) and values `y`; needs at least one row.
    pub fn fit(x: &[Vec<f64>], y: &[f64], rng: &mut fastrand::Rng) -> Self {
        let n = y.len();
        let mean = y.iter().sum::<f64>() / n as f64;
        let plan = ForestPlan {
            trees: 1,
            leaf: LEAF.min(n / 4).max(1),
            ..ForestPlan::default()
        };
        let part = ((n as f64 * ROWS).ceil() as usize).clamp(1, n);
        let mut trees = Vec::with_capacity(SUMS * STAGES);
        for _ in 0..SUMS {
            let mut left: Vec<f64> = y.iter().map(|v| v - mean).collect();
            let mut order: Vec<usize> = (0..n).collect();
            for _ in 0..STAGES {
                rng.shuffle(&mut order);
                let rows = &order[..part];
                let tree = Forest::fit_rows(x, &left, rows, plan, rng);
                for (l, x) in left.iter_mut().zip(x) {
                    *l -= RATE * tree.of_tree(0, x);
                }
                trees.push(tree);
            }
        }
        Self { mean, trees }
    }

    /// Value at a point.
    pub fn predict(&self, x: &[f64]) -> f64 {
        let sum: f64 = self.trees.iter().map(|t| t.of_tree(0, x)).sum();
        self.mean + RATE / SUMS as f64 * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_add_up_are_learnt() {
        let mut rng = fastrand::Rng::with_seed(2);
        let f = |x: &[f64]| f64::from(x[0] > 0.5) + 2.0 * f64::from(x[1] > 0.3) + x[2];
        let x: Vec<Vec<f64>> = (0..300)
            .map(|_| vec![rng.f64(), rng.f64(), rng.f64(), rng.f64()])
            .collect();
        let y: Vec<f64> = x.iter().map(|x| f(x)).collect();
        let model = Boosted::fit(&x, &y, &mut rng);
        let mut errors: Vec<f64> = (0..200)
            .map(|_| {
                let p = [rng.f64(), rng.f64(), rng.f64(), rng.f64()];
                (model.predict(&p) - f(&p)).abs()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[100] < 0.08, "{}", errors[100]);
    }
}
