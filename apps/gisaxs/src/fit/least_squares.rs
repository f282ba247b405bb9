//! Residuals and their derivatives for the Levenberg–Marquardt iteration.

use super::evaluate::Wanted;
use super::model::{Model, shares};
use super::result::Stage;
use levenberg_marquardt::{LeastSquaresProblem, TerminationReason};
use nalgebra::{DMatrix, DVector, Dyn, Owned};
use std::cell::Cell;

/// Residuals as functions of u, where the fractions are (1 + sin u)/2.
pub(super) struct Squares<'a> {
    pub model: &'a Model<'a>,
    pub u: DVector<f64>,
    /// Whether the residuals are those that grow slowly far from the data.
    pub rough: bool,
    /// Whether there was a model already.
    pub known: Cell<bool>,
}

/// Residual where there is no model: the step is taken back, and a shorter one tried.
const FAR: f64 = 1e100;

impl Squares<'_> {
    fn wanted(&self) -> Wanted {
        if self.rough {
            Wanted::Rough
        } else {
            Wanted::Residuals
        }
    }
}

/// Step of finite differences, as a fraction of the interval between the bounds.
const STEP: f64 = 1e-5;

/// Derivatives of what is wanted of a model with respect to each fraction, one column each, by central differences
/// (one-sided at a bound).
pub(super) fn slopes(model: &Model, at: &[f64], wanted: Wanted) -> Option<DMatrix<f64>> {
    let ends = |k: usize| ((at[k] - STEP).max(0.0), (at[k] + STEP).min(1.0));
    let moved = |k: usize, to: f64| {
        let mut p = at.to_vec();
        p[k] = to;
        p
    };
    let positions: Vec<Vec<f64>> = (0..at.len())
        .flat_map(|k| [moved(k, ends(k).1), moved(k, ends(k).0)])
        .collect();
    let values = model.many(&positions, wanted);
    positions.iter().for_each(|_| {
        model.count();
    });
    let values: Vec<Option<DVector<f64>>> = values
        .into_iter()
        .map(|v| v.map(DVector::from_vec))
        .collect();
    // Beyond a core that touches its shell there is no model: the difference to the middle is as good.
    let middle = if values.iter().all(Option::is_some) {
        None
    } else {
        model.count();
        let own = model.many(&[at.to_vec()], wanted).pop()?;
        own.map(DVector::from_vec)
    };
    let columns: Option<Vec<DVector<f64>>> = values
        .chunks(2)
        .enumerate()
        .map(|(k, pair)| {
            let (high, low) = match (&pair[0], &pair[1]) {
                (Some(_), Some(_)) => (ends(k).1, ends(k).0),
                (Some(_), None) => (ends(k).1, at[k]),
                (None, _) => (at[k], ends(k).0),
            };
            let of = |v: &'_ Option<DVector<f64>>| v.clone().or_else(|| middle.clone());
            Some((of(&pair[0])? - of(&pair[1])?) / (high - low))
        })
        .collect();
    Some(DMatrix::from_columns(&columns?))
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
        let Some(m) = self.model.at(&shares(&self.u)) else {
            let count = self.model.target.used();
            let back = self.known.get() && self.model.has_none();
            return back.then(|| DVector::from_element(count, FAR));
        };
        self.known.set(true);
        let stage = if self.rough {
            Stage::Robust
        } else {
            Stage::Final
        };
        self.model.record(stage, None, self.model.target.chi2(&m));
        let values = self.wanted().of(self.model.target, &m);
        Some(DVector::from_vec(values))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let mut j = slopes(self.model, &shares(&self.u), self.wanted())?;
        for (mut column, u) in j.column_iter_mut().zip(&self.u) {
            column *= 0.5 * u.cos();
        }
        Some(j)
    }
}

/// Why the Levenberg–Marquardt iteration ended.
pub(super) fn termination(reason: &TerminationReason) -> String {
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
