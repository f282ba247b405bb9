//! What evaluates a plan.

use crate::FmmError;
use crate::cpu::{Cpu, Phases};
use crate::real::Real;

/// A device with a plan on it.
pub trait Engine {
    /// Sums at all targets, component by component, in the units of the points.
    ///
    /// # Errors
    /// Charges of another number than sources, or that are no numbers; a device lost.
    fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError>;

    /// Seconds of the last evaluation.
    fn phases(&self) -> Phases;

    /// Evaluates what was last evaluated so many times more, for measurements: nothing is moved to or from the device.
    ///
    /// # Errors
    /// A device lost.
    fn again(&mut self, times: usize) -> Result<(), FmmError>;
}

impl<R: Real> Engine for Cpu<'_, R> {
    fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError> {
        Cpu::evaluate(self, charges)
    }

    fn phases(&self) -> Phases {
        self.phases
    }

    fn again(&mut self, times: usize) -> Result<(), FmmError> {
        for _ in 0..times {
            self.repeat();
        }
        Ok(())
    }
}
