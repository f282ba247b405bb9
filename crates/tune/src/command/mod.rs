//! Any command as a tunable program: `[run] command = "./app --tile {tile}"`, with an optional build by another command.
//!
//! | module | what it holds |
//! |---|---|
//! | `written` | the tables as written |
//! | `parse` | from those tables to a command, with what is wrong |
//! | `template` | words with `{name}` in them |
//! | `source` | where a number is in the output of a run |
//! | `fresh` | whether a run wrote its files |
//! | `expected` | the output that is right |
//! | `build` | builds by a command, kept by config |
//! | `process` | one run of a command |
//! | `program` | a config's command, as the worker runs it |

mod build;
pub(crate) mod expected;
mod fresh;
mod parse;
pub(crate) mod process;
pub(crate) mod program;
mod source;
pub(crate) mod template;
pub mod written;

pub use program::OBJECTIVE;
pub use program::{Command, Expectation};
pub use source::{Place, Source};
pub use written::Goal;

use crate::build::cubin::Ready;
use crate::error::{BuildError, CompileError, EnvironmentFault};
use crate::objective::Objective;
use crate::problem::{ConfigError, Problem};
use greenup_space::Value;
use source::SourceOfAny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use template::Words;

/// A problem's command: how it is built, run, timed and checked.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// The commands as written: of the build, where there is one, and of the run.
    texts: (Option<String>, String),
    build: Option<Words>,
    /// Seconds after which a build counts as hanging.
    build_timeout_s: f64,
    run: Words,
    environment: BTreeMap<String, Words>,
    input: Option<PathBuf>,
    time: Option<SourceOfAny>,
    metrics: Vec<(String, SourceOfAny, Goal)>,
    check: Option<Words>,
    expect: Option<written::ExpectText>,
    reference: Option<Words>,
    /// The command that the best configs are compared with.
    baseline: Option<Words>,
    of: Option<Words>,
    /// Measured runs of a trial at least.
    repeats: usize,
}

/// Placeholder of the folder into which a config is built.
const BUILD: &str = "build";

impl Runnable {
    /// The commands as written, for the facts of a sweep.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let texts = [self.texts.0.as_ref(), Some(&self.texts.1)];
        (FACTS.into_iter().zip(texts)).filter_map(|(name, text)| Some((name, text?.clone())))
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

