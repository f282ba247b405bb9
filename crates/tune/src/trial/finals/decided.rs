//! How long finalists are measured: until each is behind the best, or equal to it.

use crate::problem::FinalRounds;
use crate::sweep::rounds::{Paired, Rounds};
use greenup_meter::stats::median;

/// Rounds before the first look at the order.
pub(super) const FIRST: usize = 3;
/// Duration of a config in the first rounds where its energy takes much longer, s.
const SHORT_S: f64 = 0.02;

/// Rounds that are measured together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) rounds: usize,
    /// Rounds before these.
    pub(super) before: usize,
    pub(super) energy: bool,
    /// Duration of a kernel in each, s.
    pub(super) seconds: f64,
    /// Whether they only tell which configs stay.
    pub(super) apart: bool,
}

impl Wanted {
    /// With energies, from the first.
    pub(super) fn of(rounds: usize, seconds: f64) -> Self {
        Self {
            rounds,
            before: 0,
            energy: true,
            seconds,
            apart: false,
        }
    }

    /// How many of them are kept.
    pub(super) fn recorded(&self) -> usize {
        if self.apart { 0 } else { self.rounds }
    }
}

/// Values of kernels by objective, kernel and round.
pub(super) type Values = Vec<Vec<Vec<f64>>>;

/// Measures rounds of the kernels that are left; `None` when the user stopped it.
pub(super) type Measuring<'m, E> = dyn FnMut(&[usize], Wanted) -> Result<Option<Rounds>, E> + 'm;

/// When the order of configs is looked at, and by what.
pub(super) struct Looks<'a> {
    pub(super) plan: FinalRounds,
    pub(super) finalists: usize,
    /// Rounds before the first look.
    pub(super) first: usize,
    /// The first rounds are short ones without energies, and not kept.
    pub(super) apart: bool,
    /// How many rounds beyond the least there is time for, after so many.
    pub(super) more: &'a dyn Fn(usize) -> usize,
    /// Kernels that are left whatever their rounds, by number.
    pub(super) stays: &'a dyn Fn(usize) -> bool,
    /// Values of the kernels that are left, by objective, kernel and round; none where they do not count.
    pub(super) values: &'a dyn Fn(&[usize], &Rounds) -> Values,
}

impl Looks<'_> {
    /// Measures rounds of all kernels, then of those that can be finalists, until their order is decided: with the numbers of those.
    /// `None` if `measure` stopped.
    ///
    /// # Errors
    /// Those of `measure`.
    pub(super) fn until_decided<E>(
        &self,
        mut left: Vec<usize>,
        measure: &mut Measuring<'_, E>,
    ) -> Result<Option<(Vec<usize>, Rounds)>, E> {
        let FinalRounds {
            least,
            most,
            seconds,
        } = self.plan;
        let first = Wanted {
            energy: !self.apart,
            seconds: if self.apart {
                SHORT_S.min(seconds)
            } else {
                seconds
            },
            apart: self.apart,
            ..Wanted::of(self.first, seconds)
        };
        let Some(mut found) = measure(&left, first)? else {
            return Ok(None);
        };
        self.leave_behind(&mut left, &mut found);
        let mut done = first.recorded();
        if self.apart {
            found = Rounds::default();
        }
        loop {
            let rounds = match least.checked_sub(done) {
                Some(n) if n > 0 => n,
                _ if done >= most => break,
                _ if ((self.values)(&left, &found).iter()).all(|values| decided(values)) => break,
                // The fewer looks, the less a chance decides.
                _ => match (self.more)(done).min(done / 2).min(most - done) {
                    0 => break,
                    n => n,
                },
            };
            let more = Wanted {
                before: done,
                ..Wanted::of(rounds, seconds)
            };
            let Some(more) = measure(&left, more)? else {
                return Ok(None);
            };
            found.append(more);
            done += rounds;
            self.leave_behind(&mut left, &mut found);
        }
        Ok(Some((left, found)))
    }

    /// Leaves out the configs that are behind the finalists by all objectives.
    fn leave_behind(&self, left: &mut Vec<usize>, found: &mut Rounds) {
        let mut stay: Vec<usize> = ((self.values)(left, found).iter())
            .flat_map(|values| ahead(values, self.finalists))
            .collect();
        if stay.is_empty() {
            return;
        }
        stay.extend((0..left.len()).filter(|i| (self.stays)(left[*i])));
        stay.sort_unstable();
        stay.dedup();
        *left = stay.iter().map(|i| left[*i]).collect();
        found.keep(&stay);
    }
}

/// Whether more rounds would tell nothing new: every config is behind the best, or ties with it within 0.5 %. `values` are those of an
/// objective, by config and round.
fn decided(values: &[Vec<f64>]) -> bool {
    let ranked = ranked(values);
    let Some((&best, others)) = ranked.split_first() else {
        return true;
    };
    others.iter().all(|&i| {
        Paired::of(&values[i], &values[best]).is_some_and(|r| r.is_above_one() || r.is_tie())
    })
}

/// Which configs are not behind the `n`th best.
fn ahead(values: &[Vec<f64>], n: usize) -> Vec<usize> {
    let ranked = ranked(values);
    let Some(&last) = ranked.get(n.max(1) - 1) else {
        return ranked;
    };
    let stays = |&i: &usize| {
        i == last || Paired::of(&values[i], &values[last]).is_none_or(|r| !r.is_behind())
    };
    ranked.into_iter().filter(stays).collect()
}

/// Configs with values, the best first.
fn ranked(values: &[Vec<f64>]) -> Vec<usize> {
    let mut all: Vec<(f64, usize)> = (values.iter().enumerate())
        .filter(|(_, v)| !v.is_empty())
        .map(|(i, v)| (median(v), i))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_when_all_are_behind_or_tie() {
        let best = vec![1.0, 1.001, 0.999, 1.0];
        let near = |by: f64| best.iter().map(|x| x * by).collect::<Vec<_>>();
        let noisy = vec![0.97, 1.02, 1.05, 0.99];
        assert!(decided(&[near(1.1), best.clone(), near(1.003)]));
        // Behind or not, and by how much, is open.
        assert!(!decided(&[best.clone(), noisy.clone()]));
        assert!(decided(&[best.clone(), vec![]]) && decided(&[]));
        assert_eq!(ahead(&[near(1.1), best.clone(), noisy.clone()], 1), [1, 2]);
        assert_eq!(
            ahead(&[near(1.1), best.clone(), noisy.clone()], 3),
            [1, 2, 0]
        );
        assert_eq!(
            ahead(&[near(1.1), near(1.4), best.clone(), noisy], 3),
            [2, 3, 0]
        );
        // The machine's drift is that of both.
        let drift = |by: f64| vec![by, 1.1 * by, 1.2 * by, 1.301 * by];
        assert!(decided(&[drift(1.0), drift(1.02)]));
    }
}
