//! Why a recorded sweep cannot be read.

use crate::sweep::error::FolderError;
use greenup_files::FileError;

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
    /// A folder of something else. Holds the folders in it that hold a sweep.
    #[error("the folder holds no sweep{}", inside(.0))]
    NoSweep(Vec<String>),
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
    #[error(
        "is not valid JSON: {0}; a recorded sweep is a folder of `greenup tune`, a T4 file, a cache of Kernel Tuner, or results of KTT or CLBlast, no CSV and no lines of JSON"
    )]
    Json(#[from] serde_json::Error),
    /// The text is not XML. Holds the reader's message, with the line.
    #[error("is not valid XML: {0}; the XML that is read is that of KTT's results")]
    Xml(String),
    /// XML of something else. Holds the name of its outermost element.
    #[error(
        "is XML of something else: its outermost element is `{0}`, that of KTT's results `TuningData`"
    )]
    NotKtt(String),
    /// The JSON is not a sweep.
    #[error(
        "is not a sweep: use a folder of `greenup tune`, a T4 file (`results`), a cache of Kernel Tuner (`cache`), or results of KTT (`Results`) or CLBlast (`kernel_family`, `sections`)"
    )]
    Unknown,
    /// There is nothing in the file.
    #[error("is empty")]
    EmptyFile,
    /// Several sweeps, of which the words do not choose one.
    #[error("{}; {} one after `#`, as in `FILE#{example}`: {names}", sections(asked, *.found), if asked.is_empty() { "name" } else { "choose" })]
    Sections {
        /// The words.
        asked: String,
        /// Sweeps that have them.
        found: usize,
        /// Sweeps that can be chosen.
        names: String,
        /// Words that choose one.
        example: String,
    },
    /// Words for a file with one sweep.
    #[error("the file holds one sweep: leave `#{0}` out")]
    OneSweep(String),
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
    /// Values of one metric are in units that cannot be converted into each other.
    #[error("`{metric}` is in {} and in {}, which cannot be converted into each other", named(&.units[0]), named(&.units[1]))]
    MixedUnits {
        /// The metric.
        metric: String,
        /// Two of its units.
        units: [String; 2],
    },
    /// There are no names of parameters.
    #[error("it names no parameters: `tune_params_keys` and `tune_params` are empty")]
    NoParameters,
    /// There are no trials.
    #[error("the cache is empty")]
    Empty,
}

/// Some sweeps in a folder, in words.
fn inside(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0 => String::new(),
        n if n > SHOWN => format!("; sweeps in it: {shown} and {} more", n - SHOWN),
        _ => format!("; sweeps in it: {shown}"),
    }
}

/// A unit in a message.
pub(super) fn named(unit: &str) -> String {
    match unit {
        "" => "no unit".to_owned(),
        unit => format!("`{unit}`"),
    }
}

/// How many sweeps have the words.
fn sections(asked: &str, found: usize) -> String {
    match (asked, found) {
        ("", n) => format!("holds {n} sweeps"),
        (words, 0) => format!("no sweep of it has `{words}`"),
        (words, n) => format!("{n} sweeps have `{words}`"),
    }
}
