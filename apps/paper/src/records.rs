//! The repository's records, each read and analysed once.

use crate::PaperError;
use flate2::read::MultiGzDecoder;
use greenup_files::read::TEXT_LIMIT;
use greenup_model::{Machine, shipped};
use greenup_study::applications::{Explained, explain};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, analyze};
use greenup_tune::sweep::read_any;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Share of a sweep that teaches its surrogate, and the seed: those of `greenup analyze`.
const SAMPLE: (f64, u64) = (0.1, 1);

/// A sweep with its analysis.
pub struct Analysed {
    /// The sweep.
    pub sweep: Sweep,
    /// What it shows.
    pub analysis: Analysis,
}

/// Records below a folder.
pub struct Records {
    root: PathBuf,
    measured: Option<(PathBuf, Vec<Measured>)>,
    sweeps: RefCell<HashMap<String, Rc<Analysed>>>,
    explained: RefCell<HashMap<String, Rc<Explained>>>,
}

impl Records {
    /// Records of a checkout whose root is this folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            measured: None,
            sweeps: RefCell::default(),
            explained: RefCell::default(),
        }
    }

    /// The same with records measured anew, found below another folder.
    pub fn over(self, folder: PathBuf, measured: Vec<Measured>) -> Self {
        Self {
            measured: Some((folder, measured)),
            ..self
        }
    }

    /// What was measured anew for a record.
    pub fn measured(&self, record: &str) -> Option<&Measured> {
        let (_, all) = self.measured.as_ref()?;
        all.iter().find(|m| m.made(record))
    }

    /// The path of a record, or of the same packed by gzip.
    ///
    /// # Errors
    /// It is missing.
    pub fn path(&self, record: &str) -> Result<PathBuf, PaperError> {
        // A file of a folder that was measured anew is in the new one.
        let new = (self.measured.iter())
            .find(|(_, all)| (all.iter()).any(|m| Path::new(record).starts_with(&m.record)));
        let path = new.map_or(&self.root, |(folder, _)| folder).join(record);
        let packed = PathBuf::from(format!("{}.gz", path.display()));
        match (path.exists(), packed.exists()) {
            (true, _) => Ok(path),
            (false, true) => Ok(packed),
            (false, false) => Err(PaperError::NoRecord(path)),
        }
    }

    /// The text of a record.
    ///
    /// # Errors
    /// It is missing or no text.
    pub fn text(&self, record: &str) -> Result<String, PaperError> {
        let path = self.path(record)?;
        if path.extension().is_some_and(|e| e == "gz") {
            let file = std::fs::File::open(&path).map_err(|e| broken(&path, e))?;
            let mut text = String::new();
            MultiGzDecoder::new(file)
                .take(TEXT_LIMIT)
                .read_to_string(&mut text)
                .map_err(|e| broken(&path, e))?;
            return Ok(text);
        }
        greenup_files::read_text(&path).map_err(|e| broken(&path, e))
    }

    /// A JSON record.
    ///
    /// # Errors
    /// It is missing or no JSON.
    pub fn json(&self, record: &str) -> Result<Value, PaperError> {
        let path = self.path(record)?;
        serde_json::from_str(&self.text(record)?).map_err(|e| broken(&path, e))
    }

    /// A sweep with its analysis.
    ///
    /// # Errors
    /// It is missing, or nothing was measured.
    pub fn sweep(&self, record: &str) -> Result<Rc<Analysed>, PaperError> {
        if let Some(known) = self.sweeps.borrow().get(record) {
            return Ok(known.clone());
        }
        let path = self.path(record)?;
        let mut sweep = read_any(&path).map_err(|e| broken(&path, e))?;
        sweep.facts.flops = sweep.flops();
        let (share, seed) = SAMPLE;
        let analysis = analyze(&sweep, share, seed).map_err(|e| broken(&path, e))?;
        let new = Rc::new(Analysed { sweep, analysis });
        self.sweeps
            .borrow_mut()
            .insert(record.to_owned(), new.clone());
        Ok(new)
    }

    /// Energies of applications from counters, on a shipped machine.
    ///
    /// # Errors
    /// A sweep is missing, or the machine lacks a cost.
    pub fn explained(
        &self,
        names: &[String],
        sweeps: &str,
        machine: &str,
    ) -> Result<Rc<Explained>, PaperError> {
        let key = format!("{names:?} {sweeps} {machine}");
        if let Some(known) = self.explained.borrow().get(&key) {
            return Ok(known.clone());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let new = Rc::new(explain(
            &names,
            &self.path(sweeps)?,
            &self::machine(machine)?,
        )?);
        self.explained.borrow_mut().insert(key, new.clone());
        Ok(new)
    }
}

/// A shipped machine, or several of one as `47*arndale-gpu`.
///
/// # Errors
/// It is not shipped, or has no costs.
pub fn machine(name: &str) -> Result<Machine, PaperError> {
    let none = || PaperError::NoMachine(name.to_owned());
    let (copies, of) = match name.split_once('*') {
        Some((n, of)) => (Some(n.parse::<f64>().map_err(|_| none())?), of),
        None => (None, name),
    };
    let one = shipped::find(of).ok_or_else(none)??;
    Ok(match copies {
        Some(n) => Machine {
            name: format!("{n} × {}", one.name),
            title: format!("{n} × {}", one.title),
            ..one.cluster(n)?
        },
        None => one,
    })
}

/// A record that cannot be used.
pub fn broken(path: &Path, cause: impl std::fmt::Display) -> PaperError {
    PaperError::Record {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}

/// A measurement that ended, kept beside the records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The record.
    pub record: String,
    /// Other records that the commands made.
    #[serde(default)]
    pub also: Vec<String>,
    /// The commands as they ran.
    pub commands: Vec<String>,
    /// When it ended.
    pub date: String,
    /// The host.
    pub host: String,
    /// How long it took, s.
    pub seconds: f64,
}

impl Measured {
    /// Whether a record, or the folder that it is in, was made.
    pub fn made(&self, record: &str) -> bool {
        std::iter::once(&self.record)
            .chain(&self.also)
            .any(|r| Path::new(record).starts_with(r))
    }
}
