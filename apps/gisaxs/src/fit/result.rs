//! The result of a fit: values, uncertainties, and how the search came there.

use super::target::{Noise, Target};
use nalgebra::DMatrix;
use serde::Serialize;

/// The result of a fit; lists are in the order of the parameters.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// Fitted values.
    pub values: Vec<f64>,
    /// Uncertainty of each value, one standard deviation; infinite where the data do not determine it.
    pub errors: Vec<f64>,
    /// Correlation matrix.
    pub correlations: Vec<Vec<f64>>,
    /// Covariance matrix, in the units of the values.
    pub covariance: Vec<Vec<f64>>,
    /// Values from which the best start began: those of the input file, random ones where it has none; with a swarm
    /// the best of its first positions.
    pub start: Vec<f64>,
    /// Values that the swarm handed over to Levenberg–Marquardt; `None` without a swarm.
    pub swarm: Option<Vec<f64>>,
    /// χ²: sum of squared residuals per degree of freedom.
    pub chi2: f64,
    /// Unit of the residuals of the data, see [`Target::sigmas`]: 1 for counts, whose error is known; otherwise the
    /// relative or absolute error of the data, estimated from their scatter.
    pub noise_scale: f64,
    /// Number of data used.
    pub points: usize,
    /// Number of models computed.
    pub models: usize,
    /// Why the Levenberg–Marquardt iteration ended.
    pub termination: String,
    /// Paths of the parameters that ended on a bound.
    pub at_bounds: Vec<String>,
    /// Convergence of the best start.
    pub convergence: Vec<Evaluation>,
    /// χ² that each start reached, in order.
    pub starts: Vec<f64>,
}

/// Part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A step of the swarm: the best of its positions.
    Swarm,
    /// Levenberg–Marquardt on residuals that grow slowly far from the data.
    Robust,
    /// Levenberg–Marquardt on χ² itself.
    Final,
}

/// A model on the way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Number of models that this start had computed, those of derivatives included.
    pub models: usize,
    /// Part of the search.
    pub stage: Stage,
    /// χ² per degree of freedom.
    pub chi2: f64,
}

/// Covariances of the values.
pub(super) struct Uncertainty {
    pub errors: Vec<f64>,
    pub correlations: Vec<Vec<f64>>,
    pub covariance: Vec<Vec<f64>>,
}

/// Error, over the interval between the bounds, from which a value is not determined.
const UNKNOWN: f64 = 1e3;
/// Norm of the derivatives with respect to a value, over that of the data, below which they are rounding.
const NO_EFFECT: f64 = 1e-8;
/// Smallest eigenvalue of the information on values that are independent, where each alone has 1.
const SINGULAR: f64 = 1e-12;
/// Share of a value in a combination that the data do not determine, above which it is not determined.
const SHARE: f64 = 1e-3;

impl Uncertainty {
    /// From derivatives of the data, in units of their errors, with respect to the fractions of the intervals between
    /// the bounds. `slopes` are derivatives of the values with respect to these fractions, `norm` is that of the data. Errors
    /// are infinite where the data do not determine a value, alone or beside the others.
    pub fn new(jacobian: &DMatrix<f64>, scale: f64, slopes: &[f64], norm: f64) -> Self {
        let n = slopes.len();
        let finite = jacobian.iter().all(|x| x.is_finite());
        let norms: Vec<f64> = jacobian.column_iter().map(|c| c.norm()).collect();
        let active: Vec<usize> = (0..n)
            .filter(|k| finite && norms[*k] > NO_EFFECT * norm && norms[*k] > 0.0)
            .collect();
        let (inverse, known) = inverse(jacobian, &active, &norms);
        let mut c = DMatrix::from_element(n, n, f64::NAN);
        for (i, a) in active.iter().enumerate().filter(|(i, _)| known[*i]) {
            for (j, b) in active.iter().enumerate().filter(|(j, _)| known[*j]) {
                c[(*a, *b)] = inverse[(i, j)] * scale;
            }
        }
        for k in 0..n {
            if c[(k, k)] > UNKNOWN * UNKNOWN {
                c.row_mut(k).fill(f64::NAN);
                c.column_mut(k).fill(f64::NAN);
            }
        }
        let sigma: Vec<f64> = (0..n)
            .map(|k| match c[(k, k)] {
                v if v.is_nan() => f64::INFINITY,
                v => v.max(0.0).sqrt(),
            })
            .collect();
        let matrix = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|a| (0..n).map(|b| of(a, b)).collect()).collect()
        };
        Self {
            errors: (0..n).map(|k| sigma[k] * slopes[k]).collect(),
            correlations: matrix(&|a, b| c[(a, b)] / (sigma[a] * sigma[b])),
            covariance: matrix(&|a, b| c[(a, b)] * slopes[a] * slopes[b]),
        }
    }

    /// Nothing is known.
    pub fn unknown(slopes: &[f64]) -> Self {
        Self::new(&DMatrix::zeros(1, slopes.len()), 1.0, slopes, 1.0)
    }
}

