//! Errors of the model with and without the power cap (thesis, fig. 11).

use super::read;
use crate::records::broken;
use crate::{PaperError, Records};
use greenup_calibrate::fit::caps::cap_errors;
use greenup_model::Op;
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};
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
    let mut rows = Vec::new();
    for d in devices(records, platforms)? {
        let mut row = vec![
            Cell::text(d.name),
            Cell::number(
                d.errors.benchmarks.len() as f64,
                d.errors.benchmarks.len().to_string(),
            ),
            Cell::number(d.errors.usable_power_w, si(d.errors.usable_power_w, "W")),
        ];
        let of = models(&d.errors);
        for errors in [true, false] {
            for k in 0..3 {
                let model = of.iter().find(|m| m.0 == k);
                row.push(match model {
                    Some((_, _, e)) => {
                        let v = mean(if errors { &e.performance } else { &e.energy });
                        Cell::number(v, percent(v))
                    }
                    None => Cell::text("–"),
                });
            }
        }
        let t = &d.errors.performance_test;
        row.push(Cell::number(t.statistic, three(t.statistic)));
        row.push(Cell::number(t.p_value, three(t.p_value)));
        rows.push(row);
    }
    let head = [
        ("device", ""),
        ("n", "Benchmarks on the whole device."),
        (
            "Δπ",
            "Usable power of the flat cap, by least squares of the times.",
        ),
        ("performance: no cap", "Mean absolute error."),
        ("flat cap", "Mean absolute error."),
        (
            "clock",
            "Mean absolute error with a clock that follows the cap.",
        ),
        ("energy: no cap", "Mean absolute error."),
        ("flat cap", "Mean absolute error."),
        (
            "clock",
            "Mean absolute error with a clock that follows the cap.",
        ),
        (
            "D",
            "Kolmogorov–Smirnov test of the errors in performance, flat cap against none.",
        ),
        ("p", "Asymptotic, two-sided."),
    ];
    Ok(Table {
        caption: "Mean absolute errors of the models, and the tests".into(),
        header: head.map(|(n, t)| Header::new(n, t)).to_vec(),
        rows,
    })
}
