//! Permutes values into the order of the boxes and back, and converts units.

use super::Plan;
use crate::FmmError;
use crate::precision::{Real, unit};
use greenup_device::SharedSlice;
use rayon::prelude::*;

impl<R: Real> Plan<R> {
    /// Checks the charges. Returns the unit in which they are computed: 1, or a power of two near the largest charge where
    /// that is so far from 1 that sums could overflow.
    ///
    /// # Errors
    /// Their number is wrong, or one is not finite.
    pub fn unit_of_charges(&self, charges: &[f64]) -> Result<f64, FmmError> {
        let (d, n) = (self.options.kernel.inputs(), self.source_from.len());
        if charges.len() != n * d {
            return Err(FmmError::Charges {
                values: charges.len(),
                sources: n,
                kernel: self.options.kernel.name(),
                each: d,
            });
        }
        if let Some(i) = charges.par_iter().position_first(|&q| !q.is_finite()) {
            return Err(FmmError::Charge {
                number: i / d + 1,
                value: charges[i],
            });
        }
        let largest = charges.par_iter().map(|q| q.abs()).reduce(|| 0.0, f64::max);
        let usual = 2f64.powi(-20)..=2f64.powi(20);
        Ok(if usual.contains(&largest) {
            1.0
        } else {
            unit(largest)
        })
    }

    /// Charges in the order of the boxes.
    pub(crate) fn ordered(&self, charges: &[f64], unit: f64) -> Vec<R> {
        let d = self.options.kernel.inputs();
        self.source_from
            .par_iter()
            .flat_map_iter(|&i| (0..d).map(move |b| R::of(charges[i as usize * d + b] / unit)))
            .collect()
    }

    /// Results in the order of the input targets.
    pub(crate) fn restored(&self, out: &[R]) -> Vec<R> {
        let n = self.target_from.len();
        let mut all = vec![R::default(); out.len()];
        let to = SharedSlice::new(&mut all);
        for c in 0..out.len() / n.max(1) {
            self.target_from.par_iter().enumerate().for_each(|(k, &i)| {
                // SAFETY: the order names each target once, all below n.
                unsafe { *to.at(c * n + i as usize) = out[c * n + k] };
            });
        }
        all
    }

    /// Results with the kernel's factor, in the units of the points and of the charges.
    pub(crate) fn in_units(&self, sums: &[R], charge: f64) -> Vec<f64> {
        let o = &self.options;
        let (n, potential) = (self.target_from.len().max(1), o.kernel.factor() / self.unit);
        sums.par_iter()
            .enumerate()
            .map(|(i, x)| {
                let x = x.wide() * potential * charge;
                if i / n >= o.kernel.inputs() {
                    x / self.unit
                } else {
                    x
                }
            })
            .collect()
    }
}
