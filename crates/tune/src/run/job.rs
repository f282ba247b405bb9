//! What goes between the tuner and the process in which kernels run: one JSON line each, behind a number that is the
//! job's alone.

use crate::problem::{Data, Launch, Map};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Built {
    /// A library with `greenup_run`. Beside a GPU it is host code that enqueues on the stream.
    Library(PathBuf),
    /// Kernels of a GPU and how they are launched.
    Cubin {
        file: PathBuf,
        launches: Vec<Launch>,
        maps: Vec<Map>,
    },
}

impl Built {
    /// The file it is in.
    pub fn file(&self) -> &Path {
        match self {
            Self::Library(file) | Self::Cubin { file, .. } => file,
        }
    }
}

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub stage: Stage,
    /// Seconds after which the child ends itself, should nobody be left to end it.
    pub limit_s: f64,
    pub task: Task,
}

/// What kernels find when they start. A child that gets the same again keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub data: Vec<Data>,
    pub seed: u64,
    /// Where files of the problem are.
    pub dir: PathBuf,
    /// Library that makes the data what the kernels expect, run before anything else.
    pub setup: Option<PathBuf>,
    /// Number of the GPU, for kernels that run on one.
    pub gpu: Option<i32>,
}

impl Stage {
    /// Of the data on which a kernel is verified after its measurement.
    pub fn fresh_seed(&self) -> u64 {
        self.seed ^ 0xf4e5_4da7
    }
}

/// Files with the reference's outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub first: PathBuf,
    /// On the fresh data.
    pub fresh: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Compiles for a GPU into the cache.
    Compile(Cuda),
    /// Runs on the host, on the data and on the fresh data, and writes the outputs to files.
    Reference { library: PathBuf, outputs: Expected },
    /// Verifies and measures one kernel, with another measured around it for drift.
    Trial {
        kernel: Built,
        reference: Option<Expected>,
        tolerance: f64,
        seconds: f64,
        baseline: Option<Built>,
        /// Measures the baseline's energy too.
        baseline_energy: bool,
    },
    /// Runs a few times and nothing else: for a profiler to watch.
    Show { kernel: Built, runs: i64 },
    /// Measures several in turns.
    Race {
        kernels: Vec<Built>,
        rounds: usize,
        seconds: f64,
    },
}

/// A source to compile for a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuda {
    pub source: PathBuf,
    pub arch: String,
    pub options: Vec<String>,
    /// Folder of the compiled kernels.
    pub cache: PathBuf,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// The data are there; what comes now is the kernel's.
    Ready,
    /// The environment failed, not the kernel.
    Environment {
        message: String,
    },
    Compiled {
        file: PathBuf,
        kernels: Vec<greenup_device::cuda::Resources>,
    },
    /// The kernel is loaded.
    Loaded,
    /// The first run came to its end.
    Ran,
    /// The results are right: first on the data, then, after the measurement, on fresh data.
    Verified {
        error: f64,
        seconds: f64,
    },
    Measured {
        times_s: Vec<f64>,
        energy_j: Option<f64>,
        time_error: f64,
        flags: Vec<String>,
        /// Power, clocks, temperature: what the sensors said beside the energy.
        state: BTreeMap<String, f64>,
        /// Seconds of the baseline before and after.
        baseline_s: Vec<f64>,
        baseline_j: Option<f64>,
    },
    /// Seconds of each kernel in each round; joules where measured.
    Raced {
        times_s: Vec<Vec<f64>>,
        energies_j: Vec<Vec<f64>>,
    },
    Failed {
        failure: crate::sweep::Failure,
        message: String,
    },
    Done,
}
