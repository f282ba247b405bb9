//! Jobs and messages between the tuner and a worker: one JSON line each, after a random number that is unique to the job.

use crate::problem::{Checking, Data, Launch, Map, TextureOf, Tolerance};
use greenup_device::cuda::Gpu;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Built {
    /// A library with `greenup_run`. With a GPU it is host code that enqueues on the stream.
    Library(PathBuf),
    /// Kernels of a GPU and how they are launched.
    Cubin {
        /// The compiled module.
        file: PathBuf,
        /// Launches in their order.
        launches: Vec<Launch>,
        /// Tensor maps.
        maps: Vec<Map>,
        /// Textures of arrays.
        #[serde(default)]
        textures: Vec<TextureOf>,
    },
    /// Kernels in OpenCL, built in the process that runs them, and how they are launched.
    OpenCl {
        /// Their text, and how it is built.
        program: OpenCl,
        /// Launches in their order.
        launches: Vec<Launch>,
    },
    /// A command.
    Command(Box<crate::command::Command>),
}

impl Built {
    /// The file it is in; a command has none.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Library(file) | Self::Cubin { file, .. } => Some(file),
            Self::OpenCl { program, .. } => Some(&program.file),
            Self::Command(_) => None,
        }
    }

    /// The file it is in, to be replaced.
    pub(crate) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Library(file) | Self::Cubin { file, .. } => Some(file),
            Self::OpenCl { program, .. } => Some(&mut program.file),
            Self::Command(_) => None,
        }
    }
}

/// One job of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Arguments of the kernel.
    pub inputs: Inputs,
    /// Seconds after which the worker ends itself if the tuner no longer exists.
    pub limit_s: f64,
    /// What to do.
    pub task: Task,
    /// Files that the worker must have before, if a launcher started it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Sent>,
}

impl Job {
    /// A job without arguments and files.
    pub(crate) fn of(task: Task, limit_s: f64) -> Self {
        Self {
            inputs: Inputs::default(),
            limit_s,
            task,
            files: Vec::new(),
        }
    }
}

/// Inputs of the kernels. A worker that gets the same inputs again reuses them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// Arguments of the kernel.
    pub data: Vec<Data>,
    /// Seed of their random contents.
    pub seed: u64,
    /// Where files of the problem are.
    pub dir: PathBuf,
    /// Library that makes the data what the kernels expect, run before anything else.
    pub setup: Option<PathBuf>,
    /// Number of the GPU, for kernels that run on one.
    pub gpu: Option<i32>,
    /// Arrays stay as they are between the windows of a measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrestored: bool,
    /// The device of kernels in OpenCL.
    #[serde(default)]
    pub opencl: Option<OpenClTarget>,
}

impl Inputs {
    /// Whether kernels run on a GPU or another device beside the host.
    pub fn on_other_device(&self) -> bool {
        self.gpu.is_some() || self.opencl.is_some_and(|o| !o.on_host)
    }

    /// Of the data on which a kernel is verified after its measurement.
    pub fn fresh_seed(&self) -> u64 {
        self.seed ^ 0xf4e5_4da7
    }
}

/// Files with the reference's outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Outputs on the usual data.
    pub first: PathBuf,
    /// Outputs on the fresh data.
    pub fresh: PathBuf,
}

/// What a worker does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Introduces itself: the first job of a worker that a launcher started.
    Introduce(Question),
    /// Fills the inputs, for jobs that follow.
    Fill,
    /// Compiles for a GPU into the cache.
    Compile(Cuda),
    /// Builds kernels in OpenCL, to see whether they compile and what they need.
    BuildOpenCl(OpenCl),
    /// Runs on the host, on the data and on the fresh data, and writes the outputs to files.
    Reference {
        /// The compiled reference.
        library: PathBuf,
        /// Files for the outputs.
        outputs: Expected,
    },
    /// Verifies and measures one kernel, with another measured around it for drift.
    Trial {
        /// The kernel.
        kernel: Built,
        /// Expected outputs; `None` without a reference.
        reference: Option<Box<Expected>>,
        /// Largest errors allowed, over the largest value of the array.
        tolerance: Tolerance,
        /// Duration of the measurement, s.
        seconds: f64,
        /// Kernel measured before and after to detect drift: the problem's baseline, or an earlier config.
        baseline: Option<Built>,
        /// Measures the baseline's energy too.
        baseline_energy: bool,
        /// Time of a run, s, beyond which the measurement is stopped at its beginning, and the baseline's time at first, by which the
        /// machine's drift is seen; none for no drift.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beyond_s: Option<(f64, Option<f64>)>,
        /// Checks the results of the first run, after they were compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<Box<Checking>>,
    },
    /// Runs a few times and nothing else: for a profiler to watch.
    Show {
        /// The kernel.
        kernel: Built,
        /// Number of runs.
        runs: i64,
    },
    /// Measures several kernels, interleaved.
    Interleaved {
        /// The kernels.
        kernels: Vec<Built>,
        /// Number of rounds.
        rounds: usize,
        /// Number of rounds that were measured before: each has another order.
        before: usize,
        /// Whether energies are measured, if there is a sensor.
        energy: bool,
        /// Duration of a measurement, s.
        seconds: f64,
    },
}

