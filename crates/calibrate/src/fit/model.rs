//! The model as the fit sees it: rows of counts, a parameter vector, residuals.

use super::{FitError, Method};
use crate::record::Record;
use greenup_model::{Op, Unit};
use nalgebra::DMatrix;

/// All constants of a machine as plain numbers, in the order of [`Rows::ops`].
#[derive(Clone, Debug)]
pub struct Parameters {
    pub tau: Vec<f64>,
    pub eps: Vec<f64>,
    pub pi0: f64,
    pub dpi: Option<f64>,
}

/// Log of a cost that may be 0: the floor stands for "nothing measurable".
pub const TINY: f64 = 1e-18;

impl Parameters {
    pub fn to_logs(&self) -> Vec<f64> {
        let eps = self.eps.iter().map(|e| e.max(TINY).ln());
        let tau = self.tau.iter().map(|t| t.ln());
        tau.chain(eps)
            .chain([self.pi0.max(1e-6).ln()])
            .chain(self.dpi.map(|d| d.max(1e-6).ln()))
            .collect()
    }

    pub fn from_logs(x: &[f64], ops: usize, cap: bool) -> Self {
        Self {
            tau: x[..ops].iter().map(|v| v.exp()).collect(),
            eps: x[ops..2 * ops].iter().map(|v| v.exp()).collect(),
            pi0: x[2 * ops].exp(),
            dpi: cap.then(|| x[2 * ops + 1].exp()),
        }
    }

    /// In the order in which `fit` asks for intervals.
    pub fn flatten(&self, energy: bool) -> Vec<f64> {
        let mut v = self.tau.clone();
        if energy {
            v.extend(&self.eps);
            v.push(self.pi0);
            v.extend(self.dpi);
        }
        v
    }
}

/// One record as numbers.
#[derive(Clone, Debug)]
pub struct RecordNumbers {
    pub counts: Vec<f64>,
    pub time_s: f64,
    pub energy_j: f64,
    /// Whether its time is that of the whole device.
    pub full: bool,
    pub benchmark: String,
    pub setting: String,
}

/// All records, with the classes that occur.
#[derive(Clone, Debug)]
pub struct Rows {
    pub ops: Vec<Op>,
    pub rows: Vec<RecordNumbers>,
    pub has_energy: bool,
}

