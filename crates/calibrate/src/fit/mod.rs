//! From records to constants: linear (eq 9), non-negative (eq 48) and capped (eqs 32–38) fits,
//! with bootstrap intervals and diagnostics.

pub mod caps;
pub mod clocked;
mod diagnose;
pub(crate) mod identify;
pub mod ks;
pub mod leakage;
mod model;
mod validate;

use greenup_setting::setting;
pub use identify::NotKnown;
pub use validate::{KsTest, Validation};

use crate::linalg::{levenberg_marquardt, lstsq, nnls};
use crate::record::Record;
use greenup_model::{Estimate, Label, Machine, Op, OpCost};
use model::{Parameters, Rows};
use nalgebra::DMatrix;
use serde::Serialize;
use std::collections::BTreeMap;

/// How energy is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Eq 9: ordinary least squares on E with the measured T; a cost may come out negative.
    Linear,
    /// Eq 48: the same with every cost ≥ 0.
    Nnls,
    /// Eqs 32–38: times, energies and the cap together, nonlinear.
    Capped,
}

/// Options of [`fit`].
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// Model to fit.
    pub method: Method,
    /// Resamples of the bootstrap.
    pub resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Whether to cross-validate, which refits for every fold.
    pub validate: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            method: Method::Capped,
            resamples: 200,
            seed: 1,
            validate: true,
        }
    }
}

/// One fitted constant with its 95 % interval; ends that are NaN are not known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Constant {
    /// Best estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl Constant {
    /// The interval, where it is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.lo.is_finite() && self.hi.is_finite()).then_some((self.lo, self.hi))
    }
}

/// Relative errors (model − measured)/measured over some records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Mean of the absolute relative errors.
    pub mean_abs: f64,
    /// Standard deviation of the absolute relative errors.
    pub sd: f64,
    /// Largest absolute relative error.
    pub max_abs: f64,
    /// Number of records.
    pub n: usize,
}

impl Errors {
    pub(crate) fn of(errors: &[f64]) -> Option<Self> {
        let n = errors.len();
        if n == 0 {
            return None;
        }
        let abs: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let mean_abs = abs.iter().sum::<f64>() / n as f64;
        let sd = (abs.iter().map(|e| (e - mean_abs).powi(2)).sum::<f64>() / n as f64).sqrt();
        Some(Self {
            mean_abs,
            sd,
            max_abs: abs.iter().copied().fold(0.0, f64::max),
            n,
        })
    }
}

/// What a fit found.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// Model that was fitted.
    pub method: Method,
    /// Number of records.
    pub records: usize,
    /// τ of each class, s.
    pub time_s: BTreeMap<Op, Constant>,
    /// ε of each class, J.
    pub energy_j: BTreeMap<Op, Constant>,
    /// π₀, W; `None` without energies.
    pub constant_power_w: Option<Constant>,
    /// `None` when no record is limited by a cap.
    pub usable_power_w: Option<Constant>,
    /// Relative errors of the time.
    pub time_errors: Option<Errors>,
    /// Relative errors of the energy.
    pub energy_errors: Option<Errors>,
    /// Condition number of the column-scaled energy design matrix.
    pub condition_number: Option<f64>,
    /// Constants that the records do not determine: they are in none of the maps above.
    pub not_known: Vec<NotKnown>,
    /// Doubts about the fit, one sentence each.
    pub warnings: Vec<String>,
    /// Cross-validation, if it was requested.
    pub validation: Option<Validation>,
}

