//! Snapshots of the fields for ParaView. With several ranks each writes its part.

use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::output::{pvd, pvtu, read_pvd, vtu};
use crate::session::settings::Settings;
use greenup_files::{FileError, FolderLock};
use greenup_ranks::Ranks;
use std::path::{Path, PathBuf};

/// Files for ParaView at equal intervals of time.
pub struct Snapshots {
    folder: PathBuf,
    /// Time between files.
    every: f64,
    next: f64,
    /// Number of the next file.
    number: usize,
    files: Vec<(f64, String)>,
    /// Mark of the run.
    mark: String,
    /// Two runs would mix their files.
    _lock: FolderLock,
}

type Result<T = ()> = std::result::Result<T, HydroError>;

const LIST: &str = "run.pvd";

impl Snapshots {
    /// Starts the files of a run, or continues those of a folder after the time of a checkpoint, whose run wrote them at
    /// intervals of the second number.
    ///
    /// # Errors
    /// The folder cannot be made, another run writes into it, or its list ends long before the checkpoint.
    pub fn new(s: &Settings, restart: Option<(f64, f64)>) -> Result<Option<Self>> {
        let Some(folder) = &s.vtu else {
            return Ok(None);
        };
        let lock = FolderLock::acquire(folder)?;
        let mark = s.mark.clone().unwrap_or_default();
        let files = continued(folder, &mark, restart)?;
        let now = restart.map_or(0.0, |(now, _)| now);
        let number = files
            .iter()
            .filter_map(|(_, name)| {
                let digits = name.strip_prefix("fields_")?;
                let digits = digits
                    .strip_suffix(".vtu")
                    .or(digits.strip_suffix(".pvtu"))?;
                digits.parse::<usize>().ok()
            })
            .max()
            .map_or(0, |n| n.saturating_add(1));
        let mut out = Self {
            folder: folder.clone(),
            every: s.snapshots_every(),
            // A folder without files of this run begins at the present time.
            next: now,
            number,
            files,
            mark,
            _lock: lock,
        };
        // The folder is this run's from now on.
        pvd(&folder.join(LIST), &out.mark, &out.files)?;
        if !out.files.is_empty() {
            out.skip(now);
        }
        Ok(Some(out))
    }

    /// Checks that a restart can continue the files, before other outputs are cut.
    ///
    /// # Errors
    /// As [`Snapshots::new`].
    pub fn check(s: &Settings, restart: Option<(f64, f64)>) -> Result {
        let mark = s.mark.as_deref().unwrap_or_default();
        match &s.vtu {
            Some(folder) => continued(folder, mark, restart).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether a snapshot is due at time `t`.
    pub fn due(&self, t: f64) -> bool {
        t >= self.next * (1.0 - 1e-12)
    }

    /// Number of the next snapshot.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Adds a snapshot that was written for time `t` to the list.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn add(&mut self, name: String, t: f64) -> Result {
        self.number += 1;
        self.files.push((t, name));
        pvd(&self.folder.join(LIST), &self.mark, &self.files)?;
        self.skip(t);
        Ok(())
    }

    /// The next multiple of the time between files after this time.
    fn skip(&mut self, t: f64) {
        let t = t * (1.0 + 1e-12);
        let mut n = (t / self.every).floor();
        while n * self.every <= t {
            n += 1.0;
        }
        self.next = n * self.every;
    }
}

/// The snapshots in a folder up to a restart; none without one.
fn continued(folder: &Path, mark: &str, restart: Option<(f64, f64)>) -> Result<Vec<(f64, String)>> {
    let mut files = listed(folder, mark, restart.is_some())?;
    let (now, every) = restart.unwrap_or_default();
    files.retain(|(t, _)| *t <= now * (1.0 + 1e-12));
    no_gap(folder, &files, now, every)?;
    Ok(files)
}

/// Refuses a list to which the snapshots before a checkpoint at time `now` are missing. An earlier part of the run may have
/// had longer intervals.
fn no_gap(folder: &Path, files: &[(f64, String)], now: f64, every: f64) -> Result {
    let Some((last, _)) = files.last() else {
        return Ok(());
    };
    let before = files.iter().rev().nth(1).map_or(0.0, |(t, _)| last - t);
    if now - last <= every.max(before) * (1.0 + 1e-9) {
        return Ok(());
    }
    Err(HydroError::Output(format!(
        "{} ends at t = {last}, and the checkpoint is at t = {now}: the snapshots between would be missing. Fix: name another folder with --vtu",
        folder.join(LIST).display()
    )))
}

/// The snapshots in a folder that a run goes on with; none if it begins anew.
///
/// # Errors
/// The folder has such files of another program, or a restart would go on with those of another run.
fn listed(folder: &Path, mark: &str, restart: bool) -> Result<Vec<(f64, String)>> {
    let Some((found, files)) = read_pvd(&folder.join(LIST))? else {
        let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names = all.filter(|e| e.path().is_file()).map(|e| e.file_name());
        return match names.find(|n| n.to_string_lossy().starts_with("fields_")) {
            Some(name) => Err(FileError::NotOurs {
                path: folder.join(name),
            }
            .into()),
            None => Ok(Vec::new()),
        };
    };
    if !restart {
        Ok(Vec::new())
    } else if found == mark {
        Ok(files)
    } else {
        Err(HydroError::Output(format!(
            "{} lists the snapshots of another run, which this restart does not continue. Fix: name another folder with --vtu",
            folder.join(LIST).display()
        )))
    }
}

/// Writes the fields of all ranks as `stem`.vtu, or as `stem`.pvtu with a file for each rank; returns the name of the file to
/// open. All ranks call it.
///
/// # Errors
/// A file cannot be written.
pub fn fields(
    folder: &Path,
    stem: &str,
    (h, s): (&Hydro, &State),
    ranks: &dyn Ranks,
) -> Result<String> {
    if ranks.size() == 1 {
        let name = format!("{stem}.vtu");
        vtu(&folder.join(&name), h, s)?;
        return Ok(name);
    }
    let piece = |rank: usize| format!("{stem}_{rank}.vtu");
    vtu(&folder.join(piece(ranks.rank())), h, s)?;
    // The list names whole files only.
    ranks.barrier();
    let name = format!("{stem}.pvtu");
    if ranks.rank() == 0 {
        let pieces: Vec<String> = (0..ranks.size()).map(piece).collect();
        pvtu(&folder.join(&name), &pieces)?;
    }
    Ok(name)
}

/// Name of a snapshot, without its ending.
pub fn stem(number: usize) -> String {
    format!("fields_{number:04}")
}
