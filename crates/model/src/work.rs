//! How many operations of each class a computation does.

use crate::op::Op;
use std::collections::BTreeMap;

/// A count that cannot be work.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("the count of `{op}` must be a finite number that is not negative, not {count}")]
pub struct WorkError {
    /// Operation class.
    pub op: Op,
    /// The count that was given.
    pub count: f64,
}

/// Operation counts of one computation: the thesis's W and Q, generalised to many classes.
///
/// ```
/// use greenup_model::{Op, Work};
///
/// let work = Work::new().with(Op::F64, 2e9)?.with(Op::Dram, 24e9)?;
/// assert_eq!(work.count(Op::F64), 2e9);
/// assert_eq!(work.count(Op::L2), 0.0);
/// # Ok::<(), greenup_model::WorkError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    counts: BTreeMap<Op, f64>,
}

impl Work {
    /// No operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` operations of class `op`.
    ///
    /// # Errors
    /// [`WorkError`] when the count is negative or not finite.
    pub fn add(&mut self, op: Op, count: f64) -> Result<(), WorkError> {
        if !count.is_finite() || count < 0.0 {
            return Err(WorkError { op, count });
        }
        *self.counts.entry(op).or_insert(0.0) += count;
        Ok(())
    }

    /// As [`Work::add`], for building a value in one expression.
    ///
    /// # Errors
    /// [`WorkError`] as for [`Work::add`].
    pub fn with(mut self, op: Op, count: f64) -> Result<Self, WorkError> {
        self.add(op, count)?;
        Ok(self)
    }

    /// Number of operations of class `op`.
    pub fn count(&self, op: Op) -> f64 {
        self.counts.get(&op).copied().unwrap_or(0.0)
    }

    /// Classes with a positive count.
    pub fn iter(&self) -> impl Iterator<Item = (Op, f64)> + '_ {
        self.counts
            .iter()
            .map(|(&op, &n)| (op, n))
            .filter(|&(_, n)| n > 0.0)
    }

    /// Whether all counts are zero.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// W: all flops.
    pub fn flops(&self) -> f64 {
        self.iter()
            .filter(|(op, _)| op.is_flop())
            .map(|(_, n)| n)
            .sum()
    }

    /// I = W/Q in flop per byte of slow memory; `None` without slow-memory traffic.
    pub fn intensity(&self) -> Option<f64> {
        let bytes = self.count(Op::Dram);
        (bytes > 0.0).then(|| self.flops() / bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_bad_ones_are_refused() {
        let work = Work::new()
            .with(Op::F32, 3.0)
            .and_then(|w| w.with(Op::F64, 1.0))
            .and_then(|w| w.with(Op::Dram, 8.0))
            .and_then(|w| w.with(Op::F32, 4.0))
            .unwrap();
        assert_eq!(work.flops(), 8.0);
        assert_eq!(work.intensity(), Some(1.0));
        assert!(Work::new().with(Op::F32, f64::NAN).is_err());
        assert!(Work::new().with(Op::F32, -1.0).is_err());
        assert_eq!(Work::new().intensity(), None);
    }
}
