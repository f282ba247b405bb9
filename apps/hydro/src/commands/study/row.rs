//! What a study found of one case.

use crate::session::settings::Assembly;
use serde::{Deserialize, Serialize};

/// Measurement of one kind of work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub order: usize,
    pub assembly: Assembly,
    /// `step`, `corner` or `solve`.
    pub work: String,
    pub zones: usize,
    pub unknowns: usize,
    /// Time of one repetition, s.
    pub seconds: f64,
    /// Half width of its 95 % interval, relative; 0 where it was not recorded.
    #[serde(default)]
    pub seconds_error: f64,
    pub watts: Option<f64>,
    pub joules: Option<f64>,
    /// Energy per unknown and step, J; `None` for parts of a step.
    pub joules_per_unknown: Option<f64>,
    /// What computed it, as `--device` takes it.
    pub device: String,
    /// Power of the CPU while a GPU computed, W; `None` without a sensor of the CPU.
    #[serde(default)]
    pub host_watts: Option<f64>,
    /// Prediction of the machine model: time, s, and energy, J.
    #[serde(default)]
    pub predicted: Option<(f64, Option<f64>)>,
    /// Times, s, with powers, W, while it was measured; beside the JSON of a study in a file of its own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub trace: Vec<(f64, f64)>,
}

impl Row {
    /// Names of its spaces: `Q2Q1`.
    pub fn spaces(&self) -> String {
        spaces(self.order)
    }

    /// The spaces with the assembly.
    pub fn name(&self) -> String {
        format!("{}, {} assembly", self.spaces(), self.assembly.name())
    }

    /// The name of its trace.
    pub fn traced(&self) -> String {
        format!("Q{} {} {}", self.order, self.assembly.name(), self.work)
    }
}

/// Names of the spaces of a kinematic order.
pub fn spaces(order: usize) -> String {
    format!("Q{order}Q{}", order.saturating_sub(1))
}
