//! Which constants the records determine. A class that never alone explains a time, or an energy that others explain as well,
//! has no value: only the most that it can be.

use super::model::{Parameters, Rows, TINY};
use super::{Method, refine_times};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// A constant that the records do not determine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotKnown {
    /// Its name: `dram time_s`, `f64 energy_j`, `constant_power_w`, `usable_power_w`.
    pub constant: String,
    /// What it is at most, in SI units; `None` where that is not known either.
    pub at_most: Option<f64>,
    /// The unit of `at_most`.
    pub unit: String,
}

/// Why an energy is not known.
pub(crate) const APART: &str =
    "cannot be distinguished from the others: add runs in which its share of the energy varies";

/// Smallest relative error of times and energies that a fit is trusted to show.
const FLOOR: f64 = 1e-3;
/// Gain in likelihood that a constant must bring, as of a cap.
const GAIN: f64 = 10.0;

/// Of each class, whether some record lies below every other roof, so that no other class (or cap) explains its time.
pub(super) fn times(rows: &Rows, full: &Parameters) -> Vec<bool> {
    let cost = |p: &Parameters| -> f64 { rows.time_residuals(p).iter().map(|r| r * r).sum() };
    let n = rows.rows.iter().filter(|r| r.full).count() as f64;
    let floor = n * FLOOR * FLOOR;
    let with = cost(full);
    (0..rows.ops.len())
        .map(|k| {
            if !rows.binds(full, k) {
                return false;
            }
            let alone = |counts: &[f64]| {
                counts[k] > 0.0 && counts.iter().enumerate().all(|(j, c)| j == k || *c == 0.0)
            };
            if full.dpi.is_none() && rows.rows.iter().any(|r| r.full && alone(&r.counts)) {
                return true;
            }
            // The other roofs as low as the records allow, and as they were fitted.
            let without = [rows.starting_times().tau, full.tau.clone()]
                .into_iter()
                .map(|mut tau| {
                    tau[k] = TINY;
                    let start = Parameters {
                        tau,
                        ..full.clone()
                    };
                    cost(&refine_times(rows, &start, 30)).min(cost(&start))
                })
                .fold(f64::INFINITY, f64::min);
            n * ((without + floor) / (with + floor)).ln() > GAIN
        })
        .collect()
}

/// Of the energy of each class and of the constant power: the most that it can be, and whether the records determine it
/// within a quarter of that.
pub(super) fn energies(rows: &Rows, full: &Parameters, method: Method) -> Vec<Coefficient> {
    let errors = rows.energy_errors(full, method);
    columns(&rows.energy_design().0, errors.iter().map(|e| e * e).sum())
}

/// What records say of one coefficient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coefficient {
    /// The most that it can be: more than that, and it alone would be more than some record holds.
    pub most: f64,
    /// Its standard error; infinite where others explain the same.
    pub error: f64,
}

impl Coefficient {
    /// Whether the records determine it within a quarter of the most that it can be.
    pub fn is_known(&self) -> bool {
        2.0 * self.error < 0.5 * self.most
    }
}

/// The same of each coefficient of a least-squares fit of relative errors, with the sum of their squares: rows are records, and
/// what a row times the coefficients gives is 1.
pub(crate) fn columns(a: &DMatrix<f64>, squares: f64) -> Vec<Coefficient> {
    let (n, m) = (a.nrows(), a.ncols());
    // As many constants as records leave no errors to see: then a hundredth.
    let sigma = if n > m {
        (squares / (n - m) as f64).sqrt().max(0.1 * FLOOR)
    } else {
        0.01
    };
    (0..m)
        .map(|k| {
            let column = a.column(k);
            let (norm, largest) = (column.norm(), column.max());
            if norm == 0.0 {
                return Coefficient {
                    most: f64::INFINITY,
                    error: f64::INFINITY,
                };
            }
            let most = 1.0 / largest;
            let others = a.clone().remove_column(k);
            let apart = distance(&others, &(column / norm));
            let error = if apart > 1e-7 {
                sigma / (norm * apart)
            } else {
                f64::INFINITY
            };
            Coefficient { most, error }
        })
        .collect()
}

/// Length of what is left of a vector outside of the span of columns.
fn distance(columns: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    if columns.ncols() == 0 {
        return x.norm();
    }
    let mut unit = columns.clone();
    for mut c in unit.column_iter_mut() {
        let n = c.norm();
        if n > 0.0 {
            c /= n;
        }
    }
    let svd = unit.svd(true, false);
    let Some(u) = svd.u else { return 0.0 };
    let largest = svd.singular_values.max();
    let mut rest = x.clone();
    for (i, s) in svd.singular_values.iter().enumerate() {
        if *s > 1e-9 * largest {
            let along = u.column(i);
            let by = along.dot(x);
            rest -= along * by;
        }
    }
    rest.norm()
}
