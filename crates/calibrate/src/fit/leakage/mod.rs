//! Leakage with temperature (thesis, eq 40), fitted to records that hold a clock and a temperature.
//!
//! E = Σ N ε v² + T (π_misc + C₁ v exp(−Θ (1/θ − 1/θ₀))), v = 1 − s (1 − f/f_max), θ the temperature of the device. Coefficients
//! by non-negative least squares on relative errors, s and Θ by Nelder–Mead around it. Without Θ it is eq 42.

use super::clocked::{ClockedRecord, STEEPEST, highest, ops, rows};
use super::{Constant, FitError};
use crate::linalg::{nelder_mead, nnls};
use crate::record::Record;
use greenup_meter::stats::quantile;
use greenup_model::clocked::follows_core;
use greenup_model::dvfs::LeakageTemperature;
use nalgebra::DMatrix;
use serde::Serialize;
use std::collections::BTreeSet;

/// Largest Θ, K: a threshold of 1 V with a = 1.
const LARGEST_K: f64 = 12_000.0;

/// What was fitted.
#[derive(Clone, Debug, Serialize)]
pub struct LeakageFit {
    /// Number of records.
    pub records: usize,
    /// Coldest and hottest record, °C.
    pub temperature_c: (f64, f64),
    /// θ₀, °C: the mean temperature of the records.
    pub reference_c: f64,
    /// Θ = q V_th/(a k_a), K; `None`, as the next two, unless the records tell leakage from other constant power.
    pub theta_k: Option<Constant>,
    /// Leakage at the highest clock and θ₀, W.
    pub leakage_w: Option<Constant>,
    /// Power that depends on neither voltage nor temperature, W.
    pub misc_w: Option<Constant>,
    /// s of the voltage.
    pub voltage_slope: f64,
    /// Mean absolute relative error of the energy.
    pub mean_abs_error: f64,
    /// The same with a constant power that depends on neither.
    pub mean_abs_error_constant: f64,
    /// Mean absolute relative errors of the energy of benchmarks left out of the fit, one at a time: with leakage over
    /// temperature, and with one constant power. `None` where no benchmark can be left out.
    pub held_out: Option<(f64, f64)>,
    /// Correlation of temperature and power of the operations over the records. Near 1 the temperature tells the load, whose
    /// power the fit may take for leakage.
    pub correlation: f64,
    /// Constant power of each record: its energy less that of its operations, over its time. Temperature in °C, voltage
    /// over that at the highest clock, and W.
    pub constant_power: Vec<(f64, f64, f64)>,
}

impl LeakageFit {
    /// Leakage over temperature, for the coefficients at the reference; `None` where it is not known.
    pub fn temperature(&self) -> Option<LeakageTemperature> {
        Some(LeakageTemperature {
            theta_k: self.theta_k?.value,
            reference_k: self.reference_c + LeakageTemperature::ZERO_C,
        })
    }

    /// Constant power at a temperature in °C and a voltage over that at the highest clock, W; `None` where leakage is not known.
    pub fn constant_power_w(&self, celsius: f64, voltage: f64) -> Option<f64> {
        let kelvin = celsius + LeakageTemperature::ZERO_C;
        let leakage = self
            .temperature()?
            .power_w(self.leakage_w?.value, voltage, kelvin);
        Some(self.misc_w?.value + leakage)
    }
}

/// A record with its temperature.
#[derive(Clone)]
struct Warm {
    row: ClockedRecord,
    kelvin: f64,
}

/// Coefficients for one slope and one Θ: energies, π_misc, C₁.
struct Costs {
    x: Vec<f64>,
    errors: Vec<f64>,
}

impl Costs {
    fn squares(&self) -> f64 {
        self.errors.iter().map(|e| e * e).sum()
    }
}

/// What a fit needs besides the records.
struct Frame {
    ops: Vec<greenup_model::Op>,
    top_hz: f64,
    reference_k: f64,
}

impl Frame {
    fn voltage(&self, w: &Warm, slope: f64) -> f64 {
        1.0 - slope * (1.0 - w.row.clock_hz / self.top_hz)
    }

    /// Least squares for one slope; with Θ, or with one constant power without.
    fn costs(&self, all: &[Warm], slope: f64, theta_k: Option<f64>) -> Costs {
        let n = self.ops.len();
        let of = LeakageTemperature {
            theta_k: theta_k.unwrap_or(0.0),
            reference_k: self.reference_k,
        };
        let width = n + 1 + usize::from(theta_k.is_some());
        let a = DMatrix::from_fn(all.len(), width, |i, j| {
            let (r, v) = (&all[i].row, self.voltage(&all[i], slope));
            let x = match self.ops.get(j) {
                Some(&op) if follows_core(op) => r.record.work.count(op) * v * v,
                Some(&op) => r.record.work.count(op),
                None if j == n => r.record.time_s,
                None => r.record.time_s * v * of.factor(all[i].kelvin),
            };
            x / r.energy_j
        });
        let x = nnls(&a, &vec![1.0; all.len()]);
        let errors = (0..all.len())
            .map(|i| (0..width).map(|j| a[(i, j)] * x[j]).sum::<f64>() - 1.0)
            .collect();
        Costs { x, errors }
    }

