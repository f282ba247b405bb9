//! Steepest descent over the points that differ in one parameter, from random starts.

use super::{Ask, Proposal, Strategy, fresh};

#[derive(Default)]
pub struct Local {
    at: Option<u64>,
    asked: Vec<u64>,
}

impl Strategy for Local {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let Some(here) = self.at else {
            let p = fresh(ask, rng);
            self.at = Some(p);
            self.asked.clear();
            return vec![p.into()];
        };
        // All neighbours are known: step to the best, or start again.
        if !self.asked.is_empty() {
            let asked = self.asked.drain(..);
            let best = asked.min_by(|&a, &b| ask.history.compare(a, b));
            match best.filter(|&b| ask.history.cost(b) < ask.history.cost(here)) {
                Some(b) => self.at = Some(b),
                None => {
                    self.at = None;
                    return self.ask(ask, rng);
                }
            }
        }
        let here = self.at.unwrap_or(here);
        let mut next = ask.points.neighbours(here);
        rng.shuffle(&mut next);
        if next.is_empty() || ask.history.cost(here).is_infinite() {
            self.at = None;
            return vec![fresh(ask, rng).into()];
        }
        self.asked.clone_from(&next);
        next.into_iter().map(Proposal::from).collect()
    }
}
