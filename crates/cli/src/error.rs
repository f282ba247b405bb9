//! Errors as a user sees them: what is wrong, where, and the cure.

use std::path::Path;

#[derive(Debug)]
pub struct CliError {
    pub message: String,
    pub hint: Option<String>,
    pub code: u8,
}

pub type Result<T = ()> = std::result::Result<T, CliError>;

impl CliError {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            code: 1,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl<E: std::error::Error> From<E> for CliError {
    fn from(e: E) -> Self {
        Self::new(e.to_string())
    }
}

/// Writes a file, with an error that names it and the cure.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    if let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir).map_err(|e| cannot_write(dir, &e))?;
    }
    std::fs::write(path, bytes).map_err(|e| cannot_write(path, &e))
}

pub fn cannot_write(path: &Path, e: &std::io::Error) -> CliError {
    use std::io::ErrorKind as K;
    let hint = match e.kind() {
        K::PermissionDenied | K::ReadOnlyFilesystem => {
            "choose a folder you may write to, with --out or -o"
        }
        K::StorageFull | K::QuotaExceeded => {
            "free some space, or choose another disk with --out or -o"
        }
        _ => "check the path given with --out or -o",
    };
    CliError::new(format!("{} cannot be written: {e}", path.display())).hint(hint)
}

/// Reads a text file, with an error that names it.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|e| CliError::new(format!("{} cannot be read: {e}", path.display())))
}
