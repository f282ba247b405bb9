//! Errors as a user sees them: what is wrong, where, and the fix.

use greenup_app::machine::LookupError;
use greenup_files::FileError;
use std::error::Error;
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

    /// The user stopped the command before it had a result.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self {
            code: greenup_app::interrupt::CODE,
            ..Self::new(message)
        }
    }
}

impl<E: Error + 'static> From<E> for CliError {
    fn from(e: E) -> Self {
        Self {
            hint: hint(&e),
            ..Self::new(e.to_string())
        }
    }
}

/// The fix that an error, or what caused it, knows.
fn hint(e: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(e);
    while let Some(e) = cause {
        if let Some(e) = e.downcast_ref::<LookupError>() {
            return e.hint();
        }
        if let Some(e) = e.downcast_ref::<FileError>() {
            return e.hint().map(str::to_owned);
        }
        cause = e.source();
    }
    None
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    Ok(greenup_files::write(path, bytes)?)
}

pub fn cannot_write(path: &Path, e: &std::io::Error) -> CliError {
    let cause = e
        .raw_os_error()
        .map_or_else(|| e.kind().into(), std::io::Error::from_raw_os_error);
    FileError::Write {
        path: path.to_owned(),
        cause,
    }
    .into()
}

/// Reads a text file, with an error that names it.
pub fn read(path: &Path) -> Result<String> {
    Ok(greenup_files::read_text(path)?)
}
