//! Which constants the records cannot tell apart.

use super::Constant;
use super::model::Rows;
use crate::linalg::{condition_number, estimate_correlation};
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
                "constant power and the energy of `{op}` cannot be told apart (correlation {r:.2}): \
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
