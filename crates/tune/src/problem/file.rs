//! A problem file before the device is known whose facts its space is read with.

use super::{Problem, ProblemError};
use greenup_files::FileError;
use greenup_space::Facts;
use std::path::{Path, PathBuf};

/// The text of a problem file, read once.
pub struct ProblemFile {
    /// Where it was read.
    pub path: PathBuf,
    text: String,
    /// Empty if the text is not TOML, which [`ProblemFile::problem`] then says.
    pub(super) table: toml::Table,
}

impl ProblemFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Ok(Self::of(path, greenup_files::read_text(path)?))
    }

    /// The same of a text.
    pub fn of(path: &Path, text: String) -> Self {
        Self {
            path: path.to_owned(),
            table: text.parse().unwrap_or_default(),
            text,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether its kernels are in CUDA.
    pub fn is_cuda(&self) -> bool {
        self.language() == Some("cuda")
    }

    /// Whether its kernels are in OpenCL.
    pub fn is_opencl(&self) -> bool {
        self.language() == Some("opencl")
    }

    /// Whether a command is tuned.
    pub fn is_command(&self) -> bool {
        self.table.contains_key("run")
    }

    /// Whether its expressions ask for facts of the device.
    pub fn names_device(&self) -> bool {
        self.text.contains("device.")
    }

    fn language(&self) -> Option<&str> {
        self.table.get("build")?.get("language")?.as_str()
    }

    /// The problem with the facts of a device, some of its constants set to other values, and some of its parameters to
    /// values of this list.
    ///
    /// # Errors
    /// What is wrong in it, or a name that is neither.
    pub fn problem(
        &self,
        facts: &Facts,
        named: &[(String, toml::Value)],
    ) -> Result<Problem, ProblemError> {
        let dir = match self.path.parent() {
            Some(d) if !d.as_os_str().is_empty() => d,
            _ => Path::new("."),
        };
        Problem::parse(
            &self.text,
            &self.path.display().to_string(),
            dir,
            facts,
            named,
        )
    }
}
