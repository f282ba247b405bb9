//! The devices, sensors and worker program that a session is measured with.

use crate::plan::{GpuTarget, Plan, WorkerSetup};
use crate::problem::Problem;
use crate::worker::launcher::Launcher;
use greenup_meter::control::Control;
use std::collections::BTreeMap;
use std::path::Path;

/// The devices, sensors and worker program that a session is measured with, chosen by the command layer.
pub struct Setup {
    /// The GPU, for kernels in CUDA.
    pub gpu: Option<GpuTarget>,
    /// Name of the GPU, or of the host's processor.
    pub device: String,
    /// Id of the energy sensor.
    pub sensor: Option<String>,
    /// Time between two changes of its value, s, where it is known.
    pub sensor_period_s: Option<f64>,
    /// Why there is no energy sensor.
    pub missing: Option<String>,
    /// Starts the worker processes.
    pub launcher: Launcher,
    /// Control of the GPU's clocks and power limit, for problems that set them.
    pub control: Option<Control>,
    /// Workers that search together; none for the one that the other fields describe.
    pub workers: Vec<WorkerSetup>,
}

impl Setup {
    /// A plan for configs that are given rather than searched, without a budget or finalists; results go to `out`.
    pub fn plan(self, problem: &Problem, out: &Path) -> Plan {
        Plan {
            objectives: vec![problem.objective],
            trials: usize::MAX,
            seconds: f64::INFINITY,
            seed: 1,
            out: out.to_owned(),
            resume: false,
            accept: Vec::new(),
            launcher: self.launcher,
            finalists: 0,
            rounds: None,
            near_ties: 0,
            first: Vec::new(),
            facts: BTreeMap::new(),
            device: self.device,
            gpu: self.gpu,
            control: self.control,
        }
    }
}
