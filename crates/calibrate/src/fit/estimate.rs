//! Point estimates of all constants.

use super::error::{FitError, Method};
use super::model::{Parameters, Rows};
use crate::linalg::{levenberg_marquardt, lstsq, nnls};

/// Point estimate of all constants.
pub(super) fn estimate(rows: &Rows, method: Method) -> Result<Parameters, FitError> {
    let mut p = rows.starting_times();
    if rows.has_energy {
        let (a, b) = rows.energy_design();
        let x = match method {
            Method::Linear => lstsq(&a, &b).ok_or(FitError::Singular)?,
            Method::Nnls | Method::Capped => nnls(&a, &b),
        };
        p.eps.copy_from_slice(&x[..rows.ops.len()]);
        p.pi0 = x[rows.ops.len()];
    }
    if method == Method::Capped && rows.has_energy {
        let (capped, uncapped) = (refine(rows, &p, true, 60), refine(rows, &p, false, 60));
        // A cap that explains nothing is no cap: it must earn its parameter (AIC).
        let n = rows.len() as f64 * 2.0;
        let gain = n * (uncapped.1 / capped.1.max(f64::MIN_POSITIVE)).ln();
        return Ok(if gain > 10.0 && rows.capped_rows(&capped.0) >= 3 {
            capped.0
        } else {
            uncapped.0
        });
    }
    Ok(refine_times(rows, &p, 60))
}

/// All constants by Levenberg–Marquardt on the logarithms; returns the sum of squares too.
pub(super) fn refine(
    rows: &Rows,
    start: &Parameters,
    cap: bool,
    steps: usize,
) -> (Parameters, f64) {
    let mut start = start.clone();
    start.dpi = cap.then(|| {
        start
            .dpi
            .unwrap_or_else(|| rows.largest_power() - start.pi0)
    });
    let x = start.to_logs();
    let residuals = |x: &[f64]| rows.residuals(&Parameters::from_logs(x, rows.ops.len(), cap));
    let (x, cost) = levenberg_marquardt(x, steps, &residuals);
    (Parameters::from_logs(&x, rows.ops.len(), cap), cost)
}

/// Times alone.
pub(super) fn refine_times(rows: &Rows, start: &Parameters, steps: usize) -> Parameters {
    let x: Vec<f64> = start.tau.iter().map(|t| t.ln()).collect();
    let with = |x: &[f64]| Parameters {
        tau: x.iter().map(|v| v.exp()).collect(),
        ..start.clone()
    };
    let (x, _) = levenberg_marquardt(x, steps, &|x| rows.time_residuals(&with(x)));
    with(&x)
}
