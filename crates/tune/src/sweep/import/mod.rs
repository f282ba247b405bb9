//! Sweeps of other tuners: T4 results and Kernel Tuner's caches, plain or gzipped; and our folders.

mod cache;
mod t4;
mod text;
mod values;

use super::error::FolderError;
use super::folder::Folder;
use super::record::{Sweep, SweepFacts, Trial};
use crate::objective::Objective;
use greenup_files::FileError;
use serde_json::Value as J;
use std::path::Path;
use values::{Entry, is_energy, rank_of_energy};

/// Largest file, also unpacked, in bytes.
const LIMIT: u64 = 1 << 30;

/// A recorded sweep that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct ImportError {
    /// The file.
    pub path: String,
    /// What is wrong with it.
    pub cause: FormatError,
}

/// What is wrong with a recorded sweep.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The folder of a sweep cannot be read.
    #[error("{0}")]
    Folder(#[from] FolderError),
    /// The file cannot be opened.
    #[error("{0}")]
    File(#[from] FileError),
    /// The file cannot be read or unpacked.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file is too large.
    #[error("is too large: more than {0} bytes")]
    TooLarge(u64),
    /// The unpacked text is too large.
    #[error("is too large: more than {0} bytes unpacked")]
    TooLargeUnpacked(u64),
    /// The text is not UTF-8.
    #[error("is not UTF-8 text: {0}")]
    Utf8(#[from] std::str::Utf8Error),
    /// The text is not JSON.
    #[error("is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The JSON is not a sweep.
    #[error(
        "is not a sweep: use a folder of `greenup tune`, a T4 file (`results`) or a cache of Kernel Tuner (`cache`)"
    )]
    Unknown,
    /// A T4 file without configurations.
    #[error("the file has no results with a configuration")]
    NoResults,
    /// A key is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value of a parameter is missing, or none that a parameter can have.
    #[error("{of}: the value of `{parameter}` is {what}; use a number, a boolean or a string")]
    Parameter {
        /// The trial.
        of: String,
        /// The parameter.
        parameter: String,
        /// What stands there.
        what: &'static str,
    },
    /// A unit is not known.
    #[error("the unit `{unit}` of {what} is not one of {known}")]
    Unit {
        /// Of which quantity.
        what: &'static str,
        /// The unit.
        unit: String,
        /// Those that are read.
        known: &'static str,
    },
    /// There are no trials.
    #[error("the cache is empty")]
    Empty,
}

/// Reads a sweep folder, a T4 file or a cache of Kernel Tuner (`.gz` allowed).
///
/// # Errors
/// The file cannot be read or is none of these.
pub fn read_any(path: &Path) -> Result<Sweep, ImportError> {
    let fail = |cause: FormatError| ImportError {
        path: path.display().to_string(),
        cause,
    };
    if path.is_dir() {
        return Folder::read(path).map_err(|e| fail(e.into()));
    }
    let bytes = greenup_files::read_bytes(path, LIMIT).map_err(|e| match e {
        FileError::Read { cause, .. } => fail(cause.into()),
        FileError::TooLarge { .. } => fail(FormatError::TooLarge(LIMIT)),
        e => fail(e.into()),
    })?;
    let (text, cut) = text::unpacked(bytes, LIMIT).map_err(fail)?;
    let (json, note) = text::parse(&text, cut).map_err(fail)?;
    let stem = path
        .file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| n.split('.').next())
        .unwrap_or("sweep");
    let found = if json.get("results").is_some_and(J::is_array) {
        t4::read(&json, stem)
    } else if json.get("cache").is_some_and(J::is_object) {
        cache::read(&json, stem)
    } else {
        Err(FormatError::Unknown)
    };
    let mut sweep = found.map_err(fail)?;
    let named = |w: String| format!("{}: {w}", path.display());
    sweep.warnings = (note.into_iter().chain(sweep.warnings))
        .map(named)
        .collect();
    Ok(sweep)
}

fn sweep(name: String, device: String, parameters: Vec<String>, trials: Vec<Trial>) -> Sweep {
    Sweep {
        facts: SweepFacts {
            name,
            device,
            parameters,
            ..SweepFacts::default()
        },
        trials,
        ..Sweep::default()
    }
}

/// The trials of a file with their outcomes, and its objective by our name. All energies are of one meter. A flag tells
/// which trials failed already.
fn finish(
    entries: Vec<(Trial, Entry, bool)>,
    objective: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<(Vec<Trial>, Option<String>), FormatError> {
    let mut meters: Vec<String> = Vec::new();
    for (name, ..) in entries.iter().flat_map(|(_, e, _)| &e.numbers) {
        if is_energy(name) && !meters.contains(name) {
            meters.push(name.clone());
        }
    }
    meters.sort_by_key(|n| rank_of_energy(n));
    let energy = meters.first().cloned();
    if let [first, others @ ..] = meters.as_slice()
        && !others.is_empty()
    {
        warnings.push(format!(
            "there are several energies: `{first}` counts as the energy, {} as metrics",
            others.join(", ")
        ));
    }
    let timed = entries.iter().any(|(_, e, fails)| {
        !fails && (!e.runs.is_empty() || e.numbers.iter().any(|(n, ..)| n == "time"))
    });
    let name = objective.filter(|o| o.parse::<Objective>().is_err() && !is_energy(o));
    let mut trials = Vec::with_capacity(entries.len());
    for (mut t, e, fails) in entries {
        let (outcome, metrics) = e.outcome(energy.as_deref(), &|metrics| match (name, timed) {
            (Some(name), _) if metrics.contains_key(name) => true,
            (_, timed) => !timed && !metrics.is_empty(),
        })?;
        t.metrics = metrics;
        if !fails {
            t.outcome = outcome;
        }
        trials.push(t);
    }
    let known = |n: &str| trials.iter().any(|t| t.metrics.contains_key(n));
    let ours = match objective {
        Some(o) if Some(o) == energy.as_deref() => Some("energy".to_owned()),
        Some(o) if known(o) => Some(format!("metric:{o}")),
        Some(o) if o.parse::<Objective>().is_ok() => Some(o.to_owned()),
        Some(o) => {
            warnings.push(format!("its objective `{o}` is not among its numbers"));
            None
        }
        None => None,
    };
    Ok((trials, ours))
}

#[cfg(test)]
mod tests;