/// Records that cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Fewer records than constants.
    #[error("there are {have} records{of_kind} for {need} constants; measure at least {need}")]
    TooFew {
        /// Usable records.
        have: usize,
        /// Constants to fit.
        need: usize,
        /// Which records count, for the message.
        of_kind: &'static str,
    },
    /// A clock that no processor has.
    #[error("{benchmark}: a clock of {hertz} Hz; `_clock_hz` is in Hz, 1e6 to 1e11")]
    Clock {
        /// Name of the benchmark.
        benchmark: String,
        /// Its clock, Hz.
        hertz: f64,
    },
    /// All counts are zero.
    #[error("no record does any operation")]
    NoWork,
    /// The method needs energies.
    #[error("the {0:?} fit needs energies, and no record has one")]
    NoEnergy(Method),
    /// The constants are not identifiable from the records.
    #[error(
        "the constants cannot be distinguished: the columns of the fit are linearly dependent; \
         add records in which the counts vary independently"
    )]
    Singular,
    /// A fitted cost is not a valid number.
    #[error(transparent)]
    Machine(#[from] greenup_model::MachineError),
    /// The unconstrained fit is not a machine.
    #[error(
        "the linear fit gives `{op}` a negative energy ({energy_j:e} J); use {} or capped",
        setting("method").to("nnls")
    )]
    NegativeEnergy {
        /// The class.
        op: Op,
        /// Its fitted energy, J.
        energy_j: f64,
    },
}

/// Fits a machine to records.
///
/// Every record is weighted by 1/measured², so residuals are relative (the thesis divides by W;
/// dividing by the measured value itself also puts benchmarks of different classes on one scale).
///
/// # Errors
/// When there are fewer records than constants, or their columns are dependent.
pub fn fit(records: &[Record], options: &FitOptions) -> Result<Fit, FitError> {
    let rows = Rows::new(records)?;
    let full = estimate(&rows, options.method)?;
    let intervals = bootstrap(&rows, &full, options);
    let mut warnings = Vec::new();
    let mut next = 0;
    let mut constant = |value: f64| {
        let (lo, hi) = intervals[next];
        next += 1;
        Constant {
            value,
            lo: lo.min(value),
            hi: hi.max(value),
        }
    };
    let mut time_s = BTreeMap::new();
    for (&op, &tau) in rows.ops.iter().zip(&full.tau) {
        time_s.insert(op, constant(tau));
    }
    let mut energy_j = BTreeMap::new();
    let (mut constant_power_w, mut usable_power_w) = (None, None);
    if rows.has_energy {
        for (&op, &eps) in rows.ops.iter().zip(&full.eps) {
            energy_j.insert(op, constant(eps));
        }
        constant_power_w = Some(constant(full.pi0));
        usable_power_w = full.dpi.map(&mut constant);
    }
    warnings.extend(diagnose::outlier(records, &rows.time_errors(&full)));
    let mut not_known = Vec::new();
    let mut leave_out = |constant: String, at_most: Option<f64>, unit: String, why: String| {
        let bound = at_most.map_or_else(String::new, |x| format!(", at most {x:.3e} {unit}"));
        warnings.push(format!("{why}: it is not known{bound}"));
        not_known.push(NotKnown {
            constant,
            at_most,
            unit,
        });
    };
    // A class that binds in no record, or only where another may, has a time only from above.
    let most = rows.starting_times().tau;
    for (k, known) in identify::times(&rows, &full).into_iter().enumerate() {
        let op = rows.ops[k];
        if known {
            continue;
        }
        time_s.remove(&op);
        let why = match rows.binds(&full, k) {
            false if records.iter().all(|r| r.occupancy < 1.0) => format!(
                "no record uses the whole device (occupancy 1), so the time cost of `{op}` stays open"
            ),
            false => format!("no record is bound by `{op}`, so its time cost stays open"),
            true => format!(
                "the time cost of `{op}` cannot be distinguished from the other roofs, as no record lies clearly below all of those"
            ),
        };
        let at_most = (most[k] > model::TINY).then_some(most[k]);
        leave_out(
            format!("{op} time_s"),
            at_most,
            format!("s/{}", op.unit_name()),
            why,
        );
    }
    if rows.has_energy {
        let mut lacking = false;
        let all = identify::energies(&rows, &full, options.method);
        for (k, c) in all.into_iter().enumerate() {
            if c.is_known() {
                continue;
            }
            lacking = true;
            let (most, apart) = (c.most, identify::APART);
            match rows.ops.get(k) {
                Some(op) => {
                    energy_j.remove(op);
                    let unit = format!("J/{}", op.unit_name());
                    leave_out(
                        format!("{op} energy_j"),
                        Some(most),
                        unit,
                        format!("the energy of `{op}` {apart}"),
                    );
                }
                None => {
                    constant_power_w = None;
                    leave_out(
                        "constant_power_w".into(),
                        Some(most),
                        "W".into(),
                        format!("constant power {apart}"),
                    );
                }
            }
        }
        if lacking && usable_power_w.take().is_some() {
            leave_out(
                "usable_power_w".into(),
                None,
                "W".into(),
                "the cap limits energies that are not known".into(),
            );
        }
    }
    let condition_number = if rows.has_energy {
        let (number, more) = diagnose::energy_design(&rows, &energy_j, constant_power_w);
        warnings.extend(more);
        Some(number)
    } else {
        None
    };
    Ok(Fit {
        method: options.method,
        records: records.len(),
        time_errors: Errors::of(&rows.time_errors(&full)),
        energy_errors: Errors::of(&rows.energy_errors(&full, options.method)),
        validation: (options.validate && rows.has_energy)
            .then(|| validate::validate(&rows, options.method))
            .flatten(),
        time_s,
        energy_j,
        constant_power_w,
        usable_power_w,
        condition_number,
        not_known,
        warnings,
    })
}

