//! A sweep on disk: `sweep.json`, and `trials.jsonl` with one line a trial, each safe on the disk
//! before the next begins. A recorded sweep may hold `trials.jsonl.gz`, whose lines come before those of `trials.jsonl`;
//! so may its counters.

mod head;
mod read;

pub(crate) use read::drop_stopped;

use super::default::DefaultConfig;
use super::disturbance::Disturbance;
use super::error::FolderError;
use super::fingerprint;
use super::import::file_and_section;
use super::names::{COUNTERS, FILES, HEAD, PACKED_TRIALS, TRIALS};
use super::record::{BaselineFacts, Counted, Sweep, SweepFacts, Trial};
use super::replaced::Replaced;
use greenup_files::{FileError, FolderLock, Log, Scratch};
use head::{read_facts, write_facts};
use std::path::{Path, PathBuf};

/// An open sweep folder, which no other process writes to.
pub struct Folder {
    trials: Log,
    dir: PathBuf,
    /// The sweep that this one replaces, until it has a measured trial.
    replaced: Option<Replaced>,
    _lock: FolderLock,
}

impl Folder {
    /// The folder or the file of a sweep and all files that a folder may have, for checks that no output replaces them.
    pub fn inputs(path: &Path) -> impl Iterator<Item = PathBuf> {
        let (path, _) = file_and_section(path);
        let files = std::iter::once(HEAD).chain(FILES);
        let files: Vec<PathBuf> = files.map(|name| path.join(name)).collect();
        std::iter::once(path).chain(files)
    }

    /// Whether the folder holds a sweep.
    pub fn exists(dir: &Path) -> bool {
        dir.join(HEAD).exists()
    }

