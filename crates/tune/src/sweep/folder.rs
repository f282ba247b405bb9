//! A sweep on disk: `sweep.json`, and `trials.jsonl` with one line a trial, each safe on the disk
//! before the next begins.

use super::record::{Counted, Sweep, SweepFacts, Trial};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A sweep folder that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{path}: {cause}")]
    Io {
        path: PathBuf,
        cause: std::io::Error,
    },
    #[error("{path}, line {line}: {cause}")]
    Broken {
        path: PathBuf,
        line: usize,
        cause: String,
    },
    #[error("{path} holds the sweep of another problem: {difference}")]
    Other { path: PathBuf, difference: String },
}

/// An open sweep folder.
pub struct Folder {
    trials: File,
    path: PathBuf,
    /// Length of what is complete.
    end: u64,
}

/// `sweep.json`.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    #[serde(flatten)]
    facts: SweepFacts,
}

const FORMAT: &str = "greenup-sweep/1";

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> FolderError + '_ {
    |cause| FolderError::Io {
        path: path.to_owned(),
        cause,
    }
}

impl Folder {
    pub fn exists(dir: &Path) -> bool {
        dir.join("sweep.json").exists()
    }

    /// Starts a sweep.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(dir: &Path, facts: &SweepFacts) -> Result<Self, FolderError> {
        fs::create_dir_all(dir).map_err(io(dir))?;
        let path = dir.join("trials.jsonl");
        let trials = File::create(&path).map_err(io(&path))?;
        let head = dir.join("sweep.json");
        let text = serde_json::to_string_pretty(&Head {
            format: FORMAT.into(),
            facts: facts.clone(),
        })
        .unwrap_or_default();
        // The head comes last and whole: a folder with a head is a sweep.
        let temporary = dir.join("sweep.json.new");
        let mut f = File::create(&temporary).map_err(io(&temporary))?;
        f.write_all(text.as_bytes())
            .and_then(|()| f.sync_all())
            .and_then(|()| fs::rename(&temporary, &head))
            .and_then(|()| File::open(dir)?.sync_all())
            .map_err(io(&head))?;
        Ok(Self {
            trials,
            path,
            end: 0,
        })
    }

    /// Opens a sweep to go on with it; returns the trials that are complete. A last line cut short
    /// by a crash is dropped.
    ///
    /// # Errors
    /// It cannot be read, or belongs to another problem.
    pub fn resume(dir: &Path, facts: &SweepFacts) -> Result<(Self, Vec<Trial>), FolderError> {
        let sweep = Self::read(dir)?;
        let other = |difference: String| FolderError::Other {
            path: dir.to_owned(),
            difference,
        };
        let old = &sweep.facts;
        if old.name != facts.name {
            return Err(other(format!(
                "it is of `{}`, not `{}`",
                old.name, facts.name
            )));
        }
        if old.parameters != facts.parameters {
            return Err(other(format!(
                "its parameters are {}, not {}",
                old.parameters.join(", "),
                facts.parameters.join(", ")
            )));
        }
        for (key, new) in &facts.more {
            if SAME.contains(&key.as_str())
                && let Some(was) = old.more.get(key).filter(|was| *was != new)
            {
                return Err(other(format!("its {key} was `{was}`, now `{new}`")));
            }
        }
        let path = dir.join("trials.jsonl");
        let mut trials = OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(io(&path))?;
        let text = fs::read(&path).map_err(io(&path))?;
        let end = text.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1) as u64;
        trials
            .set_len(end)
            .and_then(|()| trials.seek(SeekFrom::Start(end)))
            .map_err(io(&path))?;
        Ok((Self { trials, path, end }, sweep.trials))
    }

    /// Adds a trial; it is on the disk when this returns. After an error the file ends where it
    /// ended before.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn append(&mut self, trial: &Trial) -> Result<(), FolderError> {
        let mut line = serde_json::to_vec(trial).unwrap_or_default();
        line.push(b'\n');
        let written = self
            .trials
            .write_all(&line)
            .and_then(|()| self.trials.sync_data());
        if let Err(e) = written {
            // Half a line would be dropped at the next start anyway.
            let _ = self.trials.set_len(self.end);
            let _ = self.trials.seek(SeekFrom::Start(self.end));
            return Err(io(&self.path)(e));
        }
        self.end += line.len() as u64;
        Ok(())
    }

    /// Reads a sweep.
    ///
    /// # Errors
    /// It cannot be read, or a line other than the last is broken.
    pub fn read(dir: &Path) -> Result<Sweep, FolderError> {
        let path = dir.join("sweep.json");
        let text = fs::read_to_string(&path).map_err(io(&path))?;
        let head: Head = serde_json::from_str(&text).map_err(|e| FolderError::Broken {
            path: path.clone(),
            line: e.line(),
            cause: e.to_string(),
        })?;
        let path = dir.join("trials.jsonl");
        let bytes = fs::read(&path).map_err(io(&path))?;
        let mut trials = Vec::new();
        let complete = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        for (i, line) in bytes[..complete].split(|b| *b == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let broken = |cause: String| FolderError::Broken {
                path: path.clone(),
                line: i + 1,
                cause,
            };
            let trial: Trial = serde_json::from_slice(line).map_err(|e| broken(e.to_string()))?;
            if trial.config.len() != head.facts.parameters.len() {
                return Err(broken("it has another number of parameters".into()));
            }
            trials.push(trial);
        }
        let path = dir.join(COUNTERS);
        if path.exists() {
            let text = fs::read_to_string(&path).map_err(io(&path))?;
            join(&text, &mut trials).map_err(|(line, cause)| FolderError::Broken {
                path,
                line,
                cause,
            })?;
        }
        Ok(Sweep {
            facts: head.facts,
            trials,
        })
    }

    /// Adds a config's counters; a later line takes the place of an earlier one.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn append_counters(dir: &Path, counted: &Counted) -> Result<(), FolderError> {
        let path = dir.join(COUNTERS);
        let mut line = serde_json::to_vec(counted).unwrap_or_default();
        line.push(b'\n');
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut f| f.write_all(&line).and_then(|()| f.sync_data()))
            .map_err(io(&path))
    }
}

/// Name of the file of counters in a sweep's folder.
const COUNTERS: &str = "counters.jsonl";

/// Joins counters with the trials of the same config.
fn join(text: &str, trials: &mut [Trial]) -> Result<(), (usize, String)> {
    for (i, line) in text.lines().enumerate() {
        let c: Counted = serde_json::from_str(line).map_err(|e| (i + 1, e.to_string()))?;
        for t in trials.iter_mut().filter(|t| t.config == c.config) {
            t.metrics.extend(c.counters.clone());
            t.kernels = c.kernels.clone();
        }
    }
    Ok(())
}

/// Facts that must not change while a sweep is continued.
const SAME: [&str; 4] = ["constants", "sources", "seed of data", "compiler"];
