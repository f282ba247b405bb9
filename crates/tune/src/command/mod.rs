//! Any command as a tunable program: `[run] command = "./app --tile {tile}"`, with an optional build by another command.
//!
//! | module | what it holds |
//! |---|---|
//! | `written` | the tables as written |
//! | `parse` | from those tables to a command, with what is wrong |
//! | `runnable` | a problem's command, without a config |
//! | `of_config` | a command with the values of a config |
//! | `template` | words with `{name}` in them |
//! | `source` | where a number is in the output of a run |
//! | `fresh` | whether a run wrote its files |
//! | `expected` | the output that is right |
//! | `build` | builds by a command, kept by config |
//! | `shared` | files that another host must have too |
//! | `process` | one run of a command |
//! | `program` | a config's command, as the worker runs it |

pub(crate) mod build;
mod decimal;
pub(crate) mod expected;
mod fresh;
mod of_config;
mod parse;
pub(crate) mod process;
pub(crate) mod program;
mod runnable;
pub(crate) mod shared;
pub(crate) mod source;
pub(crate) mod template;
pub mod written;

pub use build::Building;
pub use of_config::{Command, Expectation};
pub(crate) use runnable::FACTS;
pub use runnable::Runnable;
pub use shared::SharedFile;
pub use source::{Place, Source};
pub use written::Goal;

use crate::build::cubin::Ready;
use crate::error::{BuildError, CompileError};
use crate::objective::Objective;
use crate::problem::{ConfigError, Problem};
use greenup_files::read::read_plain;
use greenup_space::Value;
use source::SourceOfAny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use template::{BUILD, Texts, Words, texts};

/// Where configs are built.
#[derive(Clone, Copy)]
pub(crate) struct Builds<'a> {
    /// Folder of the builds.
    pub(crate) folder: &'a Path,
    /// Workers on other hosts build in folders of their own; these files must be the same there.
    pub(crate) elsewhere: Option<&'a [SharedFile]>,
}

/// Table of the baseline.
const BASELINE: &str = "[baseline]";

impl Runnable {
    /// All that a config's run is made from: the words of its build and run, its variables and its input. `None` where a derived
    /// value does not exist.
    pub fn made_from(&self, p: &Problem, config: &[Value]) -> Option<Vec<String>> {
        let values = p.texts(config).ok()?;
        let words = [self.build.as_ref(), Some(&self.run)];
        let words = words.into_iter().flatten().chain(self.environment.values());
        let input = self.input.iter().map(|f| f.display().to_string());
        Some(words.flat_map(|w| w.filled(&values)).chain(input).collect())
    }

    /// Builds a config in a folder below `builds`, where it stays for the whole sweep, or leaves that to the worker that runs it.
    pub(crate) fn make(
        &self,
        p: &Problem,
        config: &[Value],
        builds: Builds<'_>,
        objective: Objective,
        expectation: Option<Expectation>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ready, BuildError> {
        let values = p.texts(config);
        let mut values = values.map_err(|e| CompileError::Config(ConfigError::from(e)))?;
        let dir = p.absolute_dir();
        let mut building = None;
        if let Some(words) = &self.build {
            let step = Building::new(
                words,
                &values,
                dir.clone(),
                builds.folder,
                self.build_timeout_s,
            );
            values.insert(BUILD.to_owned(), step.folder.display().to_string());
            match builds.elsewhere {
                Some(_) => building = Some(step),
                None => step.made(cancelled)?,
            }
        }
        let mut command = self.command(&values, dir, p.measure.timeout, objective, expectation);
        command.build = building;
        command.files = builds.elsewhere.unwrap_or_default().to_vec();
        Ok(Ready {
            built: crate::worker::protocol::Built::Command(Box::new(command)),
            facts: BTreeMap::new(),
            rejected: None,
        })
    }

    fn command(
        &self,
        values: &Texts,
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
            build: None,
            files: Vec::new(),
            lenient: false,
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
        let usable = |e: Expectation, right: &[u8], what: &str| match e.compared().usable(right) {
            Ok(()) => Ok(Some(e)),
            Err(why) => Err(format!("[run.expect] {what}: {why}")),
        };
        if let Some(file) = &expect.file {
            let path = p.dir.join(file);
            let right = read_plain(&path, process::KEPT as u64).map_err(|e| e.to_string())?;
            let what = format!("file {}", path.display());
            return usable(of_file(path), &right, &what);
        }
        let Some(words) = &self.reference else {
            return Ok(None);
        };
        let reference = self.of_constants(p, words, "[run.expect]", Objective::Time)?;
        let once = process::run(&reference, cancelled).map_err(|e| format!("the reference {e}"))?;
        if once.stdout.len() >= process::KEPT {
            return Err("the output of the [run.expect] command exceeds 64 MiB: compare files, by `file` and `of`, or fewer lines".into());
        }
        let text = into.join("expected.txt");
        std::fs::write(&text, &once.stdout)
            .map_err(|e| format!("{} cannot be written: {e}", text.display()))?;
        usable(of_file(text), &once.stdout, "output of the command")
    }

    /// The command that the best configs are compared with.
    ///
    /// # Errors
    /// It depends on a config.
    pub(crate) fn baseline(
        &self,
        p: &Problem,
        objective: Objective,
    ) -> Result<Option<Command>, String> {
        let Some(words) = &self.baseline else {
            return Ok(None);
        };
        let mut command = self.of_constants(p, words, BASELINE, objective)?;
        // Its results are its own, and so are its other numbers.
        command.check = None;
        let goal = command.goal.as_ref().map(|(name, _)| name.clone());
        (command.metrics).retain(|(name, _)| Some(name) == goal.as_ref());
        command.lenient = true;
        Ok(Some(command))
    }

    /// Words that depend on constants alone, in the surroundings of the run.
    fn of_constants(
        &self,
        p: &Problem,
        words: &Words,
        what: &str,
        objective: Objective,
    ) -> Result<Command, String> {
        let constants = texts(p.space.constants());
        if let Some(name) = words.names().find(|n| !constants.contains_key(*n)) {
            return Err(format!(
                "{what} command names `{name}`, which is no constant"
            ));
        }
        let dir = p.absolute_dir();
        let mut command = self.command(&constants, dir, p.measure.timeout, objective, None);
        command.words = words.filled(&constants);
        // What depends on a config stays as the caller of this process has it.
        let known = |words: &Words| words.names().all(|n| constants.contains_key(n));
        (command.environment).retain(|name, _| self.environment.get(name).is_some_and(known));
        let of_config = |s: &SourceOfAny| s.file.as_ref().is_some_and(|f| !known(f));
        if what == BASELINE && self.time.as_ref().is_some_and(of_config) {
            return Err(
                "[baseline]: [run] time is in a file whose name depends on the config".into(),
            );
        }
        Ok(command)
    }
}

/// The commands of a recorded sweep with values in them, the build's first; none for kernels. `{build}` stays.
pub fn commands(sweep: &crate::Sweep, values: &[(String, String)]) -> Vec<String> {
    let constants = sweep.facts.constants().into_iter();
    let values: Texts = constants.chain(values.iter().cloned()).collect();
    (FACTS.iter().filter_map(|name| sweep.facts.more.get(*name)))
        .filter_map(|text| Some(Words::parse(text).ok()?.shown(&values)))
        .collect()
}