impl Rows {
    /// Energy is fitted when every record has one; records without are dropped when some have.
    pub fn new(records: &[Record]) -> Result<Self, FitError> {
        let has_energy = records.iter().any(|r| r.energy_j.is_some());
        let used: Vec<&Record> = records
            .iter()
            .filter(|r| !has_energy || r.energy_j.is_some())
            .collect();
        let ops: Vec<Op> = Op::ALL
            .into_iter()
            .filter(|&op| used.iter().any(|r| r.work.count(op) > 0.0))
            .collect();
        if ops.is_empty() {
            return Err(FitError::NoWork);
        }
        let need = ops.len() + usize::from(has_energy);
        if used.len() < need {
            return Err(FitError::TooFew {
                have: used.len(),
                need,
                of_kind: if has_energy { " with an energy" } else { "" },
            });
        }
        let rows = used
            .into_iter()
            .map(|r| RecordNumbers {
                counts: ops.iter().map(|&op| r.work.count(op)).collect(),
                time_s: r.time_s,
                energy_j: r.energy_j.unwrap_or(0.0),
                full: r.occupancy >= 1.0,
                benchmark: r.benchmark.clone(),
                setting: r.setting.clone(),
            })
            .collect();
        Ok(Self {
            ops,
            rows,
            has_energy,
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The same classes with other rows.
    pub fn with_rows(&self, rows: Vec<RecordNumbers>) -> Self {
        Self {
            rows,
            ..self.clone()
        }
    }

    /// Upper bounds of the times: the best rate seen for each class.
    pub fn starting_times(&self) -> Parameters {
        let tau = (0..self.ops.len())
            .map(|k| {
                self.rows
                    .iter()
                    .filter(|r| r.full && r.counts[k] > 0.0)
                    .map(|r| r.time_s / r.counts[k])
                    .fold(f64::INFINITY, f64::min)
            })
            // A class that only partial runs use binds nowhere.
            .map(|t| if t.is_finite() { t } else { TINY })
            .collect();
        Parameters {
            tau,
            eps: vec![0.0; self.ops.len()],
            pi0: 0.0,
            dpi: None,
        }
    }

    /// Modelled time of a row and the unit that sets it (`None`: the cap).
    fn time(&self, row: &RecordNumbers, p: &Parameters) -> (f64, Option<Unit>) {
        let mut best = (0.0, None);
        for (k, op) in self.ops.iter().enumerate() {
            // Classes are sorted so that those of one unit stand together or are summed here.
            let unit = op.unit();
            let t: f64 = (0..self.ops.len())
                .filter(|&j| self.ops[j].unit() == unit)
                .map(|j| row.counts[j] * p.tau[j])
                .sum();
            if row.counts[k] > 0.0 && t > best.0 {
                best = (t, Some(unit));
            }
        }
        if let Some(dpi) = p.dpi {
            let t = self.marginal(row, p) / dpi;
            if t > best.0 {
                return (t, None);
            }
        }
        best
    }

    fn marginal(&self, row: &RecordNumbers, p: &Parameters) -> f64 {
        row.counts.iter().zip(&p.eps).map(|(n, e)| n * e).sum()
    }

    /// Modelled energy; the capped method uses its own time where the row's time is the device's.
    fn energy(&self, row: &RecordNumbers, p: &Parameters, method: Method) -> f64 {
        let t = if method == Method::Capped && row.full {
            self.time(row, p).0
        } else {
            row.time_s
        };
        self.marginal(row, p) + p.pi0 * t
    }

    /// Relative errors of time, full rows only.
    pub fn time_errors(&self, p: &Parameters) -> Vec<f64> {
        let full = self.rows.iter().filter(|r| r.full);
        full.map(|r| self.time(r, p).0 / r.time_s - 1.0).collect()
    }

    /// Modelled time and energy of the rows on the whole device, from the work alone.
    pub fn predictions(&self, p: &Parameters) -> Vec<(f64, f64)> {
        let full = self.rows.iter().filter(|r| r.full);
        full.map(|r| {
            let t = self.time(r, p).0;
            (t, self.marginal(r, p) + p.pi0 * t)
        })
        .collect()
    }

    pub fn energy_errors(&self, p: &Parameters, method: Method) -> Vec<f64> {
        if !self.has_energy {
            return Vec::new();
        }
        self.rows
            .iter()
            .map(|r| self.energy(r, p, method) / r.energy_j - 1.0)
            .collect()
    }

    pub fn time_residuals(&self, p: &Parameters) -> Vec<f64> {
        let full = self.rows.iter().filter(|r| r.full);
        full.map(|r| soften((self.time(r, p).0 / r.time_s).ln()))
            .collect()
    }

    pub fn residuals(&self, p: &Parameters) -> Vec<f64> {
        let mut r = self.time_residuals(p);
        r.extend(
            self.rows
                .iter()
                .map(|row| soften((self.energy(row, p, Method::Capped) / row.energy_j).ln())),
        );
        r
    }

    /// Rows [N_k/E, T/E] against ones (eq 9 with relative weights).
    pub fn energy_design(&self) -> Design {
        let n = self.ops.len();
        let a = DMatrix::from_fn(self.len(), n + 1, |i, j| {
            let r = &self.rows[i];
            (if j < n { r.counts[j] } else { r.time_s }) / r.energy_j
        });
        (a, vec![1.0; self.len()])
    }

    pub fn largest_power(&self) -> f64 {
        self.rows
            .iter()
            .map(|r| r.energy_j / r.time_s)
            .fold(0.0, f64::max)
    }

    /// How many full rows the cap limits.
    pub fn capped_rows(&self, p: &Parameters) -> usize {
        let full = self.rows.iter().filter(|r| r.full);
        full.filter(|r| self.time(r, p).1.is_none()).count()
    }

    /// Whether class k has the largest time in some full row's binding unit.
    pub fn binds(&self, p: &Parameters, k: usize) -> bool {
        self.rows.iter().filter(|r| r.full).any(|r| {
            let own = r.counts[k] * p.tau[k];
            let (t, unit) = self.time(r, p);
            unit == Some(self.ops[k].unit()) && own > 0.5 * t
        })
    }

    /// Rows with times and energies replaced by the model's plus resampled residuals.
    pub fn resampled(&self, p: &Parameters, method: Method, rng: &mut fastrand::Rng) -> Self {
        let spread = |residuals: &[f64], constants: usize| -> Vec<f64> {
            let n = residuals.len() as f64;
            let inflate = (n / (n - constants as f64).max(1.0)).sqrt();
            residuals.iter().map(|r| r * inflate).collect()
        };
        let logs =
            |errors: Vec<f64>| -> Vec<f64> { errors.iter().map(|e| -(1.0 + e).ln()).collect() };
        let time_logs = spread(&logs(self.time_errors(p)), self.ops.len());
        let energy_logs = spread(&logs(self.energy_errors(p, method)), self.ops.len() + 1);
        let mut draw = |v: &[f64]| v[rng.usize(..v.len())].exp();
        let rows = self
            .rows
            .iter()
            .map(|r| {
                let mut row = r.clone();
                if r.full {
                    row.time_s = self.time(r, p).0 * draw(&time_logs);
                }
                if self.has_energy {
                    // With the measured time for eq 9, so that only the energy is resampled.
                    row.energy_j = self.energy(r, p, method) * draw(&energy_logs);
                    if method != Method::Capped {
                        row.energy_j += p.pi0 * (row.time_s - r.time_s);
                    }
                }
                row
            })
            .collect();
        self.with_rows(rows)
    }
}

/// Square root of the Huber loss beyond 15 %: a benchmark that does not fit the model at all
/// must not bend the others.
fn soften(r: f64) -> f64 {
    let limit = 0.15;
    if r.abs() <= limit {
        r
    } else {
        (limit * (2.0 * r.abs() - limit)).sqrt().copysign(r)
    }
}

/// Design matrix type shared by the parts of this module.
pub(super) type Design = (DMatrix<f64>, Vec<f64>);
