//! Where the user's own files live, by the XDG base directories.

use crate::error::{CliError, Result};
use std::path::PathBuf;

/// What is worth keeping: `$XDG_DATA_HOME/greenup`, else `~/.local/share/greenup`.
pub fn data() -> Result<PathBuf> {
    folder("XDG_DATA_HOME", ".local/share")
}

/// What can be made again: `$XDG_CACHE_HOME/greenup`, else `~/.cache/greenup`.
pub fn cache() -> Result<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache")
}

fn folder(variable: &str, below_home: &str) -> Result<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    absolute(variable)
        .or_else(|| Some(absolute("HOME")?.join(below_home)))
        .map(|p| p.join("greenup"))
        .ok_or_else(|| {
            CliError::new("there is no home folder")
                .hint(format!("set HOME or {variable} to an absolute path"))
        })
}
