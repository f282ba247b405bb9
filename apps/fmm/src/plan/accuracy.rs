//! The surface order for an accuracy, and the accuracy that can be reached.

use crate::error::{FmmError, invalid};
use crate::kernel::Kernel;
use crate::options::Options;
use crate::precision::Real;
use greenup_setting::setting;

/// Bounds of the relative L2 error for surface orders p = 3, 4, …, with charges of both signs: potentials, gradients.
/// 1.5 times the largest measured over the distributions (docs/results/fmm.md).
const BOUNDS: [[f64; 2]; 11] = [
    [3e-3, 6e-3],
    [5e-4, 1.2e-3],
    [4e-5, 1.5e-4],
    [6e-6, 2.5e-5],
    [6e-7, 4e-6],
    [1.2e-7, 6e-7],
    [1.5e-8, 9e-8],
    [2e-9, 1.5e-8],
    [4e-10, 3e-9],
    [1.2e-10, 9e-10],
    [3e-11, 3e-10],
];

/// The smallest relative L2 error that rounding permits.
pub fn reachable<R: Real>(gradient: bool) -> f64 {
    match (R::DOUBLE, gradient) {
        (true, false) => 3e-11,
        (true, true) => 3e-10,
        (false, false) => 5e-5,
        (false, true) => 5e-4,
    }
}

/// The surface order p for a relative L2 error.
///
/// # Errors
/// The accuracy is invalid, or beyond the precision.
pub fn order<R: Real>(tolerance: f64, kernel: Kernel, gradient: bool) -> Result<usize, FmmError> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(invalid(
            "accuracy",
            tolerance,
            "a number between 0 and 1, such as 1e-6",
        ));
    }
    let bound = reachable::<R>(gradient);
    if tolerance < bound {
        return Err(FmmError::Accuracy {
            what: if gradient { "gradients" } else { "potentials" },
            precision: R::NAME,
            tolerance,
            reachable: bound,
            hint: {
                let lower = setting("accuracy").to(format_args!("{bound:e}"));
                if R::DOUBLE {
                    format!(": use {lower}")
                } else {
                    format!(": use {lower}, or {}", setting("precision").to("f64"))
                }
            },
        });
    }
    // Velocities of Stokes flow have the errors of gradients.
    let of = usize::from(gradient || matches!(kernel, Kernel::Stokes { .. }));
    let place = BOUNDS.iter().position(|e| e[of] <= tolerance);
    Ok(3 + place.unwrap_or(BOUNDS.len() - 1))
}

/// The accuracy of a plan: what is asked for, or what rounding permits where a surface order is asked for instead.
pub(crate) fn attainable<R: Real>(o: &Options) -> f64 {
    o.tolerance.max(reachable::<R>(o.gradient))
}
