//! What `hydro study` measures.

use crate::engine::Part;
use crate::session::settings::Assembly;
use greenup_app::{AppError, Result};

/// Kinds of work: whole steps and their parts.
pub const WORK: [(&str, Option<Part>); 3] = [
    ("step", None),
    ("corner", Some(Part::Corner)),
    ("solve", Some(Part::Solve)),
];

/// Both assemblies, in the order of their measurement.
pub const ASSEMBLIES: [Assembly; 2] = [Assembly::Full, Assembly::Partial];

/// Work on the Sedov problem at one order.
pub struct Case {
    pub order: usize,
    pub assembly: Assembly,
    /// One of [`WORK`].
    pub work: &'static str,
    pub part: Option<Part>,
}

/// The cases of some orders and kinds of work, with both assemblies or one.
pub fn cases(orders: &[usize], only: Option<Assembly>, wanted: &[String]) -> Vec<Case> {
    let mut out = Vec::new();
    for order in orders.iter().copied() {
        for assembly in ASSEMBLIES {
            for (work, part) in WORK {
                if only.is_none_or(|only| only == assembly) && wanted.iter().any(|w| w == work) {
                    out.push(Case {
                        order,
                        assembly,
                        work,
                        part,
                    });
                }
            }
        }
    }
    out
}

/// Checks what the user asks for.
///
/// # Errors
/// A number is out of its range.
pub fn check(dim: usize, orders: &[usize], window: f64) -> Result {
    let why = if !(1..=3).contains(&dim) {
        format!("--dim {dim}: use 1, 2 or 3")
    } else if let Some(order) = orders.iter().find(|o| !(1..=8).contains(*o)) {
        format!("--orders {order}: use 1 to 8")
    } else if !(window > 0.0 && window.is_finite()) {
        format!("--window {window}: it must be above 0")
    } else {
        return Ok(());
    };
    Err(AppError::new(why))
}
