//! Bayesian search: a model learns from the trials and names the points to try next.
//!
//! The forest proposes by Thompson sampling: each proposal is the best point in the eyes of one
//! tree drawn at random, so that points are tried as often as they are likely to be the best.
//! Between them come children of the best points (as of a genetic algorithm), chosen among many by
//! a tree. The Gaussian process proposes by expected improvement; where the budget is small it does so
//! beside the forest too.

mod known;

pub use known::{Known, Models, first_look, measured};

use super::{Ask, Feedback, Proposal, Strategy, fresh};

/// Share of the budget without a better point after which random points are mixed in.
const STALE: usize = 4;
/// Trials without a better point that are never too many.
const PATIENCE: usize = 80;
/// Budgets up to which a process proposes beside the forest: trees learn little from so few trials.
const FEW: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelKind {
    Forest,
    Process,
}

pub struct Surrogate {
    kind: ModelKind,
    models: Option<Models>,
    asked: usize,
}

impl Surrogate {
    pub fn forest() -> Self {
        Self::new(ModelKind::Forest)
    }

    pub fn gaussian_process() -> Self {
        Self::new(ModelKind::Process)
    }

    fn new(kind: ModelKind) -> Self {
        Self {
            kind,
            models: None,
            asked: 0,
        }
    }
}

impl Strategy for Surrogate {
    fn feedback(&self) -> Feedback {
        Feedback::Partial
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let good = measured(ask);
        let first = first_look(ask);
        if good.len() < first {
            return (good.len()..first)
                .map(|_| fresh(ask, rng).into())
                .collect();
        }
        // Nothing better for long: the model may know only a corner, so look elsewhere now and then.
        let stale = ask.history.len() - ask.history.best_at();
        self.asked += 1;
        if stale > (ask.budget / STALE).max(PATIENCE) && self.asked.is_multiple_of(4) {
            return (0..3).map(|_| fresh(ask, rng).into()).collect();
        }
        let models = self.models.get_or_insert_with(|| Models::new(ask.points));
        let mut known = Known::new(ask, models, good, &|_| false, rng);
        let found = match self.kind {
            ModelKind::Forest => {
                let mut found = known.by_forest((ask.budget / 110).clamp(1, 8), rng);
                found.extend(known.child(&found, rng));
                if ask.budget <= FEW {
                    let more = known.by_process(8, rng);
                    let new = more.into_iter().find(|p| !found.contains(p));
                    found.extend(new);
                }
                found
            }
            ModelKind::Process => known.by_process((ask.budget / 60).clamp(2, 8), rng),
        };
        found.into_iter().map(Proposal::from).collect()
    }
}
