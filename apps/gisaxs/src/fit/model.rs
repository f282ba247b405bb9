//! The model over fractions of the intervals between the bounds.

use super::evaluate::{Crew, Wanted};
use super::result::{Evaluation, Stage};
use super::target::Target;
use crate::GisaxsError;
use crate::mesh_form_factor::Watch;
use nalgebra::DVector;
use std::cell::RefCell;

/// The model over fractions of the intervals between the bounds.
pub(super) struct Model<'a> {
    pub target: &'a Target,
    pub(super) watch: &'a Watch<'a>,
    pub(super) crew: &'a Crew<'a>,
    /// Models that this start computed.
    pub(super) count: RefCell<usize>,
    /// Convergence of this start.
    pub(super) history: RefCell<Vec<Evaluation>>,
    pub(super) failure: RefCell<Option<GisaxsError>>,
}

impl Model<'_> {
    pub(super) fn restart(&self) {
        *self.count.borrow_mut() = 0;
        self.history.borrow_mut().clear();
    }

    pub(super) fn numbers(&self, shares: &[f64]) -> Vec<f64> {
        self.target
            .free
            .iter()
            .zip(shares)
            .map(|(f, s)| f.at(s.clamp(0.0, 1.0)))
            .collect()
    }

    /// `None` if stopped, or if the model has no finite value there.
    pub fn at(&self, shares: &[f64]) -> Option<Vec<f64>> {
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

    /// Whether there was no model at a position, for no other reason than that.
    pub fn has_none(&self) -> bool {
        !self.watch.stopped() && self.failure.borrow().is_none()
    }

    /// What is wanted of the models at some positions, by all ranks; `None` where a model has no finite value, and
    /// everywhere if a model cannot be computed.
    pub fn many(&self, positions: &[Vec<f64>], wanted: Wanted) -> Vec<Option<Vec<f64>>> {
        let none = || vec![None; positions.len()];
        if self.watch.stopped() {
            return none();
        }
        let numbers: Vec<Vec<f64>> = positions.iter().map(|p| self.numbers(p)).collect();
        self.crew.compute(&numbers, wanted).unwrap_or_else(|e| {
            *self.failure.borrow_mut() = Some(e);
            none()
        })
    }

    /// Counts a model, the last one so far.
    pub fn count(&self) -> usize {
        *self.count.borrow_mut() += 1;
        *self.count.borrow()
    }

    /// Records a model. Of those of one step of the swarm, `positions` models, the best is kept.
    pub fn record(&self, stage: Stage, positions: Option<usize>, chi2: f64) {
        let models = *self.count.borrow();
        let this = Evaluation {
            models,
            stage,
            chi2,
        };
        if !this.chi2.is_finite() {
            return;
        }
        let mut history = self.history.borrow_mut();
        let step = |e: &Evaluation| positions.map(|n| (e.models - 1) / n.max(1));
        match history.last_mut() {
            Some(last)
                if last.stage == stage && positions.is_some() && step(last) == step(&this) =>
            {
                if this.chi2 < last.chi2 {
                    *last = this;
                }
            }
            _ => history.push(this),
        }
    }

    pub(super) fn failed(&self) -> Result<(), GisaxsError> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }
}

/// The fractions of the intervals between the bounds.
pub(super) fn shares(u: &DVector<f64>) -> Vec<f64> {
    u.iter().map(|u| 0.5 + 0.5 * u.sin()).collect()
}
