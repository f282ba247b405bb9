//! How a sweep is run, and why it may end.

use super::cubin::OnGpu;
use super::fault::EnvironmentFault;
use super::parent::Launcher;
use crate::objective::Objective;
use crate::sweep::FolderError;
use greenup_meter::Observer;
use greenup_meter::control::Control;
use std::collections::BTreeMap;
use std::path::Path;

/// What every kernel's random data come from.
pub const DATA_SEED: u64 = 20_150_324;

/// How a sweep is run.
pub struct Plan<'a> {
    pub objectives: Vec<Objective>,
    /// Full measurements at most.
    pub trials: usize,
    /// Seconds at most.
    pub seconds: f64,
    pub seed: u64,
    pub out: &'a Path,
    pub resume: bool,
    /// Parts of the fingerprint that may differ from those of the sweep that is continued; `all` for any.
    pub accept: Vec<String>,
    pub launcher: Launcher,
    /// Configs measured again at the end, in turns.
    pub finalists: usize,
    /// Facts to record beside the tuner's own.
    pub facts: BTreeMap<String, String>,
    pub device: String,
    /// The GPU of a problem whose kernels run on one.
    pub gpu: Option<OnGpu>,
    /// Sets clocks and power limit, for problems that have them as parameters.
    pub control: Option<Control>,
    pub observer: &'a dyn Observer,
}

/// A sweep that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    File(#[from] greenup_files::FileError),
    #[error("{0}")]
    Reference(String),
    #[error("the profiler: {0}")]
    Profiler(String),
    #[error("{0}: no config's fault, so nothing is recorded")]
    Environment(#[from] EnvironmentFault),
    /// The arguments do not fit into memory.
    #[error("{0}")]
    TooLarge(String),
    #[error("no trial succeeded: {0}")]
    Nothing(String),
}
