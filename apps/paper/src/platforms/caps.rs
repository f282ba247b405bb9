//! Errors of the model with and without the power cap (thesis, fig. 11).

use super::read;
use crate::records::broken;
use crate::{PaperError, Records};
use greenup_calibrate::fit::caps::{ModelErrors, cap_errors};
use greenup_model::Op;
use greenup_report::table::{Columns, Table};
use greenup_study::pages::cap_errors::{Device, SIGNIFICANT, models};
use serde::Deserialize;

/// A device whose errors are shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// Its name in the figure.
    pub name: String,
    /// Its microbenchmarks.
    pub record: String,
    /// Only benchmarks of this flop class and slow memory; all without.
    pub class: Option<Op>,
}

/// The platforms of a figure or a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platforms {
    /// In the order shown.
    pub platforms: Vec<Platform>,
}

/// The errors of each platform.
///
/// # Errors
/// A record is missing or has too few energies.
pub fn devices(records: &Records, platforms: &[Platform]) -> Result<Vec<Device>, PaperError> {
    (platforms.iter())
        .map(|p| {
            let mut all = read(records, &p.record)?;
            if let Some(class) = p.class {
                all.retain(|r| r.work.iter().all(|(op, _)| op == class || op == Op::Dram));
            }
            let path = records.path(&p.record)?;
            Ok(Device {
                name: p.name.clone(),
                errors: cap_errors(&all).map_err(|e| broken(&path, e))?,
            })
        })
        .collect()
}

/// How many platforms have errors in performance that differ with and without the flat cap.
///
/// # Errors
/// As [`devices`].
pub fn different(records: &Records, platforms: &[Platform]) -> Result<f64, PaperError> {
    let of = devices(records, platforms)?;
    let n = of
        .iter()
        .filter(|d| d.errors.performance_test.p_value < SIGNIFICANT);
    Ok(n.count() as f64)
}

/// Mean errors by model, with the tests.
///
/// # Errors
/// As [`devices`].
pub fn table(records: &Records, platforms: &[Platform]) -> Result<Table, PaperError> {
    let mean = |e: &[f64]| e.iter().map(|x| x.abs()).sum::<f64>() / e.len().max(1) as f64;
    let performance: fn(&ModelErrors) -> &[f64] = |e| &e.performance;
    let energy: fn(&ModelErrors) -> &[f64] = |e| &e.energy;
    let error = "Mean absolute error.";
    let clock = "Mean absolute error with a clock that follows the cap.";
    let errors = [
        ("performance: no cap", error, 0, performance),
        ("flat cap", error, 1, performance),
        ("clock", clock, 2, performance),
        ("energy: no cap", error, 0, energy),
        ("flat cap", error, 1, energy),
        ("clock", clock, 2, energy),
    ];
    Ok(Columns::<Device>::new()
        .text("device", "", |d| d.name.clone())
        .count("n", "Benchmarks on the whole device.", |d| {
            d.errors.benchmarks.len() as u64
        })
        .si(
            "Δπ",
            "Usable power of the flat cap, by least squares of the times.",
            "W",
            |d| d.errors.usable_power_w,
        )
        .and_each(errors, |columns, (name, about, model, of)| {
            columns.percent(name, about, move |d| {
                let all = models(&d.errors);
                all.iter().find(|m| m.0 == model).map(|m| mean(of(m.2)))
            })
        })
        .three(
            "D",
            "Kolmogorov–Smirnov test of the errors in performance, flat cap against none.",
            |d| d.errors.performance_test.statistic,
        )
        .three("p", "Asymptotic, two-sided.", |d| {
            d.errors.performance_test.p_value
        })
        .table(
            "Mean absolute errors of the models, and the tests",
            devices(records, platforms)?,
        ))
}
