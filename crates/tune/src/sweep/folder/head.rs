//! `sweep.json`: the facts of a sweep.

use crate::sweep::error::FolderError;
use crate::sweep::names::HEAD;
use crate::sweep::record::SweepFacts;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// `sweep.json`.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    #[serde(flatten)]
    facts: SweepFacts,
}

const FORMAT: &str = "greenup-sweep/1";

pub fn read_facts(dir: &Path) -> Result<SweepFacts, FolderError> {
    let path = dir.join(HEAD);
    let text = greenup_files::read_text(&path)?;
    let head: Head = serde_json::from_str(&text).map_err(|e| FolderError::Broken {
        path,
        line: e.line(),
        cause: e.to_string(),
    })?;
    Ok(head.facts)
}

/// The head comes last and whole: a folder with a head is a sweep.
pub fn write_facts(dir: &Path, facts: &SweepFacts) -> Result<(), FolderError> {
    let text = serde_json::to_string_pretty(&Head {
        format: FORMAT.into(),
        facts: facts.clone(),
    })
    .unwrap_or_default();
    Ok(greenup_files::write(dir.join(HEAD), text)?)
}
