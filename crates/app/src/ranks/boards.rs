//! Time and energy of several GPUs of a run, each by its own counter.

use crate::error::{AppError, Result};
use greenup_ranks::Ranks;
use serde::Serialize;

/// Work of several GPUs at the same time, each measured by its own counter.
#[derive(Clone, Debug, Serialize)]
pub struct Boards {
    /// Time of each rank's part, s.
    pub time_s: Vec<f64>,
    /// Energy of each rank's part, J.
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
        let own = [time_s, energy_j.unwrap_or(f64::NAN)];
        let Some(all) = ranks.gather(own.map(f64::to_ne_bytes).as_flattened()) else {
            return Ok(None);
        };
        let numbers = |bytes: &Vec<u8>| {
            let (words, rest) = bytes.as_chunks();
            let number = |i: usize| words.get(i).map(|w| f64::from_ne_bytes(*w));
            Some((number(0)?, number(1)?)).filter(|_| rest.is_empty())
        };
        let all: Option<Vec<(f64, f64)>> = all.iter().map(numbers).collect();
        let all = all.ok_or_else(|| AppError::new("a rank sent no measurement"))?;
        let energies: Vec<f64> = all.iter().map(|x| x.1).collect();
        let known = energies.iter().all(|e| e.is_finite());
        Ok(Some(Self {
            time_s: all.iter().map(|x| x.0).collect(),
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
}
