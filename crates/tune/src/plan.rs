//! How a sweep is run.

use crate::objective::Objective;
use crate::worker::launcher::Launcher;
use greenup_device::cuda::Gpu;
use greenup_meter::control::Control;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Seed of the random input data.
pub const DATA_SEED: u64 = 20_150_324;

/// Most configs that are measured again beyond the finalists, where nobody says another number.
pub const NEAR_TIES: usize = 8;

/// How a sweep is run.
pub struct Plan {
    /// Objectives; with several, the finalists are the best of each alternately, ranked by the first.
    pub objectives: Vec<Objective>,
    /// Maximum number of full measurements.
    pub trials: usize,
    /// Time limit of the search, s.
    pub seconds: f64,
    /// Seed of the search and of the order of final measurements; kernel data use [`DATA_SEED`].
    pub seed: u64,
    /// Folder of the sweep.
    pub out: PathBuf,
    /// Whether to continue the sweep in the folder.
    pub resume: bool,
    /// Parts of the fingerprint that may differ from those of the sweep that is continued; `all` for any.
    pub accept: Vec<String>,
    /// How worker processes are started.
    pub launcher: Launcher,
    /// Number of best configs measured again at the end, interleaved.
    pub finalists: usize,
    /// Number of these final measurements of each; `None` for 10 on a GPU and 9 on a host.
    pub rounds: Option<usize>,
    /// Most configs that are measured again beyond the finalists, as noise cannot tell them from the last; usually
    /// [`NEAR_TIES`].
    pub near_ties: usize,
    /// Configs that are measured again at the end whatever their trials gave: what is used until now is only replaced by what is better
    /// beside it.
    pub first: Vec<Vec<Value>>,
    /// Additional facts to record.
    pub facts: BTreeMap<String, String>,
    /// Name of the device.
    pub device: String,
    /// The GPU of a problem whose kernels run on one.
    pub gpu: Option<GpuTarget>,
    /// Sets clocks and power limit, for problems that have them as parameters.
    pub control: Option<Control>,
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

/// The GPU of a sweep.
#[derive(Clone, Debug)]
pub struct GpuTarget {
    /// The GPU.
    pub gpu: Gpu,
    /// Where compiled kernels are kept.
    pub cubins: PathBuf,
}
