//! Which constants the records cannot tell apart, and which record may be a slip.

use super::Constant;
use super::model::Rows;
use crate::linalg::{condition_number, estimate_correlation};
use crate::record::Record;
use greenup_model::Op;
use std::collections::BTreeMap;

/// Condition number of the energy design and warnings for constants that hang together.
pub fn energy_design(
    rows: &Rows,
    energy: &BTreeMap<Op, Constant>,
    pi0: Option<Constant>,
) -> (f64, Vec<String>) {
    let (a, _) = rows.energy_design();
    let number = condition_number(&a);
    let mut warnings = Vec::new();
    let last = rows.ops.len();
    let wide = |c: &Constant| c.hi - c.lo > 0.5 * c.value.abs();
    for (k, op) in rows.ops.iter().enumerate() {
        let r = estimate_correlation(&a, k, last);
        let (Some(eps), Some(pi0)) = (energy.get(op), pi0) else {
            continue;
        };
        // Strong correlation alone is harmless while both are known well.
        if r.abs() > 0.9 && (wide(eps) || wide(&pi0)) {
            warnings.push(format!(
                "constant power and the energy of `{op}` cannot be distinguished (correlation {r:.2}): \
                 add runs that stretch the time of the same work, at fewer threads or lower occupancy"
            ));
        }
    }
    for (op, c) in energy {
        if c.lo <= 0.0 && c.value >= 0.0 {
            warnings.push(format!(
                "the energy of `{op}` is not significantly different from 0"
            ));
        }
    }
    (number, warnings)
}

/// A record that lies this much farther from the fit than most is named.
const OUTLIER: f64 = 20.0;

/// Names the record whose time lies farthest from the fit, if it may be a slip.
pub fn outlier(records: &[Record], errors: &[f64]) -> Option<String> {
    let whole: Vec<&Record> = records.iter().filter(|r| r.occupancy >= 1.0).collect();
    let sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    let (k, worst) = (sizes.iter().enumerate()).max_by(|a, b| a.1.total_cmp(b.1))?;
    let usual = greenup_meter::stats::median(&sizes);
    (whole.len() == errors.len() && *worst > 0.5 && *worst > OUTLIER * usual).then(|| {
        let r = whole[k];
        format!(
            "the time of record {} ({}, {:e} s) lies {:.0} % from the fit, others {:.1} % (median): one wrong number moves all constants",
            records.iter().position(|x| std::ptr::eq(x, r)).map_or(0, |i| i + 1),
            r.benchmark,
            r.time_s,
            100.0 * worst,
            100.0 * usual
        )
    })
}
