//! Surfaces for an accuracy, and the accuracy that can be reached.

use crate::FmmError;
use crate::kernel::Kernel;
use crate::real::Real;

/// Relative L2 errors that p = 3, 4, … points on an edge stay below, with charges of both signs: potentials, then
/// gradients. Measured over the distributions, half as much again (docs/results, "Fast multipole method").
const SEEN: [[f64; 2]; 11] = [
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

/// The least error that rounding permits.
pub fn reachable<R: Real>(gradient: bool) -> f64 {
    match (R::DOUBLE, gradient) {
        (true, false) => 3e-11,
        (true, true) => 3e-10,
        (false, false) => 5e-5,
        (false, true) => 5e-4,
    }
}

/// Points on an edge for a relative L2 error.
///
/// # Errors
/// An accuracy that is none, or beyond what the precision reaches.
pub fn edge<R: Real>(tolerance: f64, kernel: Kernel, gradient: bool) -> Result<usize, FmmError> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(FmmError(format!(
            "the accuracy is {tolerance}: take a number between 0 and 1, such as 1e-6"
        )));
    }
    let bound = reachable::<R>(gradient);
    if tolerance < bound {
        return Err(FmmError(format!(
            "{} {} reach {bound:e}, not {tolerance:e}{}",
            if gradient {
                "gradients in"
            } else {
                "potentials in"
            },
            R::NAME,
            if R::DOUBLE { "" } else { ": take --real f64" }
        )));
    }
    // Flows of forces err as gradients do.
    let of = usize::from(gradient || matches!(kernel, Kernel::Stokes { .. }));
    let place = SEEN.iter().position(|e| e[of] <= tolerance);
    Ok(3 + place.unwrap_or(SEEN.len() - 1))
}
