//! Builds by a command, each config in a folder of its own, kept for the sweep.

use super::fault;
use super::process::{path_of, seconds};
use super::template::Words;
use crate::error::{BuildError, CompileError, of_environment};
use greenup_process::capture::output;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Lines of a failed build that are shown.
const SHOWN: usize = 3;

/// Folders of builds, each locked while it is made.
static BUILDING: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// Runs the build command of a config if it has not run yet; returns the folder.
///
/// The folder's name is a hash of the words with the config's values, so configs that differ only in what the run takes share it.
pub(super) fn built(
    words: &Words,
    values: &BTreeMap<&str, String>,
    dir: &Path,
    builds: &Path,
    timeout_s: f64,
    cancelled: &dyn Fn() -> bool,
) -> Result<PathBuf, BuildError> {
    let key = greenup_files::Cache::key(words.filled(values).iter().map(String::as_bytes));
    let name = format!("build-{key}");
    let folder = builds.join(&name);
    let done = folder.join(".built");
    // Two configs with the same build may be here at once.
    let one = {
        let mut all = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(folder.clone()).or_default())
    };
    let _building = one.lock().unwrap_or_else(PoisonError::into_inner);
    if done.is_file() {
        return Ok(folder);
    }
    let io = |e: std::io::Error| fault(format!("{} cannot be written: {e}", folder.display()));
    // What an interrupted build left.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(io)?;
    }
    greenup_files::Scratch::folder(builds, &name).map_err(|e| fault(e.to_string()))?;
    let mut values = values.clone();
    values.insert(super::BUILD, folder.display().to_string());
    let all = words.filled(&values);
    let Some((program, args)) = all.split_first() else {
        return Err(CompileError::Rejected("there is no command".into()).into());
    };
    let mut command = std::process::Command::new(path_of(program, dir));
    command.args(args).current_dir(dir);
    let out = output(&mut command, seconds(timeout_s), cancelled)
        .map_err(|e| fault(format!("`{program}` cannot be started: {e}")))?;
    if cancelled() {
        return Err(CompileError::Interrupted.into());
    }
    match out.status {
        None => Err(CompileError::Timeout(timeout_s as u64).into()),
        Some(s) if s.success() => {
            std::fs::write(&done, b"").map_err(io)?;
            Ok(folder)
        }
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

/// The first lines that name errors, else the last of all.
fn brief(said: &str) -> String {
    let errors: Vec<&str> = (said.lines().filter(|l| l.contains("error")))
        .take(SHOWN)
        .collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    let all: Vec<&str> = said.lines().collect();
    all[all.len().saturating_sub(SHOWN)..].join("\n")
}
