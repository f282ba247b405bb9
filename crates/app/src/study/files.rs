//! What `--out` of a study names: its files, or a folder with them and its sweep.

use crate::Result;
use greenup_files::outputs::ending;
use greenup_files::{Outputs, ours};
use std::path::{Path, PathBuf};

/// The files of a study, each with its ending; none without `--out`.
#[derive(Default)]
pub struct Files {
    folder: Option<PathBuf>,
    files: Vec<(String, PathBuf)>,
}

impl Files {
    /// Checks a name before any work. A name without an ending is a folder: it gets the sweep, and a file `study` of each
    /// ending. Else it is a file with one of these endings; `together`: with the first, and beside it files of the others.
    ///
    /// # Errors
    /// As [`Outputs::file`]; a file in the folder is not of this tool.
    pub fn new(
        out: Option<&Path>,
        outputs: &mut Outputs,
        endings: &[&str],
        together: bool,
    ) -> Result<Self> {
        let Some(path) = out else {
            return Ok(Self::default());
        };
        let named = |stem: &Path| {
            (endings.iter())
                .map(|e| ((*e).to_owned(), stem.with_extension(e)))
                .collect()
        };
        let new = !path.exists() && path.extension().is_none() && path.as_os_str() != "-";
        if path.is_dir() || new {
            let names: Vec<String> = endings.iter().map(|e| format!("study.{e}")).collect();
            ours::check(path, names.iter().map(String::as_str))?;
            outputs.folder(path)?;
            return Ok(Self {
                folder: Some(path.to_owned()),
                files: named(&path.join("study")),
            });
        }
        if !together {
            outputs.file(path, endings)?;
            let files = vec![(ending(path, endings)?, path.to_owned())];
            return Ok(Self {
                folder: None,
                files,
            });
        }
        outputs.file(path, &endings[..1])?;
        let mut files: Vec<(String, PathBuf)> = named(path);
        files[0].1 = path.to_owned();
        for (ending, file) in &files[1..] {
            outputs.file(file, &[ending])?;
        }
        Ok(Self {
            folder: None,
            files,
        })
    }

    /// The folder of the sweep.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The file of an ending.
    pub fn file(&self, ending: &str) -> Option<&Path> {
        let found = self.files.iter().find(|f| f.0 == ending);
        found.map(|f| f.1.as_path())
    }

    /// Writes the file of an ending, if it is wanted.
    ///
    /// # Errors
    /// It cannot be made or written, or what stands in the folder is not of this tool.
    pub fn write(&self, ending: &str, make: impl FnOnce() -> Result<Vec<u8>>) -> Result {
        match (self.file(ending), &self.folder) {
            (None, _) => {}
            (Some(file), None) => greenup_files::write(file, make()?)?,
            (Some(file), Some(_)) => ours::write(file, make()?)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_ending_is_a_folder_and_foreign_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let new = |name: &str, together| {
            Files::new(
                Some(&at(name)),
                &mut Outputs::new(),
                &["json", "html"],
                together,
            )
        };
        let written = |f: &Files| {
            f.write("html", || Ok(b"x".to_vec())).unwrap();
            f.file("html").map(Path::to_owned)
        };
        assert_eq!(written(&new("a.JSON", false).unwrap()), None);
        assert_eq!(written(&new("a.JSON", true).unwrap()), Some(at("a.html")));
        assert!(new("a.html", true).is_err() && new("a.csv", false).is_err());
        for _ in 0..2 {
            let folder = new("s", false).unwrap();
            assert_eq!(folder.folder(), Some(at("s").as_path()));
            assert_eq!(written(&folder), Some(at("s/study.html")));
        }
        std::fs::write(at("s/study.html"), "the user's").unwrap();
        assert!(new("s", true).is_err());
        std::fs::write(at("file"), "no folder").unwrap();
        assert!(new("file", false).is_err());
        assert!(
            Files::new(None, &mut Outputs::new(), &[], true)
                .unwrap()
                .file("json")
                .is_none()
        );
    }
}
