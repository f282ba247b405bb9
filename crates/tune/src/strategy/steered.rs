//! In the order that a model predicts: cheap to compute, so all points are ranked first.

use super::{Ask, Feedback, Proposal, Strategy};

/// The predicted objective of a point; `None` where the model cannot tell.
pub type Steering = Box<dyn Fn(u64) -> Option<f64> + Send>;

/// More points than this are sampled before ranking.
const RANKED: u64 = 1_000_000;
const BATCH: usize = 16;

pub struct Steered {
    steering: Steering,
    order: Option<Vec<u64>>,
}

impl Steered {
    pub fn new(steering: Steering) -> Self {
        Self {
            steering,
            order: None,
        }
    }
}

impl Strategy for Steered {
    fn feedback(&self) -> Feedback {
        Feedback::None
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let steering = &self.steering;
        let order = self.order.get_or_insert_with(|| {
            let n = ask.points.len();
            let points: Vec<u64> = if n <= RANKED {
                (0..n).collect()
            } else {
                (0..RANKED).map(|_| rng.u64(..n)).collect()
            };
            // Equal predictions in random order; the best come last, to be taken from the end.
            let mut ranked: Vec<(f64, u32, u64)> = points
                .into_iter()
                .map(|p| (steering(p).unwrap_or(f64::INFINITY), rng.u32(..), p))
                .collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ranked.dedup_by_key(|r| r.2);
            ranked.into_iter().map(|r| r.2).collect()
        });
        let rest = order.len().saturating_sub(BATCH);
        order
            .split_off(rest)
            .into_iter()
            .rev()
            .map(Proposal::from)
            .collect()
    }
}
