//! Time and energy of several GPUs of a run, each by its own counter.

use crate::error::{AppError, Result};
use greenup_ranks::Ranks;
use serde::Serialize;

/// Work of several GPUs at the same time, each measured by its own counter.
#[derive(Clone, Debug, Serialize)]
pub struct Boards {
    /// Time of each GPU's part, by rank, s.
    pub time_s: Vec<f64>,
    /// Energy of each GPU's part, J.
    pub energy_j: Option<Vec<f64>>,
    /// Sum of the energies, J.
    pub total_j: Option<f64>,
}

impl Boards {
    /// What all ranks measured, on the first; `None` on others. All ranks call it.
    ///
    /// # Errors
    /// A rank sent something else.
    pub fn of(ranks: &dyn Ranks, time_s: f64, energy_j: Option<f64>) -> Result<Option<Self>> {
        Self::of_all(ranks, &[(time_s, energy_j)])
    }

    /// The same for ranks with any number of GPUs: time and energy of each, s and J. The energy is unknown without GPUs.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_all(ranks: &dyn Ranks, own: &[(f64, Option<f64>)]) -> Result<Option<Self>> {
        let own: Vec<u8> = own
            .iter()
            .flat_map(|(time_s, energy_j)| [*time_s, energy_j.unwrap_or(f64::NAN)])
            .flat_map(f64::to_ne_bytes)
            .collect();
        let Some(all) = ranks.gather(&own) else {
            return Ok(None);
        };
        let (mut time_s, mut energies) = (Vec::new(), Vec::new());
        for bytes in &all {
            let (words, rest) = bytes.as_chunks();
            let (pairs, odd) = words.as_chunks::<2>();
            if !(rest.is_empty() && odd.is_empty()) {
                return Err(AppError::new("a rank sent no measurement"));
            }
            for pair in pairs {
                let [time, energy] = pair.map(f64::from_ne_bytes);
                time_s.push(time);
                energies.push(energy);
            }
        }
        let known = !energies.is_empty() && energies.iter().all(|e| e.is_finite());
        Ok(Some(Self {
            time_s,
            total_j: known.then(|| energies.iter().sum()),
            energy_j: known.then_some(energies),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::threads;

    #[test]
    fn boards_are_summed_if_all_are_known() {
        let of = |known: usize| {
            let all = threads::run(3, |r| {
                let energy = (r.rank() < known).then(|| 2.0 + r.rank() as f64);
                Boards::of(&*r, r.rank() as f64, energy).map_err(|e| e.message)
            });
            let mut all = all.unwrap();
            assert!(all[1].is_none() && all[2].is_none());
            all.swap_remove(0).unwrap()
        };
        let (all, some) = (of(3), of(2));
        assert_eq!(all.energy_j, Some(vec![2.0, 3.0, 4.0]));
        assert_eq!((all.total_j, all.time_s.len()), (Some(9.0), 3));
        assert_eq!((some.energy_j, some.total_j), (None, None));
    }

    #[test]
    fn ranks_may_have_several_boards_or_none() {
        let all = threads::run(3, |r| {
            let own: Vec<_> = (0..r.rank()).map(|n| (n as f64, Some(1.5))).collect();
            Boards::of_all(&*r, &own).map_err(|e| e.message)
        });
        let all = all.unwrap().swap_remove(0).unwrap();
        assert_eq!(all.time_s, [0.0, 0.0, 1.0]);
        assert_eq!(all.total_j, Some(4.5));
        let none = Boards::of_all(&greenup_ranks::Alone, &[]).unwrap().unwrap();
        assert!(none.time_s.is_empty() && none.energy_j.is_none() && none.total_j.is_none());
    }
}
