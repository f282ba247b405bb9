//! Names of the files of a sweep.

use super::export::{CSV, T4};
use super::rounds::Rounds;

pub(super) const HEAD: &str = "sweep.json";
pub(super) const TRIALS: &str = "trials.jsonl";
/// Name of the file of counters in a sweep's folder.
pub(super) const COUNTERS: &str = "counters.jsonl";
/// The trials of a recorded sweep, packed.
pub(super) const PACKED_TRIALS: &str = "trials.jsonl.gz";
/// The counters of a recorded sweep, packed.
pub(super) const PACKED_COUNTERS: &str = "counters.jsonl.gz";
/// The files of a sweep beside its head, which comes first and goes last.
pub(super) const FILES: [&str; 7] = [
    TRIALS,
    PACKED_TRIALS,
    COUNTERS,
    PACKED_COUNTERS,
    Rounds::FILE,
    T4,
    CSV,
];
