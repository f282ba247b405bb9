//! Recorded sweeps: ours, and those of other tuners.

mod export;
mod fingerprint;
mod folder;
mod import;
mod record;
mod winner;

pub use export::{Exported, to_csv, to_t4};
pub use folder::{Folder, FolderError};
pub use import::{ImportError, read_any};
pub use record::{Counted, Counters, Failure, Kernels, Outcome, Sweep, SweepFacts, Trial};
pub use winner::Rounds;
