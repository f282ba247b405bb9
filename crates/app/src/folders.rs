//! Folders of the user, by the XDG base directories.

use std::path::PathBuf;

/// A folder of the user is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no home folder: set HOME or {variable} to an absolute path")]
pub struct NoHome {
    /// The variable that names the folder.
    pub variable: &'static str,
}

/// Data to keep: `$XDG_DATA_HOME/greenup`, else `~/.local/share/greenup`.
///
/// # Errors
/// Neither variable holds an absolute path.
pub fn data() -> Result<PathBuf, NoHome> {
    folder("XDG_DATA_HOME", ".local/share")
}

/// Data that can be made again: `$XDG_CACHE_HOME/greenup`, else `~/.cache/greenup`.
///
/// # Errors
/// Neither variable holds an absolute path.
pub fn cache() -> Result<PathBuf, NoHome> {
    folder("XDG_CACHE_HOME", ".cache")
}

fn folder(variable: &'static str, below_home: &str) -> Result<PathBuf, NoHome> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    absolute(variable)
        .or_else(|| Some(absolute("HOME")?.join(below_home)))
        .map(|p| p.join("greenup"))
        .ok_or(NoHome { variable })
}
