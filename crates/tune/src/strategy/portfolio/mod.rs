//! A portfolio: several search methods over one history. Each sees all trials, whoever proposed them, and gets the more
//! trials the more it found lately.

mod credit;
mod members;

use super::surrogate::{Known, Models, first_look, measured};
use super::{Ask, Feedback, Proposal, Strategy, fresh};
use credit::Credit;
use members::{Member, Walk, at_once};
use std::collections::HashMap;

/// Share of the budget that is spent on the first random points at most: one in so many.
const FIRST: usize = 5;
/// Trials from which trees learn something; before them walks and the process take turns.
const LEARNT: usize = 8;
/// Trials after a new best in which local search gets more turns, at most, and its share of them.
const YOUNG: usize = 40;
const AROUND: f64 = 0.25;
/// Trials without a better point, and a sixth of the budget, after which process and restarts get more turns, and
/// their share: they go to where least is known.
const STALE: usize = 30;
const ELSEWHERE: f64 = 0.75;

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
        let age = ask.history.len() - ask.history.best_at();
        let young = age < around.min(YOUNG);
        let stale = age > STALE.max(ask.budget / 6);
        let mut out = Vec::new();
        for _ in 0..at_once(ask.budget) {
            let member = match known.ranked.len() {
                n if n < LEARNT => [Member::Anneal, Member::Local, Member::Process][rng.usize(..3)],
                _ if young && rng.f64() < AROUND => Member::Local,
                _ if stale && rng.f64() < ELSEWHERE => match rng.usize(..4) {
                    0 => Member::Restarts,
                    _ => Member::Process,
                },
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

#[cfg(test)]
mod tests {
    use crate::Objective;
    use crate::replay::replay;
    use crate::search::Budget;
    use crate::strategy::strategy;
    use crate::synthetic::sweep;

    fn mean(name: &str, of: &str, share: f64) -> f64 {
        let s = sweep(of.parse().unwrap());
        let trials = (s.trials.len() as f64 * share) as usize;
        let run = |seed| {
            let mut by = strategy(name, None).unwrap();
            let budget = Budget::Evaluations(trials);
            replay(&s, &[Objective::Time], by.as_mut(), budget, seed)
                .unwrap()
                .fraction
        };
        (1..=12).map(run).sum::<f64>() / 12.0
    }

    #[test]
    fn an_isolated_optimum_behind_a_basin_is_found_more_often_than_by_the_forest() {
        let (portfolio, forest) = (
            mean("portfolio", "decoy:1", 0.2),
            mean("forest", "decoy:1", 0.2),
        );
        assert!(portfolio > forest + 0.05, "{portfolio} {forest}");
    }

    #[test]
    fn the_same_seed_gives_the_same_search_and_failures_are_survived() {
        let s = sweep("failing:3".parse().unwrap());
        let once = || {
            let mut by = strategy("portfolio", None).unwrap();
            let budget = Budget::Evaluations(90);
            replay(&s, &[Objective::Time], by.as_mut(), budget, 5).unwrap()
        };
        let found = once();
        assert_eq!(found, once());
        assert!(found.failures > 5 && found.fraction > 0.95, "{found:?}");
    }
}
