//! The search: a particle swarm within the bounds (Kennedy and Eberhart), then Levenberg–Marquardt from its best
//! position, kept within the bounds by MINUIT's sine transformation; uncertainties from the curvature there.

use super::input::{FitInput, Free};
use super::target::Target;
use crate::GisaxsError;
use crate::mesh_form_factor::Watch;
use argmin::core::{CostFunction, Executor, State};
use argmin::solver::particleswarm::ParticleSwarm;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt, TerminationReason};
use nalgebra::{DMatrix, DVector, Dyn, Owned};
use rand::SeedableRng;
use serde::Serialize;
use std::cell::RefCell;

/// The result of a fit; lists are in the order of the parameters.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// Fitted values.
    pub values: Vec<f64>,
    /// Uncertainty of each value, one standard deviation.
    pub errors: Vec<f64>,
    /// Correlation matrix.
    pub correlations: Vec<Vec<f64>>,
    /// χ²: sum of squared residuals per degree of freedom.
    pub chi2: f64,
    /// Number of data used.
    pub points: usize,
    /// Number of models computed.
    pub models: usize,
    /// Why the Levenberg–Marquardt iteration ended.
    pub termination: String,
    /// Paths of the parameters that ended on a bound.
    pub at_bounds: Vec<String>,
}

/// Called with a line of text after each start.
pub type Progress<'a> = dyn Fn(&str) + Sync + 'a;

impl Free {
    /// The value at a fraction of the interval between the bounds.
    fn at(&self, share: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + (self.to - self.from) * share
        }
    }

    /// The fraction of the interval between the bounds at which a value lies.
    fn share(&self, value: f64) -> f64 {
        if self.log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }
}

/// The best fit of all starts; `None` if stopped before the first one ended.
///
/// # Errors
/// A model cannot be computed.
pub fn fit(
    page: &FitInput,
    target: &Target,
    progress: &Progress,
    watch: &Watch,
) -> Result<Option<Fitted>, GisaxsError> {
    let model = Model {
        target,
        watch,
        count: RefCell::new(0),
        failure: RefCell::new(None),
    };
    let mut best: Option<Fitted> = None;
    for start in 0..page.starts {
        let mut rng = fastrand::Rng::with_seed(page.seed.wrapping_add(start as u64));
        let given = (start == 0).then_some(&target.free);
        let mut from: Vec<f64> = target
            .free
            .iter()
            .enumerate()
            .map(|(k, f)| match given.and_then(|g| g[k].start) {
                Some(s) => f.share(s),
                None => rng.f64(),
            })
            .collect();
        let all_given = start == 0 && target.free.iter().all(|f| f.start.is_some());
        if page.swarm > 0
            && !all_given
            && let Some(found) = swarm(page, &model, rng.u64(..))?
        {
            from = found;
        }
        if watch.stopped() {
            break;
        }
        let found = polish(&model, &from)?;
        progress(&format!("start {}: χ² {:.4}", start + 1, found.chi2));
        if best.as_ref().is_none_or(|b| found.chi2 < b.chi2) {
            best = Some(found);
        }
        watch.tick(1);
    }
    Ok(best.map(|b| Fitted {
        models: *model.count.borrow(),
        ..b
    }))
}

/// The model over fractions of the intervals between the bounds.
struct Model<'a> {
    target: &'a Target,
    watch: &'a Watch<'a>,
    count: RefCell<usize>,
    failure: RefCell<Option<GisaxsError>>,
}

impl Model<'_> {
    fn numbers(&self, shares: &[f64]) -> Vec<f64> {
        self.target
            .free
            .iter()
            .zip(shares)
            .map(|(f, s)| f.at(s.clamp(0.0, 1.0)))
            .collect()
    }

    /// `None` if stopped, or if the model has no finite value there.
    fn at(&self, shares: &[f64]) -> Option<Vec<f64>> {
        if self.watch.stopped() {
            return None;
        }
        *self.count.borrow_mut() += 1;
        match self.target.model(&self.numbers(shares), self.watch) {
            Ok(m) => m.filter(|m| m.iter().all(|v| v.is_finite())),
            Err(e) => {
                *self.failure.borrow_mut() = Some(e);
                None
            }
        }
    }

    fn failed(&self) -> Result<(), GisaxsError> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }
}

struct Distance<'a>(&'a Model<'a>);

impl CostFunction for Distance<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, p: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        // A position without a model is far away.
        Ok(self
            .0
            .at(p)
            .map_or(f64::MAX, |m| self.0.target.distance(&m)))
    }
}

fn swarm(page: &FitInput, model: &Model, seed: u64) -> Result<Option<Vec<f64>>, GisaxsError> {
    let n = model.target.free.len();
    let solver = ParticleSwarm::new((vec![0.0; n], vec![1.0; n]), page.swarm)
        .with_rng_generator(rand::rngs::StdRng::seed_from_u64(seed));
    let steps = page.steps;
    let out = Executor::new(Distance(model), solver)
        .configure(|s| s.max_iters(steps))
        .ctrlc(false)
        .run()
        .map_err(|e| GisaxsError::Sample(format!("the swarm ended: {e}")))?;
    model.failed()?;
    Ok(out.state.get_best_param().map(|p| p.position.clone()))
}

