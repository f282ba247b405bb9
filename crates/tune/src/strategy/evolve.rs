//! Differential evolution on the coordinates, rounded to the nearest valid point.

use super::{Ask, Proposal, Strategy, fresh, nearest};

const POPULATION: usize = 16;
const SCALE: f64 = 0.7;
const CROSSOVER: f64 = 0.8;

#[derive(Default)]
pub struct Evolve {
    population: Vec<u64>,
    trials: Vec<u64>,
}

impl Strategy for Evolve {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        if self.population.is_empty() {
            self.population = (0..POPULATION).map(|_| fresh(ask, rng)).collect();
            return self.population.iter().map(|&p| p.into()).collect();
        }
        for (p, &t) in self.population.iter_mut().zip(&self.trials) {
            if ask.history.cost(t) <= ask.history.cost(*p) {
                *p = t;
            }
        }
        let sizes = ask.sizes();
        let at: Vec<Vec<u32>> = (self.population.iter())
            .map(|&p| ask.points.coordinates(p))
            .collect();
        let best = (0..at.len())
            .min_by(|&a, &b| (ask.history).compare(self.population[a], self.population[b]))
            .unwrap_or(0);
        self.trials = (0..at.len())
            .map(|i| {
                let (a, b) = (rng.usize(..at.len()), rng.usize(..at.len()));
                let base = if rng.bool() { best } else { i };
                let forced = rng.usize(..sizes.len());
                let wished: Vec<u32> = (0..sizes.len())
                    .map(|p| {
                        if p != forced && rng.f64() > CROSSOVER {
                            return at[i][p];
                        }
                        let step = f64::from(at[a][p]) - f64::from(at[b][p]);
                        let v = f64::from(at[base][p]) + SCALE * step;
                        v.round().clamp(0.0, f64::from(sizes[p] - 1)) as u32
                    })
                    .collect();
                let p = nearest(ask, &wished, rng);
                if ask.history.knows(p, 1.0) {
                    fresh(ask, rng)
                } else {
                    p
                }
            })
            .collect();
        self.trials.iter().map(|&p| p.into()).collect()
    }
}
