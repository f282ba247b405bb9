//! NSGA-II (Deb et al. 2002): fronts by dominance, crowding within a front.

use super::{Ask, History, Proposal, Strategy, child, fresh};

const POPULATION: usize = 24;
const MUTATION: f64 = 0.12;

#[derive(Default)]
pub struct Nsga2 {
    population: Vec<u64>,
    children: Vec<u64>,
}

impl Strategy for Nsga2 {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        if self.population.is_empty() {
            self.population = (0..POPULATION).map(|_| fresh(ask, rng)).collect();
            self.population.sort_unstable();
            self.population.dedup();
            return self.population.iter().map(|&p| p.into()).collect();
        }
        let mut all = std::mem::take(&mut self.population);
        all.append(&mut self.children);
        all.sort_unstable();
        all.dedup();
        self.population = select(&all, ask.history, POPULATION);
        let parents = &self.population;
        let n = parents.len();
        if n == 0 {
            return vec![fresh(ask, rng).into()];
        }
        // The population is sorted from best to worst: the earlier of two wins.
        let pick = |rng: &mut fastrand::Rng| parents[rng.usize(..n).min(rng.usize(..n))];
        self.children = (0..POPULATION)
            .map(|_| {
                let parents = (pick(rng), pick(rng));
                let p = child(ask, parents, MUTATION, rng);
                if ask.history.knows(p, 1.0) {
                    let near = ask.points.neighbours(p);
                    if near.is_empty() {
                        fresh(ask, rng)
                    } else {
                        near[rng.usize(..near.len())]
                    }
                } else {
                    p
                }
            })
            .collect();
        self.children.iter().map(|&p| p.into()).collect()
    }
}

/// Whether `a` is nowhere worse and somewhere better.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y) && a.iter().zip(b).any(|(x, y)| x < y)
}

/// The `n` best: front by front, the last front by crowding distance; failures never.
fn select(all: &[u64], history: &History, n: usize) -> Vec<u64> {
    let mut rest: Vec<(u64, &[f64])> = all
        .iter()
        .filter_map(|&p| Some((p, history.costs(p)?)))
        .collect();
    let mut out = Vec::new();
    while out.len() < n && !rest.is_empty() {
        let (mut front, later): (Vec<_>, Vec<_>) = rest
            .iter()
            .copied()
            .partition(|(_, a)| !rest.iter().any(|(_, b)| dominates(b, a)));
        let crowding = crowding(&front.iter().map(|f| f.1).collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|&a, &b| crowding[b].total_cmp(&crowding[a]));
        front = order.into_iter().map(|i| front[i]).collect();
        out.extend(front.iter().map(|f| f.0));
        rest = later;
    }
    out.truncate(n);
    out
}

/// Crowding distance of each point of a front; the ends are infinitely far.
fn crowding(front: &[&[f64]]) -> Vec<f64> {
    let mut out = vec![0.0; front.len()];
    for k in 0..front.first().map_or(0, |f| f.len()) {
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|&a, &b| front[a][k].total_cmp(&front[b][k]));
        let (first, last) = (order[0], order[order.len() - 1]);
        let span = (front[last][k] - front[first][k]).max(f64::MIN_POSITIVE);
        out[first] = f64::INFINITY;
        out[last] = f64::INFINITY;
        for w in order.windows(3) {
            out[w[1]] += (front[w[2]][k] - front[w[0]][k]) / span;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts_before_crowds() {
        let mut h = History::default();
        // Two fronts: 0, 1, 2 and then 3, 4; 5 failed.
        for (p, c) in [
            (0, [1.0, 9.0]),
            (1, [5.0, 5.0]),
            (2, [9.0, 1.0]),
            (3, [6.0, 6.0]),
            (4, [9.5, 2.0]),
        ] {
            h.add(p, Some(c.to_vec()), 1.0);
        }
        h.add(5, None, 1.0);
        let mut best = select(&[0, 1, 2, 3, 4, 5], &h, 3);
        best.sort_unstable();
        assert_eq!(best, [0, 1, 2]);
        assert_eq!(select(&[0, 1, 2, 3, 4, 5], &h, 9).len(), 5);
        assert!(dominates(&[1.0, 2.0], &[1.0, 3.0]) && !dominates(&[1.0, 2.0], &[1.0, 2.0]));
    }
}
