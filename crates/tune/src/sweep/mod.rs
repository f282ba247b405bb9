//! Recorded sweeps: ours, and those of other tuners.

mod baseline;
pub mod best;
mod bounds;
pub mod check;
mod clock;
mod default;
pub mod disturbance;
mod error;
mod export;
mod fingerprint;
pub(crate) mod folder;
mod gain;
mod import;
pub mod merge;
pub mod metric;
mod names;
mod packed;
pub(crate) mod record;
mod replaced;
pub(crate) mod rounds;
mod winner;
pub mod wisdom;

pub use baseline::Compared;
pub(crate) use baseline::own_values;
pub use default::{DefaultConfig, DefaultOrigin};
pub use error::{Difference, FolderError};
pub use export::{to_csv, to_t4, write_exports};
pub use folder::Folder;
pub use gain::Gain;
pub use import::{FormatError, ImportError, file_and_section, read_any};
pub use record::{
    BaselineFacts, Counted, Counters, Failure, Kernels, OBJECTIVE, Outcome, Sweep, SweepFacts,
    Trial, TrialDevice,
};
pub use rounds::Rounds;