    /// Slope and Θ of the least squares: golden sections in turns from several values of Θ, then together.
    fn best(&self, all: &[Warm]) -> (f64, f64) {
        let mut best = (f64::INFINITY, 0.0, 0.0);
        for mut theta in [0.0, 2000.0, 6000.0] {
            let slope = golden(0.0, STEEPEST, 20, |s| {
                self.costs(all, s, Some(theta)).squares()
            });
            theta = self.theta(all, slope);
            let squares = self.costs(all, slope, Some(theta)).squares();
            if squares < best.0 {
                best = (squares, slope, theta);
            }
        }
        self.near(all, (best.1, best.2), 160)
    }

    /// Slope and Θ of the least squares near others.
    fn near(&self, all: &[Warm], (slope, theta): (f64, f64), steps: u64) -> (f64, f64) {
        let bounded = |x: &[f64]| {
            (
                x[0].clamp(0.0, STEEPEST),
                (1000.0 * x[1]).clamp(0.0, LARGEST_K),
            )
        };
        let start = [slope, theta / 1000.0];
        let found = nelder_mead(&start, &[0.2, 1.0], steps, &|x| {
            let (s, t) = bounded(x);
            self.costs(all, s, Some(t)).squares()
        });
        found.map_or((slope, theta), |(x, _)| bounded(&x))
    }

    /// Relative errors of the energy of records by the coefficients of others.
    fn errors(&self, x: &[f64], of: &[Warm], slope: f64, theta_k: Option<f64>) -> Vec<f64> {
        let warmth = LeakageTemperature {
            theta_k: theta_k.unwrap_or(0.0),
            reference_k: self.reference_k,
        };
        let n = self.ops.len();
        (of.iter())
            .map(|w| {
                let (r, v) = (&w.row.record, self.voltage(w, slope));
                let marginal: f64 = (self.ops.iter().zip(x))
                    .map(|(&op, e)| {
                        let e = e * r.work.count(op);
                        if follows_core(op) { e * v * v } else { e }
                    })
                    .sum();
                let leakage = x
                    .get(n + 1)
                    .map_or(0.0, |c| c * v * warmth.factor(w.kelvin));
                (marginal + (x[n] + leakage) * r.time_s) / w.row.energy_j - 1.0
            })
            .collect()
    }

    /// Leaves out one benchmark after the other; one of a class that no other has is kept.
    fn held_out(&self, all: &[Warm], slopes: (f64, f64)) -> Option<(f64, f64)> {
        let names: BTreeSet<&str> = (all.iter().map(|w| w.row.record.benchmark.as_str())).collect();
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for name in names {
            let (test, train): (Vec<Warm>, Vec<Warm>) =
                (all.iter().cloned()).partition(|w| w.row.record.benchmark == name);
            let has = |of: &[Warm], op| of.iter().any(|w| w.row.record.work.count(op) > 0.0);
            if (self.ops.iter()).any(|&op| has(&test, op) && !has(&train, op)) {
                continue;
            }
            let theta = Some(self.theta(&train, slopes.0));
            let x = self.costs(&train, slopes.0, theta).x;
            with.extend(self.errors(&x, &test, slopes.0, theta));
            let x = self.costs(&train, slopes.1, None).x;
            without.extend(self.errors(&x, &test, slopes.1, None));
        }
        let mean = |e: &[f64]| e.iter().map(|x| x.abs()).sum::<f64>() / e.len() as f64;
        (!with.is_empty()).then(|| (mean(&with), mean(&without)))
    }

    /// Θ of the least squares at a slope.
    fn theta(&self, all: &[Warm], slope: f64) -> f64 {
        golden(0.0, LARGEST_K, 24, |t| {
            self.costs(all, slope, Some(t)).squares()
        })
    }
}

/// Correlation of pairs.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let mean =
        |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / pairs.len() as f64;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let both = mean(&|p| (p.0 - x) * (p.1 - y));
    both / (mean(&|p| (p.0 - x).powi(2)) * mean(&|p| (p.1 - y).powi(2))).sqrt()
}