/// Why the Levenberg–Marquardt iteration ended.
fn termination(reason: &TerminationReason) -> String {
    use TerminationReason as R;
    match reason {
        R::Converged { ftol, xtol } => {
            let why = match (ftol, xtol) {
                (true, true) => "χ² and the parameters are stationary",
                (true, false) => "χ² is stationary",
                (false, _) => "the parameters are stationary",
            };
            format!("converged: {why}")
        }
        R::ResidualsZero => "converged: the model meets the data exactly".into(),
        R::Orthogonal => "converged: the gradient of χ² is zero".into(),
        R::NoImprovementPossible(_) => {
            "converged: no step makes χ² smaller at this precision".into()
        }
        R::LostPatience => {
            "not converged: too many models; use more starts or a better initial value".into()
        }
        R::Numerical(what) => format!("not converged: no finite {what}"),
        R::User(_) => {
            "not converged: the model cannot be computed there, or the fit was stopped".into()
        }
        R::NoParameters => "nothing to fit: no parameters".into(),
        R::NoResiduals => "nothing to fit: no data".into(),
        R::WrongDimensions(what) => format!("not converged: {what} of another size"),
    }
}

/// Residuals as functions of u, where the fractions are (1 + sin u)/2.
struct Squares<'a> {
    model: &'a Model<'a>,
    u: DVector<f64>,
    rough: bool,
}

impl Squares<'_> {
    fn of(&self, model: &[f64]) -> Vec<f64> {
        if self.rough {
            self.model.target.rough(model)
        } else {
            self.model.target.residuals(model)
        }
    }
}

/// Step of finite differences, as a fraction of the interval between the bounds.
const STEP: f64 = 1e-5;

fn shares(u: &DVector<f64>) -> Vec<f64> {
    u.iter().map(|u| 0.5 + 0.5 * u.sin()).collect()
}

/// Derivatives of `made(model)` with respect to each fraction, one column each, by central differences (one-sided at a
/// bound).
fn slopes(model: &Model, at: &[f64], made: impl Fn(&[f64]) -> Vec<f64>) -> Option<DMatrix<f64>> {
    let columns: Option<Vec<DVector<f64>>> = (0..at.len())
        .map(|k| {
            let moved = |to: f64| {
                let mut p = at.to_vec();
                p[k] = to;
                model.at(&p).map(|m| DVector::from_vec(made(&m)))
            };
            let (low, high) = ((at[k] - STEP).max(0.0), (at[k] + STEP).min(1.0));
            Some((moved(high)? - moved(low)?) / (high - low))
        })
        .collect();
    columns.map(|c| DMatrix::from_columns(&c))
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Squares<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, u: &DVector<f64>) {
        self.u.copy_from(u);
    }

    fn params(&self) -> DVector<f64> {
        self.u.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let m = self.model.at(&shares(&self.u))?;
        Some(DVector::from_vec(self.of(&m)))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let mut j = slopes(self.model, &shares(&self.u), |m| self.of(m))?;
        for (mut column, u) in j.column_iter_mut().zip(&self.u) {
            column *= 0.5 * u.cos();
        }
        Some(j)
    }
}

fn polish(model: &Model, from: &[f64]) -> Result<Fitted, GisaxsError> {
    let target = model.target;
    // On a bound the derivative of the sine vanishes: start slightly inside.
    let u = from
        .iter()
        .map(|s| (2.0 * s.clamp(0.001, 0.999) - 1.0).asin())
        .collect::<Vec<_>>();
    let search = || {
        LevenbergMarquardt::new()
            .with_ftol(1e-9)
            .with_xtol(1e-8)
            .with_patience(60)
    };
    // Likelihoods have local minima far from the data; differences of roots avoid them.
    let (near, _) = search().minimize(Squares {
        model,
        u: DVector::from_vec(u),
        rough: true,
    });
    let (done, report) = search().minimize(Squares {
        rough: false,
        ..near
    });
    model.failed()?;
    let best = shares(&done.u);
    let points = target.used();
    let freedom = points.saturating_sub(best.len()).max(1) as f64;
    let chi2 = 2.0 * report.objective_function / freedom;
    let stopped = || GisaxsError::Sample("stopped: nothing was fitted".into());
    let j = slopes(model, &best, |m| target.scaled(m)).ok_or_else(stopped)?;
    // The error of counts is known; that of other data is estimated from the scatter.
    let scale = match target.noise {
        super::Noise::Poisson => chi2.max(1.0),
        super::Noise::Relative | super::Noise::Uniform => chi2,
    };
    let covariance = (j.transpose() * &j).try_inverse().map(|c| c * scale);
    let n = best.len();
    let sigma: Vec<f64> = (0..n)
        .map(|k| {
            covariance
                .as_ref()
                .map_or(f64::INFINITY, |c| c[(k, k)].max(0.0).sqrt())
        })
        .collect();
    let values = model.numbers(&best);
    Ok(Fitted {
        // From the error of the fraction to that of the value.
        errors: (0..n)
            .map(|k| {
                let f = &target.free[k];
                let slope = if f.log {
                    values[k] * (f.to / f.from).ln()
                } else {
                    f.to - f.from
                };
                sigma[k] * slope
            })
            .collect(),
        correlations: (0..n)
            .map(|a| {
                (0..n)
                    .map(|b| {
                        covariance
                            .as_ref()
                            .map_or(f64::NAN, |c| c[(a, b)] / (sigma[a] * sigma[b]))
                    })
                    .collect()
            })
            .collect(),
        chi2,
        points,
        models: 0,
        termination: termination(&report.termination),
        at_bounds: target
            .free
            .iter()
            .zip(&best)
            .filter(|(_, s)| !(1e-4..=1.0 - 1e-4).contains(*s))
            .map(|(f, _)| f.path.clone())
            .collect(),
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_in_words() {
        let both = TerminationReason::Converged {
            ftol: true,
            xtol: false,
        };
        assert_eq!(termination(&both), "converged: χ² is stationary");
        assert!(termination(&TerminationReason::LostPatience).starts_with("not converged"));
    }
}
