//! What a study has measured: trials of a sweep, each with the row of the study's own table.

use crate::{AppError, Result, print};
use greenup_report::provenance::Provenance;
use greenup_space::Value;
use greenup_tune::sweep::{Folder, SweepFacts, Trial};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// What a study measures.
pub trait Case {
    /// Its name, while it is measured.
    fn name(&self) -> String;

    /// Values of the parameters of the sweep, once for each way in which it is measured.
    fn configs(&self) -> Vec<Vec<Value>>;
}

/// Rows by their configs, and the sweep that has them, if the user wants one.
pub struct Record<R> {
    folder: Option<Folder>,
    rows: Vec<(Vec<Value>, R)>,
}

impl<R: Clone + Serialize + DeserializeOwned> Record<R> {
    /// Opens the sweep of a study in a folder, or goes on with it: the cases that it has are not measured again.
    ///
    /// # Errors
    /// The folder cannot be used, its sweep is of another study or device, or one of its rows cannot be read.
    pub fn open(dir: Option<&Path>, facts: &SweepFacts) -> Result<Self> {
        let (mut folder, mut rows) = (None, Vec::new());
        if let Some(dir) = dir {
            let (opened, trials) = open(dir, facts)?;
            folder = Some(opened);
            for t in trials {
                let row = serde_json::from_value(t.row.unwrap_or_default()).map_err(|e| {
                    let why = format!("{}: a trial is none of this study: {e}", dir.display());
                    AppError::new(why).hint("choose another folder with --out")
                })?;
                rows.push((t.config, row));
            }
        }
        Ok(Self { folder, rows })
    }

    /// The rows of a case, the last of each config; `None` if one is missing.
    pub fn of(&self, case: &impl Case) -> Option<Vec<&R>> {
        let row = |config| self.rows.iter().rev().find(|r| r.0 == config);
        (case.configs().into_iter())
            .map(|config| Some(&row(config)?.1))
            .collect()
    }

    /// The rows of cases that were measured, in the order of the cases.
    pub fn rows(&self, cases: &[impl Case]) -> Vec<R> {
        let known = cases.iter().filter_map(|c| self.of(c));
        known.flatten().cloned().collect()
    }

    /// Records trials with their rows.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn add(&mut self, found: Vec<(Trial, R)>) -> Result {
        for (mut trial, row) in found {
            if let Some(folder) = &mut self.folder {
                trial.row = Some(serde_json::to_value(&row)?).filter(|v| !v.is_null());
                folder.append(&trial)?;
            }
            self.rows.push((trial.config, row));
        }
        Ok(())
    }
}

fn open(dir: &Path, facts: &SweepFacts) -> Result<(Folder, Vec<Trial>)> {
    if !Folder::exists(dir) {
        return Ok((Folder::create(dir, facts)?, Vec::new()));
    }
    let known = Folder::read(dir)?.facts;
    if known.name == facts.name && known.device != facts.device {
        let (dir, device, wanted) = (dir.display(), known.device, &facts.device);
        return Err(
            AppError::new(format!("{dir} is a study of {device}, not of {wanted}"))
                .hint("choose another folder with --out"),
        );
    }
    let (folder, sweep) = Folder::resume(dir, facts, &[])?;
    sweep.warnings.iter().for_each(print::warn);
    Ok((folder, sweep.trials))
}

/// The facts of a study's sweep; `same` must not change when it goes on.
pub fn facts<'a>(
    (name, device): (&str, &str),
    parameters: &[&str],
    same: impl IntoIterator<Item = (&'a str, &'a String)>,
    provenance: &Provenance,
) -> SweepFacts {
    SweepFacts {
        name: name.to_owned(),
        device: device.to_owned(),
        parameters: parameters.iter().map(|p| (*p).to_owned()).collect(),
        fingerprint: (same.into_iter())
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect(),
        more: [("greenup".to_owned(), provenance.version.clone())]
            .into_iter()
            .chain(provenance.pairs())
            .collect(),
        ..SweepFacts::default()
    }
}