/// Where a function of one valley is least.
fn golden(lo: f64, hi: f64, steps: usize, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5_f64.sqrt() - 1.0);
    let (mut lo, mut hi) = (lo, hi);
    let (mut a, mut b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..steps {
        if fa < fb {
            hi = b;
            (b, fb) = (a, fa);
            a = hi - ratio * (hi - lo);
            fa = f(a);
        } else {
            lo = a;
            (a, fa) = (b, fb);
            b = lo + ratio * (hi - lo);
            fb = f(b);
        }
    }
    if fa < fb { a } else { b }
}

/// Fits leakage with temperature.
///
/// # Errors
/// Fewer records with an energy, a clock and a temperature than constants.
pub fn fit_leakage(records: &[Record], resamples: usize) -> Result<LeakageFit, FitError> {
    let all: Vec<Warm> = (rows(records).into_iter())
        .filter_map(|row| {
            let kelvin = row.record.note("_temperature_c")? + LeakageTemperature::ZERO_C;
            Some(Warm { row, kelvin })
        })
        .collect();
    let plain: Vec<ClockedRecord> = all.iter().map(|w| w.row.clone()).collect();
    let need = ops(&plain).len() + 4;
    if all.len() < need {
        return Err(FitError::TooFew {
            have: all.len(),
            need,
            of_kind: " with an energy, a clock and a temperature",
        });
    }
    let frame = Frame {
        ops: ops(&plain),
        top_hz: highest(&plain),
        reference_k: all.iter().map(|w| w.kelvin).sum::<f64>() / all.len() as f64,
    };
    let n = frame.ops.len();
    let (slope, theta) = frame.best(&all);
    let found = frame.costs(&all, slope, Some(theta));
    let plain_slope = golden(0.0, STEEPEST, 24, |s| frame.costs(&all, s, None).squares());
    let without = frame.costs(&all, plain_slope, None);
    let mut rng = fastrand::Rng::with_seed(1);
    let drawn: Vec<(f64, f64, f64)> = (0..resamples)
        .map(|_| {
            let again: Vec<Warm> = (0..all.len())
                .map(|_| all[rng.usize(..all.len())].clone())
                .collect();
            let (s, t) = frame.near(&again, (slope, theta), 40);
            let x = frame.costs(&again, s, Some(t)).x;
            (t, x[n + 1], x[n])
        })
        .collect();
    let constant = |value: f64, of: fn(&(f64, f64, f64)) -> f64| {
        let values: Vec<f64> = drawn.iter().map(of).collect();
        let end = |q| {
            if values.is_empty() {
                value
            } else {
                quantile(&values, q)
            }
        };
        Constant {
            value,
            lo: end(0.025).min(value),
            hi: end(0.975).max(value),
        }
    };
    let mean = |c: &Costs| c.errors.iter().map(|e| e.abs()).sum::<f64>() / all.len() as f64;
    let celsius = |w: &Warm| w.kelvin - LeakageTemperature::ZERO_C;
    let constant_power: Vec<(f64, f64, f64)> = (all.iter())
        .map(|w| {
            let v = frame.voltage(w, slope);
            let marginal: f64 = (frame.ops.iter().zip(&found.x))
                .map(|(&op, e)| {
                    let e = e * w.row.record.work.count(op);
                    if follows_core(op) { e * v * v } else { e }
                })
                .sum();
            let watts = (w.row.energy_j - marginal) / w.row.record.time_s;
            (celsius(w), v, watts)
        })
        .collect();
    let power = |w: &Warm| w.row.energy_j / w.row.record.time_s;
    let loads: Vec<_> = (all.iter().zip(&constant_power))
        .map(|(w, of)| (of.0, power(w) - of.2))
        .collect();
    // Akaike: n ln(squares) + 2 constants, of which this model has two more: C₁ and Θ.
    let gain = all.len() as f64 * (without.squares() / found.squares()).ln();
    // It earns its constants.
    let distinguished = gain > 4.0 && found.x[n + 1] > 0.0 && theta > 1.0;
    let known =
        |value: f64, of: fn(&(f64, f64, f64)) -> f64| distinguished.then(|| constant(value, of));
    Ok(LeakageFit {
        records: all.len(),
        temperature_c: (
            all.iter().map(celsius).fold(f64::INFINITY, f64::min),
            all.iter().map(celsius).fold(f64::NEG_INFINITY, f64::max),
        ),
        reference_c: frame.reference_k - LeakageTemperature::ZERO_C,
        theta_k: known(theta, |d| d.0),
        leakage_w: known(found.x[n + 1], |d| d.1),
        misc_w: known(found.x[n], |d| d.2),
        voltage_slope: slope,
        mean_abs_error: mean(&found),
        mean_abs_error_constant: mean(&without),
        correlation: correlation(&loads),
        held_out: frame.held_out(&all, (slope, plain_slope)),
        constant_power,
    })
}

#[cfg(test)]
mod tests;
