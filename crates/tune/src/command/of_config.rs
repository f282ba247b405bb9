//! A command with the values of a config.

use super::build::Building;
use super::expected::Compared;
use super::shared::SharedFile;
use super::source::Source;
use super::written::Goal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A command with the values of a config.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Where it runs: the folder of the problem file.
    pub dir: PathBuf,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Where its time is; wall-clock time without it.
    pub time: Option<Source>,
    /// Other numbers, by name.
    pub metrics: Vec<(String, Source)>,
    /// The metric that is the objective.
    pub goal: Option<(String, Goal)>,
    /// A command that checks the results of the run before it.
    pub check: Option<Vec<String>>,
    /// The output that is right.
    pub expectation: Option<Expectation>,
    /// Seconds after which a run counts as hanging.
    pub timeout_s: f64,
    /// Measured runs of a trial at least.
    pub repeats: usize,
    /// Its build, where the worker makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Building>,
    /// Files that must be the same on the worker's host, if it is another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SharedFile>,
    /// A metric may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lenient: bool,
}

impl Command {
    /// The same with another folder of builds in place of `from`.
    pub(crate) fn moved(&mut self, from: &Path, to: &Path) {
        let (from, to) = (from.display().to_string(), to.display().to_string());
        let text = |t: &mut String| *t = t.replace(&from, &to);
        let path = |p: &mut PathBuf| {
            if let Some(t) = p.to_str() {
                *p = t.replace(&from, &to).into();
            }
        };
        let lists = [
            Some(&mut self.words),
            self.check.as_mut(),
            self.build.as_mut().map(|b| &mut b.words),
        ];
        lists.into_iter().flatten().flatten().for_each(text);
        self.environment.values_mut().for_each(text);
        let sources = self
            .time
            .iter_mut()
            .chain(self.metrics.iter_mut().map(|m| &mut m.1));
        sources.filter_map(|s| s.file.as_mut()).for_each(path);
        if let Some(of) = self.expectation.as_mut().and_then(|e| e.of.as_mut()) {
            text(of);
        }
        if let Some(b) = &mut self.build {
            path(&mut b.folder);
        }
    }

    /// Files that are read after a run.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.time.iter().chain(self.metrics.iter().map(|m| &m.1));
        let compared = self.expectation.iter().filter_map(|e| e.of.as_ref());
        (numbers.filter_map(|s| s.file.clone())).chain(compared.map(|f| self.dir.join(f)))
    }
}

/// The output that is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// File with it.
    pub text: PathBuf,
    /// File of a run that is compared; standard output without one.
    pub of: Option<String>,
    /// Regular expression of the lines that are compared; all without one.
    pub lines: Option<String>,
    /// Largest difference of two numbers over the largest number.
    pub tolerance: f64,
}

impl Expectation {
    /// What is compared.
    pub(super) fn compared(&self) -> Compared<'_> {
        Compared {
            lines: self.lines.as_deref(),
            tolerance: self.tolerance,
        }
    }
}