    /// Whether the folder holds a sweep that must not be lost: one with a measured trial, or one that cannot be read.
    pub fn has_successes(dir: &Path) -> bool {
        Self::exists(dir) && Self::read(dir).map_or(true, |s| s.measured().next().is_some())
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Locks a folder and removes what killed processes left of their temporary files.
    fn lock(dir: &Path) -> Result<FolderLock, FolderError> {
        let lock = FolderLock::acquire(dir)?;
        Scratch::remove_stale(dir);
        // A process was killed before its new sweep had a measured trial, or while it deleted the replaced one.
        if let Some(left) = Replaced::left(dir) {
            if Self::exists(dir) && Self::has_successes(dir) {
                left.delete();
            } else {
                left.restore()?;
            }
        }
        if !Self::exists(dir) && std::fs::metadata(dir.join(TRIALS)).is_ok_and(|m| m.len() > 0) {
            return Err(FolderError::NoFacts(dir.to_owned()));
        }
        if !Self::exists(dir) {
            // Files of these names are a user's where there is no sweep.
            let others = FILES.iter().filter(|f| **f != TRIALS).map(|f| dir.join(f));
            if let Some(file) = others.into_iter().find(|f| f.symlink_metadata().is_ok()) {
                return Err(FolderError::NotOfSweep(file));
            }
        }
        Ok(lock)
    }

    /// Starts a sweep, in place of one of which no trial succeeded.
    ///
    /// # Errors
    /// The folder cannot be written, is in use, holds a sweep, or files of others with the names of a sweep's.
    pub fn create(dir: &Path, facts: &SweepFacts) -> Result<Self, FolderError> {
        Self::start(dir, facts, false)
    }

    /// The same in place of any sweep, which is deleted once the new one has a measured trial and comes back if it gets none.
    ///
    /// # Errors
    /// As [`Folder::create`], but for a sweep that the folder holds; one whose `sweep.json` cannot be read is not replaced.
    pub fn replace(dir: &Path, facts: &SweepFacts) -> Result<Self, FolderError> {
        Self::start(dir, facts, true)
    }

    fn start(dir: &Path, facts: &SweepFacts, replace: bool) -> Result<Self, FolderError> {
        let lock = Self::lock(dir)?;
        let mut replaced = None;
        if Self::has_successes(dir) {
            if !replace {
                return Err(FolderError::Exists(dir.to_owned()));
            }
            // What no one can read may be anything.
            read_facts(dir)?;
            replaced = Some(Replaced::of(dir)?);
        }
        if Self::exists(dir) {
            for file in FILES.iter().chain([&HEAD]).map(|f| dir.join(f)) {
                match std::fs::remove_file(&file) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(FileError::write(&file)(e).into());
                    }
                    _ => {}
                }
            }
        }
        let trials = Log::open(dir.join(TRIALS))?;
        write_facts(dir, facts)?;
        Ok(Self {
            trials,
            dir: dir.to_owned(),
            replaced,
            _lock: lock,
        })
    }

    /// Opens a sweep to go on with it; returns the trials that are complete, and what was skipped. A last line cut
    /// short by a crash is dropped. `accepted` names parts of the fingerprint that may differ.
    ///
    /// # Errors
    /// It cannot be read, is in use, or belongs to another experiment.
    pub fn resume(
        dir: &Path,
        facts: &SweepFacts,
        accepted: &[String],
    ) -> Result<(Self, Sweep), FolderError> {
        let lock = Self::lock(dir)?;
        let mut sweep = Self::read(dir)?;
        fingerprint::same(&sweep.facts, facts, accepted).map_err(|difference| {
            FolderError::Other {
                path: dir.to_owned(),
                difference,
            }
        })?;
        let energy = facts.energy.map(|now| sweep.energies().with(now));
        if energy != sweep.facts.energy {
            sweep.facts.energy = energy;
            write_facts(dir, &sweep.facts)?;
        }
        if sweep.facts.fingerprint != facts.fingerprint {
            // From now on it is the new experiment, which the user said is the same.
            sweep.facts.fingerprint.clone_from(&facts.fingerprint);
            if !accepted.is_empty() {
                let words = accepted.join(" ");
                sweep.facts.more.insert("accepted changes".into(), words);
            }
            write_facts(dir, &sweep.facts)?;
        }
        let trials = Log::open(dir.join(TRIALS))?;
        Ok((
            Self {
                trials,
                dir: dir.to_owned(),
                replaced: None,
                _lock: lock,
            },
            sweep,
        ))
    }

    /// Writes a whole sweep into a folder that holds none. `sweep.json` comes last.
    ///
    /// # Errors
    /// The folder cannot be written, is in use, or holds a sweep.
    pub fn write_new(dir: &Path, sweep: &Sweep) -> Result<(), FolderError> {
        let _lock = Self::lock(dir)?;
        if Self::exists(dir) {
            return Err(FolderError::Exists(dir.to_owned()));
        }
        let mut lines = Vec::new();
        for trial in &sweep.trials {
            checked(dir, trial, sweep.facts.parameters.len())?;
            lines.extend(serde_json::to_vec(trial).unwrap_or_default());
            lines.push(b'\n');
        }
        greenup_files::write(dir.join(TRIALS), lines)?;
        write_facts(dir, &sweep.facts)
    }

    /// Records how much the workers disturb each other.
    ///
    /// # Errors
    /// `sweep.json` cannot be read or written.
    pub fn set_disturbance(&self, found: &Disturbance) -> Result<(), FolderError> {
        self.change(|facts| facts.disturbance = Some(found.clone()))
    }

    /// Records the baseline.
    ///
    /// # Errors
    /// `sweep.json` cannot be read or written.
    pub fn set_baseline(&self, found: &BaselineFacts) -> Result<(), FolderError> {
        self.change(|facts| facts.baseline = Some(found.clone()))
    }

    /// Records the config with which the best one is compared.
    ///
    /// # Errors
    /// `sweep.json` cannot be read or written.
    pub fn set_default(&self, found: Option<&DefaultConfig>) -> Result<(), FolderError> {
        self.change(|facts| facts.default = found.cloned())
    }

    fn change(&self, change: impl FnOnce(&mut SweepFacts)) -> Result<(), FolderError> {
        let mut facts = read_facts(&self.dir)?;
        change(&mut facts);
        write_facts(&self.dir, &facts)
    }

    /// Removes a new sweep without trials, so that the search can be started again once its problem is corrected.
    pub fn discard(self) {
        let trials = self.dir.join(TRIALS);
        let packed = self.dir.join(PACKED_TRIALS).exists();
        if !packed && std::fs::metadata(&trials).is_ok_and(|m| m.len() == 0) {
            // What stays is refused by the next search with its fix.
            let _ = std::fs::remove_file(self.dir.join(HEAD));
            let _ = std::fs::remove_file(trials);
        }
    }

    /// Adds a trial, which outlives this process; the disk has it within a fifth of a second, or with the next one. After
    /// an error the file ends where it ended before.
    ///
    /// # Errors
    /// The disk is full or gone, or the trial holds numbers that cannot be.
    pub fn append(&mut self, trial: &Trial) -> Result<(), FolderError> {
        checked(&self.dir, trial, trial.config.len())?;
        let line = serde_json::to_vec(trial).unwrap_or_default();
        self.trials.line_soon(line)?;
        if trial.cost().is_some()
            && let Some(replaced) = self.replaced.take()
        {
            replaced.delete();
        }
        Ok(())
    }

    /// Adds a config's counters; a later line takes the place of an earlier one. Only for who holds the folder's lock.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn append_counters(dir: &Path, counted: &Counted) -> Result<(), FolderError> {
        let line = serde_json::to_vec(counted).unwrap_or_default();
        Ok(Log::open(dir.join(COUNTERS))?.line(line)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(replaced) = self.replaced.take() {
            // What cannot be put back now is when the folder is opened again.
            let _ = replaced.restore();
        }
    }
}

