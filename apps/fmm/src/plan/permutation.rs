//! Permutes values into the order of the boxes and back, and converts units.

use super::Plan;
use super::close::charge_of;
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
        Ok(unit_for(largest(charges, d)?))
    }

    /// Charges in the order of the boxes.
    pub(crate) fn ordered(&self, charges: &[f64], unit: f64) -> Vec<R> {
        let d = self.options.kernel.inputs();
        self.source_from
            .par_iter()
            .flat_map_iter(|&i| (0..d).map(move |b| R::of(charges[i as usize * d + b] / unit)))
            .collect()
    }

    /// Results of the share in the order of the input targets.
    pub(crate) fn restored(&self, out: &[R]) -> Vec<R> {
        let n = self.places.len();
        let mut all = vec![R::default(); out.len()];
        let to = SharedSlice::new(&mut all);
        for c in 0..out.len() / n.max(1) {
            self.places.par_iter().enumerate().for_each(|(k, &i)| {
                // SAFETY: each place below n occurs once.
                unsafe { *to.at(c * n + i as usize) = out[c * n + k] };
            });
        }
        all
    }

    /// Results at the share of the targets, in the order of the input, out of sums in that order: with the kernel's factor, in the units
    /// of the points and of the charges, and with what the rounding of close pairs cost.
    pub(crate) fn results(&self, sums: &[R], charges: &[f64], unit: f64, to: &mut Vec<f64>) {
        self.in_units(sums, unit, to);
        let each = self.options.kernel.inputs();
        // As the engines have them.
        let rounded = |q: f64| R::of(q / unit).wide() * unit;
        let from = |i: u32| (self.source_from[i as usize] as usize, each);
        self.correct(|i| charge_of(charges, from(i), rounded), to);
    }

    /// Results with the kernel's factor, in the units of the points and of the charges, into `to`.
    pub(crate) fn in_units(&self, sums: &[R], charge: f64, to: &mut Vec<f64>) {
        let o = &self.options;
        let (n, potential) = (self.places.len().max(1), o.kernel.factor() / self.unit);
        let potentials = n * o.kernel.inputs();
        to.resize(sums.len(), 0.0);
        (to.par_iter_mut().zip(sums).enumerate())
            .with_min_len(1 << 14)
            .for_each(|(i, (to, x))| {
                let x = if potential.is_normal() {
                    x.wide() * potential * charge
                } else {
                    // Of the smallest or largest lengths.
                    x.wide() * o.kernel.factor() * charge / self.unit
                };
                *to = if i >= potentials { x / self.unit } else { x };
            });
    }
}

/// The unit for charges of which the largest magnitude is given.
pub(crate) fn unit_for(largest: f64) -> f64 {
    let usual = 2f64.powi(-20)..=2f64.powi(20);
    if usual.contains(&largest) {
        1.0
    } else {
        unit(largest)
    }
}

/// The largest magnitude of charges, with `each` of a source.
///
/// # Errors
/// One is not finite.
pub(crate) fn largest(charges: &[f64], each: usize) -> Result<f64, FmmError> {
    let largest = charges
        .par_iter()
        .map(|q| {
            if q.is_finite() {
                q.abs()
            } else {
                f64::INFINITY
            }
        })
        .with_min_len(1 << 14)
        .reduce(|| 0.0, f64::max);
    if let Some(i) = (largest == f64::INFINITY)
        .then(|| charges.par_iter().position_first(|q| !q.is_finite()))
        .flatten()
    {
        return Err(FmmError::Charge {
            number: i / each + 1,
            value: charges[i],
        });
    }
    Ok(largest)
}
