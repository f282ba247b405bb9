//! The programs of the applications.

use std::path::PathBuf;

/// A program beside this one, else on PATH.
pub fn program(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join(name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(beside)
        .chain(std::env::split_paths(&path).map(|folder| folder.join(name)))
        .find(|p| p.is_file())
}