/// Refuses to record a trial that the next reader would leave out.
fn checked(dir: &Path, trial: &Trial, parameters: usize) -> Result<(), FolderError> {
    (trial.check(parameters)).map_err(|cause| FolderError::Implausible {
        path: dir.join(TRIALS),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::super::names::PACKED_COUNTERS;
    use super::*;
    use crate::sweep::export::CSV;

    fn facts() -> SweepFacts {
        serde_json::from_str(r#"{"name":"p","device":"d","parameters":["a"]}"#).unwrap()
    }

    fn trial(outcome: &str) -> Trial {
        serde_json::from_str(&format!(r#"{{"config":[1],{outcome}}}"#)).unwrap()
    }

    const FAILED: &str = r#""failed":{"failure":"compile","message":"m"}"#;
    const MEASURED: &str = r#""measured":{"times_s":[1.0],"time_s":1.0}"#;

    #[test]
    fn files_of_others_are_not_replaced() {
        for name in [
            "trials.csv",
            "results-t4.json",
            "finals.json",
            "counters.jsonl",
        ] {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join(name);
            std::fs::write(&file, "precious").unwrap();
            let refused = |e: FolderError| matches!(e, FolderError::NotOfSweep(f) if f == file);
            assert!(
                Folder::create(dir.path(), &facts()).is_err_and(refused),
                "{name}"
            );
            let refused = |e: FolderError| matches!(e, FolderError::NotOfSweep(f) if f == file);
            let merged = Folder::write_new(dir.path(), &Sweep::default());
            assert!(merged.is_err_and(refused), "{name}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
        }
    }

    #[test]
    fn packed_lines_come_before_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let pack = |name: &str, text: &str| {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            let mut z = flate2::write::GzEncoder::new(file, flate2::Compression::best());
            std::io::Write::write_all(&mut z, text.as_bytes()).unwrap();
            z.finish().unwrap();
        };
        let mut folder = Folder::create(dir.path(), &facts()).unwrap();
        folder.append(&trial(MEASURED)).unwrap();
        drop(folder);
        let line = std::fs::read_to_string(dir.path().join(TRIALS)).unwrap();
        std::fs::remove_file(dir.path().join(TRIALS)).unwrap();
        pack(PACKED_TRIALS, &format!("{line}no trial\n"));
        pack(
            PACKED_COUNTERS,
            "{\"config\":[1],\"counters\":{\"n\":2.0}}\n",
        );
        let read = Folder::read(dir.path()).unwrap();
        assert_eq!(read.trials.len(), 1);
        assert_eq!(read.trials[0].metrics["n"], 2.0);
        assert!(read.warnings[0].contains("trials.jsonl.gz: line 2"));
        assert!(Folder::has_successes(dir.path()));
        // A search that goes on adds to the plain file.
        let (mut folder, _) = Folder::resume(dir.path(), &facts(), &[]).unwrap();
        folder.append(&trial(FAILED)).unwrap();
        drop(folder);
        let trials = Folder::read(dir.path()).unwrap().trials;
        assert_eq!(trials.len(), 2);
        assert!(trials[1].failure().is_some());
        std::fs::write(dir.path().join(PACKED_TRIALS), "no gzip").unwrap();
        assert!(matches!(
            Folder::read(dir.path()),
            Err(FolderError::File(FileError::Read { .. }))
        ));
    }

    #[test]
    fn only_a_sweep_without_successes_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let start = |trials: &[&str]| {
            let mut folder = Folder::create(dir.path(), &facts())?;
            trials.iter().try_for_each(|t| folder.append(&trial(t)))
        };
        start(&[FAILED, FAILED]).unwrap();
        std::fs::write(dir.path().join(CSV), "of the failures").unwrap();
        assert!(!Folder::has_successes(dir.path()));
        start(&[FAILED, MEASURED]).unwrap();
        assert!(!dir.path().join(CSV).exists());
        assert_eq!(Folder::read(dir.path()).unwrap().trials.len(), 2);
        assert!(Folder::has_successes(dir.path()));
        assert!(matches!(start(&[]), Err(FolderError::Exists(_))));
        // One that cannot be read may hold anything.
        std::fs::write(dir.path().join(HEAD), "{").unwrap();
        assert!(matches!(start(&[]), Err(FolderError::Exists(_))));
    }
}