/// Point estimate of all constants.
fn estimate(rows: &Rows, method: Method) -> Result<Parameters, FitError> {
    let mut p = rows.starting_times();
    if rows.has_energy {
        let (a, b) = rows.energy_design();
        let x = match method {
            Method::Linear => lstsq(&a, &b).ok_or(FitError::Singular)?,
            Method::Nnls | Method::Capped => nnls(&a, &b),
        };
        p.eps.copy_from_slice(&x[..rows.ops.len()]);
        p.pi0 = x[rows.ops.len()];
    }
    if method == Method::Capped && rows.has_energy {
        let (capped, uncapped) = (refine(rows, &p, true, 60), refine(rows, &p, false, 60));
        // A cap that explains nothing is no cap: it must earn its parameter (AIC).
        let n = rows.len() as f64 * 2.0;
        let gain = n * (uncapped.1 / capped.1.max(f64::MIN_POSITIVE)).ln();
        return Ok(if gain > 10.0 && rows.capped_rows(&capped.0) >= 3 {
            capped.0
        } else {
            uncapped.0
        });
    }
    Ok(refine_times(rows, &p, 60))
}

/// All constants by Levenberg–Marquardt on the logarithms; returns the sum of squares too.
fn refine(rows: &Rows, start: &Parameters, cap: bool, steps: usize) -> (Parameters, f64) {
    let mut start = start.clone();
    start.dpi = cap.then(|| {
        start
            .dpi
            .unwrap_or_else(|| rows.largest_power() - start.pi0)
    });
    let x = start.to_logs();
    let residuals = |x: &[f64]| rows.residuals(&Parameters::from_logs(x, rows.ops.len(), cap));
    let (x, cost) = levenberg_marquardt(x, steps, &residuals);
    (Parameters::from_logs(&x, rows.ops.len(), cap), cost)
}

/// Times alone.
fn refine_times(rows: &Rows, start: &Parameters, steps: usize) -> Parameters {
    let x: Vec<f64> = start.tau.iter().map(|t| t.ln()).collect();
    let with = |x: &[f64]| Parameters {
        tau: x.iter().map(|v| v.exp()).collect(),
        ..start.clone()
    };
    let (x, _) = levenberg_marquardt(x, steps, &|x| rows.time_residuals(&with(x)));
    with(&x)
}