impl Task {
    /// Whether it measures time or energy.
    pub fn measures(&self) -> bool {
        matches!(
            self,
            Self::Fill | Self::Trial { .. } | Self::Interleaved { .. }
        )
    }
}

/// A source to compile for a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuda {
    /// The source file.
    pub source: PathBuf,
    /// Target architecture, such as sm_90.
    pub arch: String,
    /// Compiler options.
    pub options: Vec<String>,
    /// Folder of the compiled kernels.
    pub cache: PathBuf,
}

/// The device of kernels in OpenCL, as a worker finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenClTarget {
    /// Platform and device.
    pub address: greenup_device::opencl::Address,
    /// Whether it is the processor of the host.
    pub on_host: bool,
}

/// The text of kernels in OpenCL, and how it is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCl {
    /// File of the text, with the macros of a config.
    pub file: PathBuf,
    /// Name of the user's file, for messages.
    pub name: String,
    /// Options of the compiler.
    pub options: String,
    /// The device.
    pub target: OpenClTarget,
}

/// A message of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// The worker introduces itself.
    Introduced(Box<Introduction>),
    /// The inputs are loaded; later failures are the kernel's.
    Ready,
    /// The environment failed, not the kernel.
    Environment {
        /// What failed.
        message: String,
    },
    /// A CUDA module was compiled.
    Compiled {
        /// The compiled module.
        file: PathBuf,
        /// Registers, shared memory and spills of its kernels.
        kernels: Vec<greenup_device::cuda::Resources>,
    },
    /// Kernels in OpenCL were built.
    BuiltOpenCl {
        /// What they need.
        kernels: Vec<greenup_device::opencl::KernelFacts>,
    },
    /// The worker built a command.
    BuiltCommand {
        /// Time that it took, s.
        seconds: f64,
    },
    /// The kernel is loaded.
    Loaded,
    /// The first run came to its end.
    Ran,
    /// The results are right: first on the data, then, after the measurement, on fresh data.
    Verified {
        /// Largest error found, over the largest value of the array; 0 without a reference.
        error: f64,
        /// Time of the verification, s.
        seconds: f64,
    },
    /// The kernel was measured.
    Measured {
        /// Mean time of one run in each batch, s.
        times_s: Vec<f64>,
        /// Energy of one run, J; `None` if it was not measured.
        energy_j: Option<f64>,
        /// Half-width of the 95 % interval of the time over the time.
        time_error: f64,
        /// Warnings about the measurement.
        flags: Vec<String>,
        /// Power, clocks, temperature: what the sensors read besides the energy.
        state: BTreeMap<String, f64>,
        /// Seconds of the baseline before and after.
        baseline_s: Vec<f64>,
        /// Energy of one run of the baseline, J.
        baseline_j: Option<f64>,
        /// Whether it was stopped at its beginning, as the kernel is too slow to be of interest.
        #[serde(default)]
        stopped: bool,
    },
    /// A doubt about the measurement, found after it.
    Flagged {
        /// In words.
        flag: String,
    },
    /// Seconds of each kernel in each round; joules where measured.
    Interleaved {
        /// Times by kernel and round, s.
        times_s: Vec<Vec<f64>>,
        /// Energies by kernel and round, J.
        energies_j: Vec<Vec<f64>>,
        /// The metric that is the objective, by kernel and round, as a value to minimise.
        #[serde(default)]
        metrics: Vec<Vec<f64>>,
    },
    /// The job failed.
    Failed {
        /// The kind of failure.
        failure: crate::sweep::Failure,
        /// What is wrong.
        message: String,
    },
    /// The job has ended, with or without a failure.
    Done,
}

/// What a remote worker is asked at its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Whether the kernels run on a GPU.
    pub on_gpu: bool,
    /// GPUs of its host that the introduction names: `all`, or numbers separated by commas; absent for the first. The worker
    /// takes the first of them.
    #[serde(default)]
    pub gpus: Option<String>,
    /// Energy sensor, by its id; `none` for none, absent for the best one there.
    pub sensor: Option<String>,
    /// Seconds to answer.
    pub timeout_s: f64,
}

/// How a worker introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)] // Of another version at least that is read.
pub struct Introduction {
    /// Version of greenup.
    pub version: String,
    /// Git commit of greenup.
    pub commit: String,
    /// Name of the host.
    pub host: String,
    /// Model of the processor.
    pub cpu: String,
    /// Architecture of the processor, such as `x86_64`.
    pub arch: String,
    /// Its widest vector instruction set.
    pub isa: String,
    /// The GPUs that were asked for; kernels run on the first.
    pub gpus: Vec<Gpu>,
    /// Id of the energy sensor.
    pub sensor: Option<String>,
    /// Why there is no energy sensor.
    pub missing: Option<String>,
    /// Folder for the files of jobs.
    pub folder: PathBuf,
}

impl Introduction {
    /// The GPU that kernels run on.
    pub fn gpu(&self) -> Option<&Gpu> {
        self.gpus.first()
    }
}

/// A file that comes with a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Name, made of the hash of its contents.
    pub name: String,
    /// Contents, as base64.
    pub contents: String,
}
