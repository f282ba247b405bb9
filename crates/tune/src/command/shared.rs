//! Files that a command uses, which a worker on another host must have as they are on the tuning host.

use crate::error::EnvironmentFault;
use crate::problem::Problem;
use greenup_files::Cache;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A file with what it must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedFile {
    path: PathBuf,
    contents: String,
}

impl SharedFile {
    fn new(path: PathBuf) -> greenup_files::Result<Self> {
        let contents = Cache::key_of_file(&path)?;
        Ok(Self { path, contents })
    }

    /// Compares it with the file here.
    ///
    /// # Errors
    /// It differs, in words.
    pub(crate) fn same(&self) -> Result<(), String> {
        let path = self.path.display();
        match Cache::key_of_file(&self.path) {
            Err(e) => Err(format!("on this worker's host {e}")),
            Ok(now) if now != self.contents => Err(format!(
                "{path} on this worker's host is not the file of the tuning host: share the folder, or copy it there again"
            )),
            Ok(_) => Ok(()),
        }
    }
}

/// The files that a problem's commands name, and the sources of their build.
///
/// # Errors
/// One cannot be read.
pub(crate) fn files(p: &Problem) -> Result<Vec<SharedFile>, EnvironmentFault> {
    let dir = p.absolute_dir();
    let named = p.command.iter().flat_map(|c| c.files(&dir));
    let sources = p.build.sources.iter().map(|s| dir.join(s));
    named
        .chain(sources)
        .map(|path| SharedFile::new(path).map_err(|e| EnvironmentFault(e.to_string())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.sh");
        std::fs::write(&path, "1").unwrap();
        let file = SharedFile::new(path.clone()).unwrap();
        assert_eq!(file.same(), Ok(()));
        std::fs::write(&path, "2").unwrap();
        assert!(file.same().unwrap_err().contains("is not the file"));
        std::fs::remove_file(&path).unwrap();
        assert!(file.same().unwrap_err().contains("cannot be read"));
    }
}
