//! What is refused before a plan is made.

use super::accuracy;
use crate::error::{FmmError, invalid};
use crate::kernel::Kernel;
use crate::operators::FINEST;
use crate::options::{M2l, Options};
use crate::precision::Real;

/// The largest k times half width for which surfaces of order p keep their accuracy: measured for p = 4, 7 and 11 it is
/// 6, 10 and above 14 (docs/results/fmm.md).
fn wave_limit(p: usize) -> f64 {
    1.2 * p as f64
}

/// Checks options; returns the surface order.
pub(crate) fn checked<R: Real>(options: &Options) -> Result<usize, FmmError> {
    options.kernel.check(options.gradient)?;
    if options.ncrit == 0 {
        return Err(invalid("ncrit (maximum points per leaf)", "0", "1 or more"));
    }
    let p = match options.order {
        Some(p) if (3..=16).contains(&p) => p,
        Some(p) => return Err(invalid("surface order", p, "3 to 16")),
        None => accuracy::order::<R>(options.tolerance, options.kernel, options.gradient)?,
    };
    if options.m2l == M2l::Compressed && options.tolerance < FINEST {
        return Err(FmmError::CompressedAccuracy {
            tolerance: options.tolerance,
            reachable: FINEST,
        });
    }
    Ok(p)
}

/// The kernel's parameter in units of the half width of the root cube.
pub(crate) fn scaled_parameter(kernel: Kernel, p: usize, unit: f64) -> Result<f64, FmmError> {
    if !unit.is_finite() {
        return Err(FmmError::TooFarApart(f64::MAX));
    }
    let parameter = kernel.parameter(unit);
    if matches!(kernel, Kernel::Helmholtz { .. }) && parameter > wave_limit(p) {
        return Err(FmmError::HighFrequency {
            parameter,
            limit: wave_limit(p),
        });
    }
    Ok(parameter)
}
