//! How a sweep is run: what the user chooses, and the devices that it is measured on.

use crate::objective::{Energies, Objective};
use crate::problem::Problem;
use crate::search::Budget;
use crate::shard::Shard;
use crate::strategy::DEFAULT;
use crate::sweep::DefaultConfig;
use crate::worker::launcher::Launcher;
use greenup_device::cuda::Gpu;
use greenup_meter::control::Control;
use greenup_model::Machine;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Seed of the random input data.
pub const DATA_SEED: u64 = 20_150_324;

/// Most configs that are measured again beyond the finalists, where nobody says another number.
pub const NEAR_TIES: usize = 8;

/// What a user may choose about a sweep.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Objectives to minimise, empty for the problem's own; with several, the finalists are the best of each alternately, ranked by
    /// the first.
    pub objectives: Vec<Objective>,
    /// Name of the strategy, one of [`crate::STRATEGIES`].
    pub strategy: String,
    /// When the search ends.
    pub budget: Budget,
    /// Seed of the search and of the order of final measurements; kernel data use [`DATA_SEED`].
    pub seed: u64,
    /// Number of best configs measured again at the end, interleaved.
    pub finalists: usize,
    /// Number of these final measurements of each; `None` until their order is decided.
    pub rounds: Option<usize>,
    /// Most configs that are measured there too, as noise cannot tell them from the last finalist; usually [`NEAR_TIES`].
    pub near_ties: usize,
    /// Continue the sweep in the folder.
    pub resume: bool,
    /// Replace the sweep in the folder.
    pub overwrite: bool,
    /// Parts of the fingerprint that may differ from those of the sweep that is continued; `all` for any.
    pub accept: Vec<String>,
    /// Of which configs energies are measured.
    pub energy: Energies,
    /// Machine model for the strategy `steered`.
    pub machine: Option<Machine>,
    /// Additional facts to record with the sweep.
    pub facts: BTreeMap<String, String>,
    /// The config used until now, with which the best is compared; `None` for that of the problem, or the first of the space.
    pub default: Option<Vec<Value>>,
    /// Part of the space that is searched; `None` for all of it.
    pub shard: Option<Shard>,
    /// Configs that are measured first, if they are points of the space, before those of the strategy; and again at the end, whatever
    /// their trials gave: what is used until now is only replaced by what is better beside it.
    pub first: Vec<Vec<Value>>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            objectives: Vec::new(),
            strategy: DEFAULT.to_owned(),
            budget: Budget::Seconds(60.0),
            seed: 1,
            finalists: 5,
            rounds: None,
            near_ties: NEAR_TIES,
            resume: false,
            overwrite: false,
            accept: Vec::new(),
            energy: Energies::default(),
            machine: None,
            facts: BTreeMap::new(),
            default: None,
            shard: None,
            first: Vec::new(),
        }
    }
}

/// The devices, sensors and worker program that a sweep is measured with, chosen by the command layer.
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
    /// One worker on a device, the host's processor where there is no GPU, as if without a sensor.
    pub fn of(launcher: Launcher, device: String, gpu: Option<GpuTarget>) -> Self {
        Self {
            gpu,
            device,
            sensor: None,
            sensor_period_s: None,
            missing: None,
            launcher,
            control: None,
            workers: Vec::new(),
        }
    }
}

/// A worker of a sweep: how its process is started, and the device that it measures on.
pub struct WorkerSetup {
    /// Name in messages, such as `cuda:1` or `node2 cuda:0`.
    pub name: String,
    /// How its process is started.
    pub launcher: Launcher,
    /// Its GPU, for problems whose kernels run on one.
    pub gpu: Option<GpuTarget>,
    /// Sets the clocks and the power limit of its GPU, for problems that have them as parameters.
    pub control: Option<Control>,
    /// Name of the host, if a launcher reached it.
    pub host: Option<String>,
    /// Version of greenup there, if a launcher reached it.
    pub version: Option<String>,
}

impl WorkerSetup {
    /// A worker on this host.
    pub fn here(
        name: String,
        launcher: Launcher,
        gpu: Option<GpuTarget>,
        control: Option<Control>,
    ) -> Self {
        Self {
            name,
            launcher,
            gpu,
            control,
            host: None,
            version: None,
        }
    }
}

/// The GPU of a sweep.
#[derive(Clone, Debug)]
pub struct GpuTarget {
    /// The GPU.
    pub gpu: Gpu,
    /// Where compiled kernels are kept.
    pub cubins: PathBuf,
}

/// How a sweep is run.
pub struct Plan {
    /// What the user chose; there is an objective.
    pub(crate) options: SessionOptions,
    /// Where it is measured.
    pub(crate) setup: Setup,
    /// Folder of the sweep.
    pub(crate) out: PathBuf,
    /// With which the best config is compared.
    pub(crate) default: Option<DefaultConfig>,
}

impl Plan {
    /// The problem's objective stands for none in the options.
    pub fn new(problem: &Problem, mut options: SessionOptions, setup: Setup, out: PathBuf) -> Self {
        if options.objectives.is_empty() {
            options.objectives.push(problem.objective);
        }
        Self {
            options,
            setup,
            out,
            default: None,
        }
    }

    /// The objective that finalists are ranked by.
    pub(crate) fn objective(&self) -> Objective {
        self.options.objectives[0]
    }
}
