//! F on each grid, by all threads of a rank; and what ranks decide together.

use super::Watch;
use super::q_grid::QGrid;
use crate::form::FormFactor;
use greenup_ranks::Ranks;
use num_complex::Complex64;
use rayon::prelude::*;

/// Whether something holds on one of the ranks, all of which call it.
pub(super) fn on_any(ranks: &dyn Ranks, here: bool) -> bool {
    let mut any = [f64::from(u8::from(here))];
    ranks.max(&mut any);
    any != [0.0]
}

/// F on each grid, nm³, one q after the other; `None` if stopped.
pub fn each<F: FormFactor + ?Sized>(
    form: &F,
    grids: &[QGrid],
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let out: Vec<Vec<Complex64>> = grids
        .par_iter()
        .map(|s| {
            let mut out = vec![Complex64::ZERO; s.len()];
            out.par_chunks_mut(1024)
                .enumerate()
                .for_each(|(block, to)| {
                    if watch.stopped() {
                        return;
                    }
                    for (i, f) in to.iter_mut().enumerate() {
                        *f = form.at(&s.q(block * 1024 + i).vector());
                    }
                    watch.tick(to.len() as u64);
                });
            out
        })
        .collect();
    (!watch.stopped()).then_some(out)
}
