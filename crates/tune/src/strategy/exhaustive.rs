//! Every point once, in random order; a small budget makes it random sampling.

use super::{Ask, Feedback, Proposal, Strategy};

/// Points proposed together: enough for builds to run ahead.
const BATCH: usize = 32;

/// More points than this are drawn, not listed.
const LISTED: u64 = 4_000_000;

#[derive(Default)]
pub struct Exhaustive {
    order: Option<Vec<u64>>,
}

impl Strategy for Exhaustive {
    fn feedback(&self) -> Feedback {
        Feedback::None
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let n = ask.points.len();
        if n > LISTED {
            return (0..BATCH).map(|_| super::fresh(ask, rng).into()).collect();
        }
        let order = self.order.get_or_insert_with(|| {
            let mut all: Vec<u64> = (0..n).collect();
            rng.shuffle(&mut all);
            all
        });
        let rest = order.len().saturating_sub(BATCH);
        order
            .split_off(rest)
            .into_iter()
            .map(Proposal::from)
            .collect()
    }
}