/// The inverse of the information on the values of some columns, and which of these the data determine beside the others.
fn inverse(jacobian: &DMatrix<f64>, active: &[usize], norms: &[f64]) -> (DMatrix<f64>, Vec<bool>) {
    let m = active.len();
    if m == 0 {
        return (DMatrix::zeros(0, 0), Vec::new());
    }
    let unit = DMatrix::from_fn(jacobian.nrows(), m, |r, c| {
        jacobian[(r, active[c])] / norms[active[c]]
    });
    let eigen = (unit.transpose() * &unit).symmetric_eigen();
    let mut known = vec![true; m];
    let mut inverse = DMatrix::zeros(m, m);
    for (value, vector) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        if *value > SINGULAR {
            inverse += vector * vector.transpose() / *value;
        } else {
            for (k, share) in known.iter_mut().zip(vector.iter()) {
                *k &= share.abs() <= SHARE;
            }
        }
    }
    if known.iter().all(|k| *k) {
        let own = DMatrix::from_fn(jacobian.nrows(), m, |r, c| jacobian[(r, active[c])]);
        if let Some(exact) = (own.transpose() * &own).try_inverse() {
            return (exact, known);
        }
    }
    let scaled = DMatrix::from_fn(m, m, |a, b| {
        inverse[(a, b)] / (norms[active[a]] * norms[active[b]])
    });
    (scaled, known)
}

/// χ² per degree of freedom above which a model misses more than noise.
pub(super) const UNEXPLAINED: f64 = 5.0;

impl Fitted {
    /// What the user should know of the uncertainties.
    pub fn warnings(&self, target: &Target) -> Vec<String> {
        let unknown: Vec<&str> = (target.free.iter().zip(&self.errors))
            .filter(|(_, e)| !e.is_finite())
            .map(|(f, _)| f.path.as_str())
            .collect();
        let mut out = Vec::new();
        if !unknown.is_empty() {
            out.push(format!(
                "the error of {} is not known: the data do not depend on it, or another parameter has the same effect. Give it a fixed value",
                unknown.join(", ")
            ));
        }
        if matches!(target.noise, Noise::Poisson) && self.chi2 > UNEXPLAINED {
            out.push(format!(
                "χ² is {:.3} where counting noise gives 1: the model does not explain the data. Errors are those of the data times √χ²",
                self.chi2
            ));
        }
        out
    }
}

impl Target {
    /// What [`Fitted::noise_scale`] is for a value of χ².
    pub(super) fn noise_scale(&self, chi2: f64) -> f64 {
        match self.noise {
            Noise::Poisson => 1.0,
            Noise::Relative | Noise::Uniform => chi2.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_are_those_of_a_line_through_points() {
        // y = a + b x at x = 0, 1, 2 with errors of 1: the textbook's covariance is [[5, -3], [-3, 3]]/6.
        let j = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0]);
        let u = Uncertainty::new(&j, 4.0, &[10.0, 2.0], 1.0);
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        near(u.errors[0], 10.0 * (4.0 * 5.0_f64 / 6.0).sqrt());
        near(u.covariance[1][1], 4.0 * 4.0 * 0.5);
        near(u.covariance[0][1], -4.0 * 20.0 * 0.5);
        near(u.correlations[1][0], -0.5 / (5.0_f64 / 12.0).sqrt());
        near(u.errors[1].powi(2), u.covariance[1][1]);
        let none = Uncertainty::new(&DMatrix::zeros(3, 2), 1.0, &[1.0, 1.0], 1.0);
        assert!(none.errors[0].is_infinite() && none.covariance[0][0].is_nan());
    }

    #[test]
    fn values_that_the_data_do_not_determine_have_no_error() {
        // The line again, beside a value without an effect: rounding alone.
        let j = DMatrix::from_row_slice(3, 3, &[1.0, 1e-12, 0.0, 1.0, 0.0, 1.0, 1.0, 1e-12, 2.0]);
        let u = Uncertainty::new(&j, 1.0, &[1.0, 1.0, 1.0], 10.0);
        assert!((u.errors[0] - (5.0_f64 / 6.0).sqrt()).abs() < 1e-12 && u.errors[1].is_infinite());
        assert!((u.errors[2] - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!(u.covariance[0][1].is_nan() && u.correlations[1][2].is_nan());
        assert!((u.covariance[0][2] + 0.5).abs() < 1e-12);
        // Errors of more than a thousand intervals say nothing.
        let j = DMatrix::from_row_slice(1, 1, &[1e-4]);
        assert!(Uncertainty::new(&j, 1.0, &[5.0], 1.0).errors[0].is_infinite());
        let j = DMatrix::from_row_slice(1, 1, &[1e-2]);
        assert!((Uncertainty::new(&j, 1.0, &[5.0], 1.0).errors[0] - 500.0).abs() < 1e-9);
        // Two values with one effect, beside a third that is independent of them.
        let j = DMatrix::from_row_slice(3, 3, &[1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 0.0, 4.0, 0.0]);
        let u = Uncertainty::new(&j, 1.0, &[1.0, 1.0, 1.0], 1.0);
        assert!(u.errors[0].is_infinite() && u.errors[2].is_infinite());
        assert!((u.errors[1] - 0.25).abs() < 1e-12, "{}", u.errors[1]);
        let lost = Uncertainty::unknown(&[1.0, 2.0]);
        assert!(lost.errors.iter().all(|e| e.is_infinite()));
    }
}
