//! Who gets the next trial: shares by what each member found lately (a bandit with a sliding window), and a floor for each.

use super::members::Member;
use crate::strategy::History;
use std::collections::{HashMap, VecDeque};

/// Share of the trials that each member gets at least.
const FLOOR: f64 = 0.03;
/// Results that count.
const WINDOW: usize = 60;
/// Worth of a trial among the best few that is not the best.
const NEAR: f64 = 0.1;
/// Trials without results that each member begins with.
const PRIOR: f64 = 5.0;
/// Trials that count as the best few.
const FEW: usize = 5;

/// What the members found.
#[derive(Default)]
pub struct Credit {
    /// Entries of the history that were looked at.
    seen: usize,
    /// The best few costs.
    best: Vec<f64>,
    /// The last results: who proposed and what it was worth.
    window: VecDeque<(Member, f64)>,
}

impl Credit {
    /// Takes the results that came since the last look.
    pub fn learn(&mut self, history: &History, open: &mut HashMap<u64, Member>) {
        for (point, cost) in history.iter().skip(self.seen) {
            let rank = cost.map_or(FEW, |c| self.best.partition_point(|b| *b <= c));
            if let Some(c) = cost.filter(|_| rank < FEW) {
                self.best.insert(rank, c);
                self.best.truncate(FEW);
            }
            // Random points of the beginning and recorded trials are nobody's.
            if let Some(member) = open.remove(&point) {
                let worth = match rank {
                    0 => 1.0,
                    r if r < FEW => NEAR,
                    _ => 0.0,
                };
                self.window.push_back((member, worth));
                if self.window.len() > WINDOW {
                    self.window.pop_front();
                }
            }
        }
        self.seen = history.len();
    }

    /// Share of the next trials of each member.
    pub fn shares(&self) -> [f64; Member::ALL.len()] {
        let count = Member::ALL.len() as f64;
        let rate = Member::ALL.map(|m| {
            let own = self.window.iter().filter(|(by, _)| *by == m);
            let (trials, worth) = own.fold((0.0, 0.0), |(n, w), (_, v)| (n + 1.0, w + v));
            (worth + m.prior()) / (trials + PRIOR)
        });
        let all: f64 = rate.iter().sum();
        rate.map(|r| FLOOR + (1.0 - count * FLOOR) * r / all)
    }

    /// The member that proposes next.
    pub fn pick(&self, rng: &mut fastrand::Rng) -> Member {
        let mut at = rng.f64();
        for (member, share) in Member::ALL.into_iter().zip(self.shares()) {
            at -= share;
            if at < 0.0 {
                return member;
            }
        }
        Member::Restarts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_the_best_gets_more_and_nobody_nothing() {
        let mut credit = Credit::default();
        let before = credit.shares();
        let mut history = History::default();
        let mut open = HashMap::new();
        // Local search improves each time, the process never.
        for k in 0..20 {
            history.add(2 * k, Some(vec![100.0 - k as f64]), 1.0);
            history.add(2 * k + 1, Some(vec![200.0]), 1.0);
            open.insert(2 * k, Member::Local);
            open.insert(2 * k + 1, Member::Process);
        }
        history.add(100, None, 1.0);
        open.insert(100, Member::Forest);
        credit.learn(&history, &mut open);
        assert!(open.is_empty());
        let after = credit.shares();
        let of = |shares: [f64; 5], m: Member| {
            let k = Member::ALL.iter().position(|x| *x == m).unwrap();
            shares[k]
        };
        assert!(of(after, Member::Local) > 1.5 * of(before, Member::Local));
        assert!(of(after, Member::Process) < of(before, Member::Process));
        assert!(after.iter().all(|s| *s >= FLOOR));
        assert!((after.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
