//! A command that checks what a kernel wrote: `[check]`.

use super::error::ValueError;
use super::written::CheckText;
use crate::command::template::Words;
use greenup_space::Space;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the folder with a kernel's outputs.
pub(super) const OUTPUTS: &str = "outputs";

/// A problem's check, without a config.
#[derive(Clone, Debug)]
pub struct Check {
    pub(super) words: Words,
    pub(super) timeout_s: f64,
}

/// A check of one config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checking {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Where the worker writes the outputs.
    pub outputs: PathBuf,
    /// Seconds after which it counts as hanging.
    pub timeout_s: f64,
}

impl Checking {
    /// With the outputs in another folder.
    pub(crate) fn moved(&mut self, folder: &Path) {
        let outputs = folder.join(OUTPUTS);
        let (from, to) = (
            self.outputs.display().to_string(),
            outputs.display().to_string(),
        );
        for word in &mut self.words {
            *word = word.replace(&from, &to);
        }
        self.outputs = outputs;
    }
}

impl Check {
    pub(super) fn parse(text: &CheckText, space: &Space) -> Result<Self, ValueError> {
        let words = Words::parse(&text.command).map_err(ValueError::Check)?;
        let known = |name: &str| name == OUTPUTS || space.knows(name);
        if let Some(name) = words.names().find(|n| !known(n)) {
            return Err(ValueError::Check(format!(
                "{{{name}}} is no constant, parameter or derived value, nor {{outputs}}"
            )));
        }
        if !(text.timeout > 0.0 && text.timeout.is_finite()) {
            return Err(ValueError::Check("its timeout must be positive".into()));
        }
        Ok(Self {
            words,
            timeout_s: text.timeout,
        })
    }
}
