//! The result of a fit: values, uncertainties, and how the search came there.

use super::input::Noise;
use super::target::Target;
use nalgebra::DMatrix;
use serde::Serialize;

/// The result of a fit; lists are in the order of the parameters.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// Fitted values.
    pub values: Vec<f64>,
    /// Uncertainty of each value, one standard deviation.
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

impl Uncertainty {
    /// From derivatives of the data, in units of their errors, with respect to the fractions of the intervals between
    /// the bounds. `slopes` are derivatives of the values with respect to these fractions. Errors are infinite where
    /// the data do not determine a value.
    pub fn new(jacobian: &DMatrix<f64>, scale: f64, slopes: &[f64]) -> Self {
        let n = slopes.len();
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let covariance = (jacobian.transpose() * jacobian)
            .try_inverse()
            .map(|c| c * scale)
            .filter(|c| all.clone().all(|at| c[at].is_finite()));
        let Some(c) = covariance else {
            return Self {
                errors: vec![f64::INFINITY; n],
                correlations: vec![vec![f64::NAN; n]; n],
                covariance: vec![vec![f64::NAN; n]; n],
            };
        };
        let sigma: Vec<f64> = (0..n).map(|k| c[(k, k)].max(0.0).sqrt()).collect();
        let matrix = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|a| (0..n).map(|b| of(a, b)).collect()).collect()
        };
        Self {
            errors: (0..n).map(|k| sigma[k] * slopes[k]).collect(),
            correlations: matrix(&|a, b| c[(a, b)] / (sigma[a] * sigma[b])),
            covariance: matrix(&|a, b| c[(a, b)] * slopes[a] * slopes[b]),
        }
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
        let u = Uncertainty::new(&j, 4.0, &[10.0, 2.0]);
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        near(u.errors[0], 10.0 * (4.0 * 5.0_f64 / 6.0).sqrt());
        near(u.covariance[1][1], 4.0 * 4.0 * 0.5);
        near(u.covariance[0][1], -4.0 * 20.0 * 0.5);
        near(u.correlations[1][0], -0.5 / (5.0_f64 / 12.0).sqrt());
        near(u.errors[1].powi(2), u.covariance[1][1]);
        let none = Uncertainty::new(&DMatrix::zeros(3, 2), 1.0, &[1.0, 1.0]);
        assert!(none.errors[0].is_infinite() && none.covariance[0][0].is_nan());
    }
}
