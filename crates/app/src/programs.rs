//! Programs beside this one.

use crate::error::{AppError, Result};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file of a program: beside this one, else on PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join(name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(beside)
        .chain(std::env::split_paths(&path).map(|folder| folder.join(name)))
        .find(|p| p.is_file())
}

/// The file of `greenup` or of an application.
///
/// # Errors
/// It is not there.
pub fn needed(name: &str) -> Result<PathBuf> {
    find(name).ok_or_else(|| {
        let folder = match name {
            "greenup" => "crates/cli".to_owned(),
            name => format!("apps/{name}"),
        };
        AppError::new(format!(
            "there is no program {name} beside greenup or on PATH"
        ))
        .hint(format!(
            "`cargo install --path {folder}` in the repository, or add its folder to PATH"
        ))
    })
}

/// This process becomes another program, so that signals, the terminal and the exit code are that program's. Returns why it
/// cannot be started.
pub fn become_program(file: &Path, arguments: &[OsString]) -> AppError {
    let e = Command::new(file).args(arguments).exec();
    AppError::new(format!("{} cannot be started: {e}", file.display()))
}
