//! Builds by a command, each config in a folder of its own, kept for the sweep.

use super::template::{BUILD, Texts, Words, path_of};
use crate::error::{BuildError, CompileError, EnvironmentFault, brief, of_environment};
use greenup_files::Scratch;
use greenup_process::capture::output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Folders of builds, each locked while it is made.
static BUILDING: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// The build of a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Building {
    /// Program and arguments.
    pub(crate) words: Vec<String>,
    /// The folder of the problem file, where it runs.
    pub(crate) dir: PathBuf,
    /// The folder that it writes into.
    pub(crate) folder: PathBuf,
    /// Seconds after which it counts as hanging.
    pub(crate) timeout_s: f64,
}

impl Building {
    /// Into a folder below `builds`, whose name is a hash of the words with the config's values: configs that differ only in what
    /// the run takes share it.
    pub(super) fn new(
        words: &Words,
        values: &Texts,
        dir: PathBuf,
        builds: &Path,
        timeout_s: f64,
    ) -> Self {
        let key = greenup_files::Cache::key(words.filled(values).iter().map(String::as_bytes));
        let folder = builds.join(format!("build-{key}"));
        let mut values = values.clone();
        values.insert(BUILD.to_owned(), folder.display().to_string());
        Self {
            words: words.filled(&values),
            dir,
            folder,
            timeout_s,
        }
    }

    /// Runs it, if it has not run yet.
    ///
    /// # Errors
    /// It fails, hangs or writes nothing, or a fault of the environment.
    pub(crate) fn made(&self, cancelled: &dyn Fn() -> bool) -> Result<(), BuildError> {
        let folder = &self.folder;
        let (Some(builds), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(fault(format!(
                "{} is no folder for a build",
                folder.display()
            )));
        };
        let (name, done) = (name.to_string_lossy(), folder.with_extension("built"));
        // Two configs with the same build may be here at once.
        let one = {
            let mut all = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(folder.clone()).or_default())
        };
        let _building = one.lock().unwrap_or_else(PoisonError::into_inner);
        if done.is_file() {
            return Ok(());
        }
        let io = |e: std::io::Error| fault(format!("{} cannot be written: {e}", folder.display()));
        // What an interrupted build left.
        if folder.exists() {
            std::fs::remove_dir_all(folder).map_err(io)?;
        }
        // Marked, so that it is removed at the end; again after a build that replaced it.
        let marked = || Scratch::folder(builds, &name).map_err(|e| fault(e.to_string()));
        marked()?;
        self.run(cancelled)?;
        marked()?;
        if std::fs::read_dir(folder).map_err(io)?.count() < 2 {
            let why = "[build] command ended with code 0 and wrote nothing into {build}: its results must go there, as in `-o {build}/app`";
            return Err(CompileError::Rejected(why.into()).into());
        }
        std::fs::write(&done, b"").map_err(io)
    }

    fn run(&self, cancelled: &dyn Fn() -> bool) -> Result<(), BuildError> {
        let Some((program, args)) = self.words.split_first() else {
            return Err(CompileError::Rejected("there is no command".into()).into());
        };
        let mut command = std::process::Command::new(path_of(program, &self.dir));
        command.args(args).current_dir(&self.dir);
        let out = output(&mut command, seconds(self.timeout_s), cancelled)
            .map_err(|e| fault(format!("`{program}` cannot be started: {e}")))?;
        if cancelled() {
            return Err(CompileError::Interrupted.into());
        }
        match out.status {
            None => Err(CompileError::Timeout(self.timeout_s as u64).into()),
            Some(s) if s.success() => Ok(()),
            Some(s) => {
                let said = if out.stderr.trim().is_empty() {
                    out.stdout
                } else {
                    out.stderr
                };
                let brief = brief(&said);
                if of_environment(&said) {
                    return Err(fault(format!("the build failed: {brief}")));
                }
                let how = s.to_string();
                Err(CompileError::Rejected(format!("{how}: {brief}")).into())
            }
        }
    }
}

/// A fault of the environment with a message.
pub(super) fn fault(message: String) -> BuildError {
    BuildError::Environment(EnvironmentFault(message))
}

/// Seconds that a problem may state at most: three years.
const MOST_SECONDS: f64 = 1e8;

/// A time limit.
pub(super) fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s.clamp(0.0, MOST_SECONDS))
}