    /// Builds a config in a folder below `builds`, where it stays for the whole sweep.
    pub(crate) fn make(
        &self,
        p: &Problem,
        config: &[Value],
        builds: &Path,
        objective: Objective,
        expectation: Option<Expectation>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ready, BuildError> {
        let values = p
            .values(config)
            .map_err(|e| CompileError::Config(ConfigError::from(e)))?;
        let mut values: BTreeMap<&str, String> = values
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_string()))
            .collect();
        let dir = std::path::absolute(&p.dir).unwrap_or_else(|_| p.dir.clone());
        if let Some(words) = &self.build {
            let folder = build::built(
                words,
                &values,
                &dir,
                builds,
                self.build_timeout_s,
                cancelled,
            )?;
            values.insert(BUILD, folder.display().to_string());
        }
        let command = self.command(&values, dir, p.measure.timeout, objective, expectation);
        Ok(Ready {
            built: crate::worker::protocol::Built::Command(Box::new(command)),
            facts: BTreeMap::new(),
            rejected: None,
        })
    }

    fn command(
        &self,
        values: &BTreeMap<&str, String>,
        dir: PathBuf,
        timeout_s: f64,
        objective: Objective,
        expectation: Option<Expectation>,
    ) -> Command {
        let goal = match objective {
            Objective::Metric(name) => self.goal(name).map(|goal| (name.to_owned(), goal)),
            _ => None,
        };
        let expectation = expectation.map(|e| Expectation {
            of: self.of.as_ref().map(|w| w.filled(values).join(" ")),
            ..e
        });
        Command {
            words: self.run.filled(values),
            input: self.input.as_ref().map(|f| dir.join(f)),
            environment: (self.environment.iter())
                .map(|(name, words)| (name.clone(), words.filled(values).join(" ")))
                .collect(),
            time: self.time.as_ref().map(|s| s.filled(values, &dir)),
            metrics: (self.metrics.iter())
                .map(|(name, s, _)| (name.clone(), s.filled(values, &dir)))
                .collect(),
            goal,
            check: self.check.as_ref().map(|w| w.filled(values)),
            expectation,
            timeout_s,
            repeats: self.repeats,
            dir,
        }
    }

    /// The output that is right: read from its file, or printed by the reference command, which runs once here.
    ///
    /// # Errors
    /// The command fails, or the file cannot be read.
    pub(crate) fn expectation(
        &self,
        p: &Problem,
        into: &Path,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Expectation>, String> {
        let Some(expect) = &self.expect else {
            return Ok(None);
        };
        let of_file = |text| Expectation {
            text,
            of: None,
            lines: expect.lines.clone(),
            tolerance: expect.tolerance,
        };
        if let Some(file) = &expect.file {
            return Ok(Some(of_file(p.dir.join(file))));
        }
        let Some(words) = &self.reference else {
            return Ok(None);
        };
        let reference = self.of_constants(p, words, "reference")?;
        let once = process::run(&reference, cancelled).map_err(|e| format!("the reference {e}"))?;
        let text = into.join("expected.txt");
        std::fs::write(&text, &once.stdout)
            .map_err(|e| format!("{} cannot be written: {e}", text.display()))?;
        Ok(Some(of_file(text)))
    }

    /// The command that the best configs are compared with; it runs once here, so that a wrong one is found before the
    /// search.
    ///
    /// # Errors
    /// It fails, or its time is missing.
    pub(crate) fn baseline(
        &self,
        p: &Problem,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Command>, String> {
        let Some(words) = &self.baseline else {
            return Ok(None);
        };
        let mut command = self.of_constants(p, words, "baseline")?;
        // Its results are its own, and so are its other numbers.
        command.check = None;
        command.metrics.clear();
        let ran = program::Program::new(command.clone()).run_until(cancelled);
        ran.map_err(|(_, why)| format!("the baseline failed: {why}"))?;
        Ok(Some(command))
    }

    /// Words that depend on constants alone, in the surroundings of the run.
    fn of_constants(&self, p: &Problem, words: &Words, what: &str) -> Result<Command, String> {
        let constants: BTreeMap<&str, String> = (p.space.constants().iter())
            .map(|(name, value)| (name.as_str(), value.to_string()))
            .collect();
        if let Some(name) = words.names().find(|n| !constants.contains_key(n)) {
            return Err(format!(
                "the {what} command names `{name}`, which is no constant"
            ));
        }
        let dir = std::path::absolute(&p.dir).unwrap_or_else(|_| p.dir.clone());
        let mut command = self.command(&constants, dir, p.measure.timeout, Objective::Time, None);
        command.words = words.filled(&constants);
        // What depends on a config stays as the caller of this process has it.
        let known = |words: &Words| words.names().all(|n| constants.contains_key(n));
        (command.environment).retain(|name, _| self.environment.get(name).is_some_and(known));
        let of_config = |s: &SourceOfAny| s.file.as_ref().is_some_and(|f| !known(f));
        if what == "baseline" && self.time.as_ref().is_some_and(of_config) {
            return Err("the baseline's time is in a file whose name depends on the config".into());
        }
        Ok(command)
    }
}

/// Facts of a sweep with the commands as written.
pub(crate) const FACTS: [&str; 2] = ["build command", "run command"];

/// The commands of a recorded sweep with values in them, the build's first; none for kernels. `{build}` stays.
pub fn commands(sweep: &crate::Sweep, values: &[(String, String)]) -> Vec<String> {
    let constants = sweep.facts.more.get("constants").map_or("", String::as_str);
    let values: BTreeMap<&str, String> = constants
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name, value.to_owned()))
        .chain(values.iter().map(|(n, v)| (n.as_str(), v.clone())))
        .collect();
    (FACTS.iter().filter_map(|name| sweep.facts.more.get(*name)))
        .filter_map(|text| Some(Words::parse(text).ok()?.shown(&values)))
        .collect()
}

/// A fault of the environment with a message.
fn fault(message: String) -> BuildError {
    BuildError::Environment(EnvironmentFault(message))
}
