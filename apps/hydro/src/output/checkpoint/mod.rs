//! Checkpoints, from which a run continues with identical digits: a line of JSON, then positions, velocities and
//! energies as doubles, then the CRC-32 of all that, little-endian.

mod read;
mod saved;
mod write;

pub use read::{parse, read};
pub use saved::Saved;
pub use write::{Sink, write, write_by};

use crate::HydroError;
use crate::time::stepping::Clock;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

const FORMAT: &str = "greenup-hydro/2";

/// Length of the checksum at the end, bytes.
const CHECKSUM: usize = 4;

/// Bytes that are read and written at once.
const BLOCK: usize = 1 << 16;

/// An input file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The flag that named it.
    pub flag: String,
    /// CRC-32 of its contents.
    pub crc32: u32,
}

impl Input {
    /// Computes the checksum of the file that a flag names.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(flag: &str, path: &Path) -> Result<Self, HydroError> {
        Ok(Self {
            flag: flag.to_owned(),
            crc32: crc32fast::hash(&greenup_files::read_bytes(
                path,
                greenup_files::read::TEXT_LIMIT,
            )?),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Head<S> {
    format: String,
    setup: S,
    inputs: Vec<Input>,
    /// Total energy at the start.
    energy: f64,
    /// Bit patterns of time and time step, which decimals would round.
    t: u64,
    dt: u64,
    /// The time step without the cut of a last step.
    free: u64,
    steps: usize,
    rejected: usize,
    nodes: usize,
    energies: usize,
}

/// A checkpoint whose content was checked; its state is read when it is needed.
#[derive(Clone, Debug)]
pub struct Checkpoint<S> {
    /// Settings of the run.
    pub setup: S,
    /// Input files that the settings name.
    pub inputs: Vec<Input>,
    /// Total energy at the start.
    pub energy: f64,
    /// Time and step counts.
    pub clock: Clock,
    /// State of the run.
    pub state: Saved,
}

/// Why bytes are not a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("the checkpoint cannot be read: {0}")]
    Read(io::Error),
    /// There is no first line.
    #[error("not a checkpoint")]
    NoHeader,
    /// The first line cannot be parsed.
    #[error("not a checkpoint, or a damaged one: {0}")]
    Header(serde_json::Error),
    /// The format is unknown.
    #[error("this checkpoint is of format `{0}`; only {FORMAT} is read")]
    Format(String),
    /// The end is missing.
    #[error("the checkpoint is cut off")]
    Truncated,
    /// The contents do not match the checksum.
    #[error("the checkpoint is damaged or cut off: its checksum does not match its content")]
    Checksum,
    /// A number of the state is infinite or NaN.
    #[error("the checkpoint is damaged: {name} {index} is {value}")]
    Value {
        /// The field.
        name: &'static str,
        /// Its index.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The clock is invalid.
    #[error("the checkpoint is damaged: time {t}, time step {dt}, energy {energy}")]
    Clock {
        /// Time.
        t: f64,
        /// Time step.
        dt: f64,
        /// Total energy at the start.
        energy: f64,
    },
}
