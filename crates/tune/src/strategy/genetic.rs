//! Genetic algorithm: the better half breeds by uniform crossover and mutation.

use super::{Ask, Proposal, Strategy, child, fresh};

const POPULATION: usize = 20;
const MUTATION: f64 = 0.1;

#[derive(Default)]
pub struct Genetic {
    population: Vec<u64>,
}

impl Strategy for Genetic {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        if self.population.is_empty() {
            let n = POPULATION.min(ask.budget.max(4));
            self.population = (0..n).map(|_| fresh(ask, rng)).collect();
        } else {
            let mut parents = self.population.clone();
            parents.sort_by(|&a, &b| ask.history.compare(a, b));
            parents.dedup();
            let elite = parents.len().div_ceil(4).min(2);
            let mut next: Vec<u64> = parents[..elite].to_vec();
            // Rank selection: the chance falls linearly with the rank.
            let pick = |rng: &mut fastrand::Rng| {
                let (a, b) = (rng.usize(..parents.len()), rng.usize(..parents.len()));
                parents[a.min(b)]
            };
            while next.len() < POPULATION {
                let parents = (pick(rng), pick(rng));
                let mut p = child(ask, parents, MUTATION, rng);
                if ask.history.knows(p, 1.0) && rng.bool() {
                    // A known child teaches nothing: one step aside.
                    let near = ask.points.neighbours(p);
                    if !near.is_empty() {
                        p = near[rng.usize(..near.len())];
                    }
                }
                next.push(p);
            }
            if next.iter().all(|&p| ask.history.knows(p, 1.0)) {
                let last = next.len() - 1;
                next[last] = fresh(ask, rng);
            }
            self.population = next;
        }
        self.population.iter().map(|&p| p.into()).collect()
    }
}
