//! A problem's command, without a config.

use super::source::SourceOfAny;
use super::template::{BUILD, Texts, Words};
use super::written::{ExpectText, Goal};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A problem's command: how it is built, run, timed and checked.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// The commands as written: of the build, where there is one, and of the run.
    pub(super) texts: (Option<String>, String),
    /// What may not be meant as it is written.
    pub(super) notes: Vec<String>,
    pub(super) build: Option<Words>,
    /// Seconds after which a build counts as hanging.
    pub(super) build_timeout_s: f64,
    pub(super) run: Words,
    pub(super) environment: BTreeMap<String, Words>,
    pub(super) input: Option<PathBuf>,
    pub(super) time: Option<SourceOfAny>,
    pub(super) metrics: Vec<(String, SourceOfAny, Goal)>,
    pub(super) check: Option<Words>,
    pub(super) expect: Option<ExpectText>,
    pub(super) reference: Option<Words>,
    /// The command that the best configs are compared with.
    pub(super) baseline: Option<Words>,
    pub(super) of: Option<Words>,
    /// Measured runs of a trial at least.
    pub(super) repeats: usize,
}

impl Runnable {
    /// The commands as written, for the facts of a sweep.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let texts = [self.texts.0.as_ref(), Some(&self.texts.1)];
        (FACTS.into_iter().zip(texts)).filter_map(|(name, text)| Some((name, text?.clone())))
    }

    /// What may not be meant as it is written.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether results are checked.
    pub fn verified(&self) -> bool {
        self.check.is_some() || self.expect.is_some()
    }

    /// Measured runs of a trial at least.
    pub fn repeats(&self) -> usize {
        self.repeats
    }

    /// The goal of a metric; `None` without such a metric.
    pub fn goal(&self, metric: &str) -> Option<Goal> {
        (self.metrics.iter()).find_map(|(name, _, goal)| (name == metric).then_some(*goal))
    }

    /// Whether there is a command that the best configs are compared with.
    pub fn has_baseline(&self) -> bool {
        self.baseline.is_some()
    }

    /// Seconds that a build may take; 0 without one.
    pub(crate) fn build_timeout_s(&self) -> f64 {
        self.build.as_ref().map_or(0.0, |_| self.build_timeout_s)
    }

    /// Files of a run that all workers of a host write alike, as their names do not depend on the build: what they are, with
    /// their names.
    pub fn files_of_all(&self) -> Vec<(String, String)> {
        let shared = |words: &Words| words.names().all(|n| n != BUILD);
        let of = |source: &SourceOfAny| {
            let file = source.file.as_ref().filter(|f| shared(f))?;
            Some(file.shown(&Texts::new()))
        };
        let time = self.time.iter().map(|s| ("[run] time".to_owned(), of(s)));
        let metrics =
            (self.metrics.iter()).map(|(name, s, _)| (format!("[run.metrics.{name}]"), of(s)));
        let compared = self.of.iter().map(|words| {
            let file = shared(words).then(|| words.shown(&Texts::new()));
            ("[run.expect] of".to_owned(), file)
        });
        (time.chain(metrics).chain(compared))
            .filter_map(|(what, file)| Some((what, file?)))
            .collect()
    }

    /// Names of the metrics.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|(name, _, _)| name.as_str())
    }

    /// Files of the problem's folder that the commands name.
    pub(crate) fn files(&self, dir: &Path) -> Vec<PathBuf> {
        let all = [
            Some(&self.run),
            self.build.as_ref(),
            self.check.as_ref(),
            self.reference.as_ref(),
            self.baseline.as_ref(),
        ];
        let mut files: Vec<PathBuf> = all
            .into_iter()
            .flatten()
            .flat_map(Words::plain)
            .map(|word| dir.join(word))
            .chain(self.input.iter().map(|f| dir.join(f)))
            .chain(
                self.expect
                    .iter()
                    .filter_map(|e| e.file.as_ref())
                    .map(|f| dir.join(f)),
            )
            .filter(|f| f.is_file())
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Facts of a sweep with the commands as written.
pub(crate) const FACTS: [&str; 2] = ["build command", "run command"];
