//! The forest for several objectives: each question is asked for one objective after the other. The ends of the
//! front are found with the trials of one search, as each trial measures all objectives.

use super::surrogate::Surrogate;
use super::{Ask, Feedback, Proposal, Strategy};

/// Most proposals of a question.
const AT_ONCE: usize = 10;
/// Budget by which the first random points are counted: a quarter of it. The rest is left to the models.
const BUDGET: usize = 40;

/// A model for each objective.
#[derive(Default)]
pub struct Alternate(Vec<Surrogate>);

impl Strategy for Alternate {
    fn feedback(&self) -> Feedback {
        Feedback::Partial
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let objectives = ask.history.objectives();
        while self.0.len() < objectives {
            self.0.push(Surrogate::forest());
        }
        let lists: Vec<Vec<Proposal>> = (self.0.iter_mut().enumerate())
            .map(|(i, model)| {
                let history = ask.history.of_objective(i);
                let own = Ask {
                    history: &history,
                    budget: ask.budget.min(BUDGET),
                    ..*ask
                };
                model.ask(&own, rng)
            })
            .collect();
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest)
            .flat_map(|rank| lists.iter().filter_map(move |l| l.get(rank).copied()))
            .take(AT_ONCE)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::points::Table;
    use crate::search::Search;
    use crate::strategy::strategy;
    use greenup_space::Value;

    #[test]
    fn both_ends_of_a_front_are_found() {
        // Time is least at 13, energy at 180: a search for time alone has no reason to look there.
        let rows: Vec<Vec<Value>> = (0..200).map(|x| vec![Value::Int(x)]).collect();
        let line = Table::new(vec!["x".to_owned()], &rows);
        let mut s = strategy("alternate", None).unwrap();
        let mut search = Search::new(s.as_mut(), &line, 60, 3);
        let (mut time, mut energy) = (f64::INFINITY, f64::INFINITY);
        while let Some(proposals) = search.ask() {
            for p in proposals {
                let x = p.point as f64;
                let costs = [(x - 13.0).abs() + 1.0, (x - 180.0).abs() + 1.0];
                time = time.min(costs[0]);
                energy = energy.min(costs[1]);
                search.tell(p.point, Some(costs.to_vec()), p.effort);
                if search.over() {
                    break;
                }
            }
        }
        assert!(time <= 4.0 && energy <= 4.0, "{time} {energy}");
    }
}
