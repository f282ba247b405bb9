//! Numbers into the order of the boxes and back, and into units.

use crate::FmmError;
use crate::direct::Shared;
use crate::plan::Plan;
use crate::real::Real;
use rayon::prelude::*;

impl<R: Real> Plan<R> {
    /// Checks that there is a number for each source, and all are numbers of the precision.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_charges(&self, charges: &[f64]) -> Result<(), FmmError> {
        let (d, n) = (self.options.kernel.inputs(), self.source_from.len());
        if charges.len() != n * d {
            return Err(FmmError(format!(
                "{} numbers of charges for {n} sources: {} takes {d} each",
                charges.len(),
                self.options.kernel.name()
            )));
        }
        match charges
            .par_iter()
            .position_first(|&q| !R::of(q).wide().is_finite())
        {
            Some(i) => Err(FmmError(format!(
                "the charge of source {} is {}, no number of {}",
                i / d + 1,
                charges[i],
                R::NAME
            ))),
            None => Ok(()),
        }
    }

    /// Charges in the order of the boxes.
    pub(crate) fn ordered(&self, charges: &[f64]) -> Vec<R> {
        let d = self.options.kernel.inputs();
        self.source_from
            .par_iter()
            .flat_map_iter(|&i| (0..d).map(move |b| R::of(charges[i as usize * d + b])))
            .collect()
    }

    /// Sums in the order of the targets.
    pub(crate) fn restored(&self, out: &[R]) -> Vec<R> {
        let n = self.target_from.len();
        let mut all = vec![R::default(); out.len()];
        let to = Shared(all.as_mut_ptr());
        for c in 0..out.len() / n.max(1) {
            self.target_from.par_iter().enumerate().for_each(|(k, &i)| {
                // SAFETY: the order names each target once, all below n.
                unsafe { *to.at(c * n + i as usize) = out[c * n + k] };
            });
        }
        all
    }

    /// Sums with the kernel's factor, in the units of the points.
    pub(crate) fn in_units(&self, sums: &[R]) -> Vec<f64> {
        let o = &self.options;
        let (n, potential) = (self.target_from.len().max(1), o.kernel.factor() / self.unit);
        sums.par_iter()
            .enumerate()
            .map(|(i, x)| {
                let x = x.wide() * potential;
                if i / n >= o.kernel.inputs() {
                    x / self.unit
                } else {
                    x
                }
            })
            .collect()
    }
}
