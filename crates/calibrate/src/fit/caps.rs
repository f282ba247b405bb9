//! Errors of the model with and without the power cap (thesis, section 4.4.1 and fig. 11).
//!
//! Both models have the same costs: times are the best rates, energies and π₀ are fitted to the measured times (eq 48). They
//! differ by Δπ alone, which is that of the least squares of the logarithms of the times.

use super::ks::{KsTest, kolmogorov_smirnov};
use super::model::{Parameters, Rows};
use super::{FitError, Method, clocked, nnls};
use crate::record::Record;
use serde::Serialize;

/// Relative errors (model − measured)/measured, a value for each benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct ModelErrors {
    /// Of the performance, from the work alone.
    pub performance: Vec<f64>,
    /// Of the energy, from the work alone.
    pub energy: Vec<f64>,
}

impl ModelErrors {
    /// From modelled and measured time and energy.
    fn of(modelled: &[(f64, f64)], measured: &[(f64, f64)]) -> Self {
        let each = |f: fn(&(f64, f64), &(f64, f64)) -> f64| {
            modelled
                .iter()
                .zip(measured)
                .map(|(m, t)| f(m, t))
                .collect()
        };
        Self {
            performance: each(|m, t| t.0 / m.0 - 1.0),
            energy: each(|m, t| m.1 / t.1 - 1.0),
        }
    }
}

/// Errors of the benchmarks on the whole device, by model.
#[derive(Clone, Debug, Serialize)]
pub struct CapErrors {
    /// Names of the benchmarks.
    pub benchmarks: Vec<String>,
    /// Without a cap.
    pub uncapped: ModelErrors,
    /// With a flat cap (eqs 32 to 38).
    pub capped: ModelErrors,
    /// With a clock that follows the cap, if all records hold a clock; it has energies of its own.
    pub clocked: Option<ModelErrors>,
    /// Δπ of the flat cap, W.
    pub usable_power_w: f64,
    /// Whether the errors in performance with and without the flat cap differ.
    pub performance_test: KsTest,
    /// Whether those in energy do.
    pub energy_test: KsTest,
}

/// Errors of the three models on records with energies.
///
/// # Errors
/// Fewer records with an energy than constants, or none.
pub fn cap_errors(records: &[Record]) -> Result<CapErrors, FitError> {
    let plain: Vec<Record> = (records.iter())
        .filter(|r| r.on_plain_data() && r.energy_j.is_some())
        .cloned()
        .collect();
    let rows = Rows::new(&plain)?;
    if !rows.has_energy {
        return Err(FitError::NoEnergy(Method::Capped));
    }
    let mut found = of_rows(&rows).ok_or(FitError::NoWork)?;
    found.clocked = clocked::predictions(&plain).map(|p| ModelErrors::of(&p, &measured(&rows)));
    Ok(found)
}

/// Measured time and energy of the rows on the whole device.
fn measured(rows: &Rows) -> Vec<(f64, f64)> {
    let full = rows.rows.iter().filter(|r| r.full);
    full.map(|r| (r.time_s, r.energy_j)).collect()
}

/// Errors with and without the flat cap; `None` without a row on the whole device.
pub(super) fn of_rows(rows: &Rows) -> Option<CapErrors> {
    let (a, b) = rows.energy_design();
    let x = nnls(&a, &b);
    let n = rows.ops.len();
    let free = Parameters {
        eps: x[..n].to_vec(),
        pi0: x[n],
        dpi: None,
        ..rows.starting_times()
    };
    let capped = Parameters {
        dpi: Some(usable_power(rows, &free)),
        ..free.clone()
    };
    let measured = measured(rows);
    let errors = |p: &Parameters| ModelErrors::of(&rows.predictions(p), &measured);
    let (uncapped, with) = (errors(&free), errors(&capped));
    let test = |a: &[f64], b: &[f64]| -> Option<KsTest> {
        let mean = |e: &[f64]| e.iter().map(|x| x.abs()).sum::<f64>() / e.len() as f64;
        let (statistic, p_value) = kolmogorov_smirnov(a, b)?;
        Some(KsTest {
            statistic,
            p_value,
            mean_abs_error_capped: mean(a),
            mean_abs_error_uncapped: mean(b),
        })
    };
    let full = rows.rows.iter().filter(|r| r.full);
    Some(CapErrors {
        benchmarks: full.map(|r| r.benchmark.clone()).collect(),
        performance_test: test(&with.performance, &uncapped.performance)?,
        energy_test: test(&with.energy, &uncapped.energy)?,
        usable_power_w: capped.dpi?,
        uncapped,
        capped: with,
        clocked: None,
    })
}

/// Δπ of the least squares of the times, W: a scan by ratio, then golden sections around its best.
fn usable_power(rows: &Rows, free: &Parameters) -> f64 {
    let cost = |log: f64| -> f64 {
        let p = Parameters {
            dpi: Some(log.exp()),
            ..free.clone()
        };
        rows.time_residuals(&p).iter().map(|r| r * r).sum()
    };
    let top = rows.largest_power().ln();
    let step = 0.01;
    let scan = |k: i32| top - 1.5 + step * f64::from(k);
    let best = (0..=220).min_by(|&a, &b| cost(scan(a)).total_cmp(&cost(scan(b))));
    let at = scan(best.unwrap_or(150));
    let ratio = 0.5 * (5_f64.sqrt() - 1.0);
    let (mut lo, mut hi) = (at - step, at + step);
    for _ in 0..30 {
        let (a, b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        if cost(a) < cost(b) {
            hi = b;
        } else {
            lo = a;
        }
    }
    (0.5 * (lo + hi)).exp()
}
