//! Errors of sweep folders.

use greenup_files::FileError;
use greenup_space::Value;
use std::path::PathBuf;

/// A sweep folder that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of a file is invalid.
    #[error("{}: line {line}: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
    /// A trial holds what cannot be, and is not recorded.
    #[error("{}: a trial is not recorded: {cause}", path.display())]
    Implausible {
        /// The file.
        path: PathBuf,
        /// What is wrong with the trial.
        cause: Implausible,
    },
    /// A table cannot be written.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// The writer's error.
        source: csv::Error,
    },
    /// A sweep cannot be written as JSON.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The writer's error.
        source: serde_json::Error,
    },
    /// The folder holds a sweep already.
    #[error("{} holds a sweep already", .0.display())]
    Exists(PathBuf),
    /// Trials without the facts that say what they are trials of.
    #[error("{} holds trials.jsonl, but no sweep.json that says what the trials are of", .0.display())]
    NoFacts(PathBuf),
    /// A file with the name of one of a sweep's, in a folder without a sweep.
    #[error("{} exists and is not of a sweep: it would be replaced", .0.display())]
    NotOfSweep(PathBuf),
    /// The folder holds the sweep of another problem.
    #[error("{} holds the sweep of another problem: {difference}", path.display())]
    Other {
        /// The folder.
        path: PathBuf,
        /// What differs.
        difference: Difference,
    },
}

/// Why a sweep cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// It is a sweep of another problem.
    #[error("it is of `{old}`, not `{new}`")]
    Problem {
        /// Name of the recorded problem.
        old: String,
        /// Name of the other.
        new: String,
    },
    /// The parameters or their order differ.
    #[error("its parameters are {}, not {}", old.join(", "), new.join(", "))]
    Parameters {
        /// Parameters of the sweep.
        old: Vec<String>,
        /// Parameters of the problem.
        new: Vec<String>,
    },
    /// Parts of the experiment changed; one description each.
    #[error("{}", listed(.0))]
    Parts(Vec<String>),
}

/// The first descriptions, and the number of the others.
fn listed(differences: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut out = differences[..differences.len().min(SHOWN)].join("; ");
    if differences.len() > SHOWN {
        out.push_str(&format!("; and {} more", differences.len() - SHOWN));
    }
    out
}

/// What is wrong with a trial.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Implausible {
    /// There is no time at all.
    #[error("it was measured, but has no times")]
    NoTimes,
    /// A time is not finite, not positive, or out of all that can be measured.
    #[error("a run of {0:?} s is not possible")]
    Time(f64),
    /// The time of the trial is not between those of its runs.
    #[error("its time of {time_s:?} s is not between those of its runs, {lo:?} s and {hi:?} s")]
    Outside {
        /// The trial's, s.
        time_s: f64,
        /// Least of the runs, s.
        lo: f64,
        /// Most of the runs, s.
        hi: f64,
    },
    /// An energy is not finite or not positive.
    #[error("an energy of {0:?} J is not possible")]
    Energy(f64),
    /// Another number is out of its range.
    #[error("`{name}` is {value}")]
    Number {
        /// Its key.
        name: &'static str,
        /// The number.
        value: f64,
    },
    /// The config has another number of values than the sweep has parameters.
    #[error("its config has {has} values, not {parameters}")]
    Length {
        /// Values of the config.
        has: usize,
        /// Parameters of the sweep.
        parameters: usize,
    },
    /// A value of the config is not a number that can be compared.
    #[error("its config holds {0}")]
    Value(Value),
    /// There are not as many series of final rounds as configs.
    #[error("it has {series} series of times for {configs} configs")]
    Series {
        /// Series of times.
        series: usize,
        /// Configs, the baseline with them.
        configs: usize,
    },
}
