//! Given points before those of another strategy.

use super::{Ask, Feedback, Proposal, Strategy};

/// Proposes some points, then those of another strategy, which learns from them.
pub(crate) struct First {
    points: Vec<u64>,
    then: Box<dyn Strategy>,
}

impl First {
    pub fn new(points: Vec<u64>, then: Box<dyn Strategy>) -> Self {
        Self { points, then }
    }
}

impl Strategy for First {
    fn feedback(&self) -> Feedback {
        self.then.feedback()
    }

    fn carried_on(&self) -> bool {
        self.then.carried_on()
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let mut first = std::mem::take(&mut self.points);
        first.retain(|p| !ask.history.knows(*p, 1.0));
        if first.is_empty() {
            self.then.ask(ask, rng)
        } else {
            first.into_iter().map(Proposal::from).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Indexed;
    use crate::search::Search;
    use crate::strategy::strategy;
    use greenup_space::{Definition, Facts, Index, Limits, Space};
    use std::sync::Arc;

    #[test]
    fn given_points_come_first_and_once() {
        let text = "name = \"p\"\n[parameters]\na = \"0 : 9\"\n";
        let table: toml::Table = text.parse().unwrap();
        let definition = Definition::from_table(&table, &Facts::new()).unwrap();
        let index = Index::build(
            &Arc::new(Space::new(&definition).unwrap()),
            &Limits::default(),
        )
        .unwrap();
        let points = Indexed::new(&index);
        let mut all = First::new(vec![7, 3], strategy("exhaustive", None).unwrap());
        let mut search = Search::new(&mut all, &points, 100, 1);
        search.tell(3, Some(vec![1.0]), 1.0);
        let mut order = Vec::new();
        while let Some(proposals) = search.ask() {
            for p in proposals {
                search.begin(&p);
                search.tell(p.point, Some(vec![1.0]), 1.0);
                order.push(p.point);
            }
        }
        assert_eq!(order[0], 7);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 4, 5, 6, 7, 8, 9]);
    }
}
