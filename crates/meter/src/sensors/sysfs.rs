//! Reading numbers below `/sys`, with problems that name the fix.

use crate::sensor::{Problem, SensorError};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Subdirectories of `dir` in order of name; none when it cannot be read.
pub fn subdirs(dir: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_dir())
        .collect();
    dirs.sort();
    dirs
}

pub fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|s| s.trim().to_owned())
}

/// The number in a file, as a sensor reading.
pub fn number(id: &str, path: &Path) -> Result<f64, SensorError> {
    let gone = |cause: String| SensorError::Gone {
        id: id.to_owned(),
        cause,
    };
    let text = fs::read_to_string(path).map_err(|e| gone(format!("{}: {e}", path.display())))?;
    text.trim().parse().map_err(|_| {
        gone(format!(
            "{} holds `{}`, not a number",
            path.display(),
            text.trim()
        ))
    })
}

/// The problem behind a file that cannot be read.
pub fn unreadable(id: &str, path: &Path, error: &std::io::Error, permission_fix: &str) -> Problem {
    Problem {
        id: id.to_owned(),
        present: true,
        cause: format!("{}: {error}", path.display()),
        fix: if error.kind() == ErrorKind::PermissionDenied {
            permission_fix.to_owned()
        } else {
            "check the driver that provides this file".to_owned()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn a_refused_file_gets_the_permission_fix_and_others_do_not() {
        let problem = |kind| {
            unreadable(
                "rapl:package",
                Path::new("x"),
                &Error::from(kind),
                "run as root",
            )
        };
        assert_eq!(problem(ErrorKind::PermissionDenied).fix, "run as root");
        assert!(problem(ErrorKind::PermissionDenied).present);
        assert!(problem(ErrorKind::InvalidData).fix.contains("driver"));
    }
}