/// Percentile intervals of every constant by resampling residuals.
///
/// Residuals are inflated by √(n/(n−p)) for the constants they were fitted with, and resampled
/// within time and energy separately.
fn bootstrap(rows: &Rows, full: &Parameters, options: &FitOptions) -> Vec<(f64, f64)> {
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let mut samples: Vec<Vec<f64>> = Vec::with_capacity(options.resamples);
    for _ in 0..options.resamples {
        let resampled = rows.resampled(full, options.method, &mut rng);
        let p = match options.method {
            Method::Capped if rows.has_energy => refine(&resampled, full, full.dpi.is_some(), 6).0,
            _ => {
                let mut p = refine_times(&resampled, full, 6);
                if rows.has_energy {
                    let (a, b) = resampled.energy_design();
                    let x = if options.method == Method::Linear {
                        lstsq(&a, &b).unwrap_or_else(|| vec![f64::NAN; b.len()])
                    } else {
                        nnls(&a, &b)
                    };
                    p.eps.copy_from_slice(&x[..rows.ops.len()]);
                    p.pi0 = x[rows.ops.len()];
                }
                p
            }
        };
        samples.push(p.flatten(rows.has_energy));
    }
    let width = full.flatten(rows.has_energy).len();
    (0..width)
        .map(|k| {
            let column: Vec<f64> = samples.iter().map(|s| s[k]).collect();
            (
                greenup_meter::stats::quantile(&column, 0.025),
                greenup_meter::stats::quantile(&column, 0.975),
            )
        })
        .collect()
}

impl Fit {
    /// Whether the records do not determine the time of a class.
    pub(crate) fn lacks_time(&self, op: Op) -> bool {
        let name = format!("{op} time_s");
        self.not_known.iter().any(|n| n.constant == name)
    }

    /// Takes the times of a machine, as its roofs, in place of the fitted ones.
    pub(crate) fn set_times(&mut self, machine: &Machine) {
        let times = machine.cost.iter().filter_map(|(op, cost)| {
            let t = cost.time_s.as_ref()?;
            Some((
                *op,
                Constant {
                    value: t.value,
                    lo: t.lo.unwrap_or(f64::NAN),
                    hi: t.hi.unwrap_or(f64::NAN),
                },
            ))
        });
        self.time_s = times.collect();
    }

    /// The fitted machine.
    ///
    /// # Errors
    /// [`FitError::NegativeEnergy`] if a linear fit gave a class a negative cost;
    /// [`FitError::Machine`] if a cost is not a valid number.
    pub fn to_machine(&self, name: &str, title: &str) -> Result<Machine, FitError> {
        let estimate = |c: &Constant| {
            let mut e = match c.interval() {
                Some((lo, hi)) => Estimate::with_interval(c.value, lo.max(0.0), hi),
                None => Estimate::new(c.value),
            };
            e.label = Some(Label::Measured);
            e
        };
        let mut cost: BTreeMap<Op, OpCost> = BTreeMap::new();
        for op in Op::ALL {
            let (time, energy) = (self.time_s.get(&op), self.energy_j.get(&op));
            if let Some(c) = energy.filter(|c| c.value < 0.0) {
                return Err(FitError::NegativeEnergy {
                    op,
                    energy_j: c.value,
                });
            }
            if time.is_some() || energy.is_some() {
                cost.insert(
                    op,
                    OpCost {
                        time_s: time.map(estimate),
                        energy_j: energy.map(estimate),
                        clock_hz: None,
                    },
                );
            }
        }
        let machine = Machine {
            name: name.to_owned(),
            title: title.to_owned(),
            label: Label::Measured,
            about: format!("{:?} fit of {} records", self.method, self.records),
            sources: Vec::new(),
            facts: BTreeMap::new(),
            warnings: self.warnings.clone(),
            constant_power_w: self.constant_power_w.as_ref().map(estimate),
            usable_power_w: self.usable_power_w.as_ref().map(estimate),
            clock: None,
            network: None,
            link: None,
            host: None,
            cost,
        };
        machine.check()?;
        Ok(machine)
    }
}

/// Design matrix type shared by the parts of this module.
type Design = (DMatrix<f64>, Vec<f64>);

#[cfg(test)]
mod tests;
