//! The default: several search methods over one history. Each sees all trials, whoever proposed them, and gets the more
//! trials the more it found lately.

mod credit;
mod members;

use super::surrogate::{Known, Models, first_look, measured};
use super::{Ask, Feedback, Proposal, Strategy, fresh};
use credit::Credit;
use members::{Member, Walk};
use std::collections::HashMap;

/// Proposals of a question: one for each so many trials of the budget.
const PER_PROPOSAL: usize = 110;
/// Share of the budget that is spent on the first random points at most: one in so many.
const FIRST: usize = 5;
/// Trials from which models learn something; before them only walks propose.
const LEARNT: usize = 8;
/// Trials after a new best in which local search gets half of the turns, at most.
const YOUNG: usize = 40;
/// Proposals of a question at most.
const AT_ONCE: usize = 8;

#[derive(Default)]
pub struct Portfolio {
    models: Option<Models>,
    credit: Credit,
    /// Points without a result, and who proposed them.
    open: HashMap<u64, Member>,
    walk: Walk,
}

impl Strategy for Portfolio {
    fn feedback(&self) -> Feedback {
        Feedback::Partial
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        self.credit.learn(ask.history, &mut self.open);
        let good = measured(ask);
        let first = first_look(ask).min((ask.budget / FIRST).max(2));
        if good.len() < first {
            return (good.len()..first)
                .map(|_| fresh(ask, rng).into())
                .collect();
        }
        let models = self.models.get_or_insert_with(|| Models::new(ask.points));
        let before: Vec<u64> = self.open.keys().copied().collect();
        let is_open = |p: u64| before.contains(&p);
        let mut known = Known::new(ask, models, good, &is_open, rng);
        // A new best is young as long as its neighbours may not all be known.
        let around: usize = ask.points.values().iter().map(|v| v.len() - 1).sum();
        let young = ask.history.len() - ask.history.best_at() < around.min(YOUNG);
        let mut out = Vec::new();
        for _ in 0..(ask.budget / PER_PROPOSAL).clamp(1, AT_ONCE) {
            let member = match known.ranked.len() {
                n if n < LEARNT && rng.bool() => Member::Anneal,
                n if n < LEARNT => Member::Local,
                _ if young && rng.bool() => Member::Local,
                _ => self.credit.pick(rng),
            };
            let found = member.propose(ask, &mut known, &mut self.walk, &out, rng);
            // A member without a point gives its turn to chance.
            let point = found.unwrap_or_else(|| fresh(ask, rng));
            self.open.insert(point, member);
            out.push(point);
        }
        out.into_iter().map(Proposal::from).collect()
    }
}
