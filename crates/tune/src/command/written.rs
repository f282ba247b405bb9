//! The tables of a command as written in a problem file.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The command that is tuned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunText {
    /// The command; `{name}` stands for a value of the config. No shell reads it.
    pub(crate) command: String,
    /// Where its time is; wall-clock time when not given.
    pub(crate) time: Option<SourceText>,
    /// Other numbers.
    #[serde(default)]
    pub(crate) metrics: BTreeMap<String, MetricText>,
    /// A command that ends with code 0 if the results of the run before it are right.
    pub(crate) check: Option<String>,
    /// The output that is right.
    pub(crate) expect: Option<ExpectText>,
    /// Measured runs of a trial at least.
    #[serde(default = "repeats")]
    pub(crate) repeats: usize,
    /// Variables of its environment.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// File that it reads as its standard input; it may name constants.
    pub(crate) input: Option<String>,
}

impl RunText {
    /// Texts that a config's values stand in for a run.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let environment = self.environment.values().map(String::as_str);
        environment.chain([self.command.as_str()])
    }
}

fn repeats() -> usize {
    3
}

/// Where a number is: one of `regex`, `json` and `file`; the last with or without one of the others.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceText {
    /// A regular expression whose first group is the number; the last match counts.
    pub(crate) regex: Option<String>,
    /// Path of the number in a JSON text, as `timings.solve` or `rows[0].time`.
    pub(crate) json: Option<String>,
    /// File that the run writes; standard output when not given.
    pub(crate) file: Option<String>,
    /// Unit of a time: s, ms, us, ns or min.
    pub(crate) unit: Option<String>,
}

/// A number other than the time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricText {
    pub(crate) regex: Option<String>,
    pub(crate) json: Option<String>,
    pub(crate) file: Option<String>,
    /// What is better where it is the objective.
    #[serde(default)]
    pub(crate) goal: Goal,
}

impl MetricText {
    pub(crate) fn source(&self) -> SourceText {
        SourceText {
            regex: self.regex.clone(),
            json: self.json.clone(),
            file: self.file.clone(),
            unit: None,
        }
    }
}

/// What is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Less.
    #[default]
    Minimize,
    /// More.
    Maximize,
}

impl Goal {
    /// A value of the metric as one to minimise, and back: the reciprocal where more is better.
    pub fn turned(self, x: f64) -> f64 {
        match self {
            Self::Minimize => x,
            Self::Maximize => 1.0 / x,
        }
    }
}

/// The output that is right.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectText {
    /// A command that prints it.
    pub(crate) command: Option<String>,
    /// A file that holds it; it may name constants.
    pub(crate) file: Option<String>,
    /// File that the run writes and that is compared; standard output when not given.
    pub(crate) of: Option<String>,
    /// Regular expression: only lines with a match are compared. Without it all of them.
    pub(crate) lines: Option<String>,
    /// Largest difference of two numbers over the largest number.
    #[serde(default)]
    pub(crate) tolerance: f64,
}

impl ExpectText {
    /// With the file that its name and the constants give.
    ///
    /// # Errors
    /// As `file`.
    pub(crate) fn of_file<E>(self, file: impl Fn(&str) -> Result<PathBuf, E>) -> Result<Self, E> {
        let named = self.file.as_deref().map(file).transpose()?;
        Ok(Self {
            file: named.map(|path| path.to_string_lossy().into_owned()),
            ..self
        })
    }
}
