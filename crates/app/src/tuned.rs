//! Files of tuned configs ("wisdom"): what tuning found on a device, for later runs.

use greenup_files::FileError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file of tuned configs that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TunedError {
    /// It cannot be read or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// Its contents are invalid.
    #[error("{}: invalid wisdom: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        message: String,
    },
}

/// Reads a file of tuned configs; the default where there is no file.
///
/// # Errors
/// It cannot be read, or its contents are invalid.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, TunedError> {
    match greenup_files::read_text(path) {
        Ok(text) => toml::from_str(&text).map_err(|e| TunedError::Invalid {
            path: path.to_owned(),
            message: e.to_string().trim_end().to_owned(),
        }),
        Err(FileError::Read { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
            Ok(T::default())
        }
        Err(e) => Err(e.into()),
    }
}

/// Writes a file of tuned configs, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write<T: Serialize>(path: &Path, tuned: &T) -> Result<(), TunedError> {
    let text = toml::to_string_pretty(tuned).map_err(|e| TunedError::Invalid {
        path: path.to_owned(),
        message: e.to_string(),
    })?;
    Ok(greenup_files::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.toml");
        let mut all: BTreeMap<String, u32> = read(&path).unwrap();
        assert!(all.is_empty());
        all.insert("a".into(), 3);
        write(&path, &all).unwrap();
        assert_eq!(read::<BTreeMap<String, u32>>(&path).unwrap(), all);
        std::fs::write(&path, "a = 'x'").unwrap();
        let e = read::<BTreeMap<String, u32>>(&path)
            .unwrap_err()
            .to_string();
        assert!(e.contains("t.toml: invalid wisdom"), "{e}");
    }
}
