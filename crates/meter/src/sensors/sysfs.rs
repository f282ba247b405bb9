//! Reading numbers below `/sys`, with problems that name the fix.

use crate::sensor::{Problem, SensorError};
use crate::sensors::external;
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
    let id = || id.to_owned();
    let text = fs::read_to_string(path).map_err(|e| {
        let cause = format!("{}: {}", path.display(), cause(&e));
        // The file was there when the sensor was found.
        if is_gone(&e) {
            SensorError::Gone { id: id(), cause }
        } else {
            SensorError::Failed { id: id(), cause }
        }
    })?;
    text.trim().parse().map_err(|_| SensorError::Failed {
        id: id(),
        cause: format!("{} holds `{}`, not a number", path.display(), text.trim()),
    })
}

/// Whether an error means that the device is no longer there.
fn is_gone(e: &std::io::Error) -> bool {
    e.kind() == ErrorKind::NotFound || matches!(e.raw_os_error(), Some(libc::ENODEV | libc::ENXIO))
}

/// An error by its meaning for a sensor, with its number and text.
fn cause(e: &std::io::Error) -> String {
    match e.raw_os_error() {
        Some(libc::ENODATA | libc::EOPNOTSUPP) => format!("not offered by this device ({e})"),
        Some(libc::EAGAIN | libc::EBUSY) => format!("the device has no value now ({e})"),
        Some(libc::EIO | libc::EREMOTEIO | libc::ETIMEDOUT) => {
            format!("the device does not answer its driver ({e})")
        }
        _ => e.to_string(),
    }
}

/// The problem behind a file that cannot be read.
pub fn unreadable(id: &str, path: &Path, error: &std::io::Error, permission_fix: &str) -> Problem {
    Problem {
        id: id.to_owned(),
        present: true,
        cause: format!("{}: {}", path.display(), cause(error)),
        fix: match (error.kind(), error.raw_os_error()) {
            (ErrorKind::PermissionDenied, _) => permission_fix.to_owned(),
            (_, Some(libc::ENODATA | libc::EOPNOTSUPP)) => {
                format!("none: use another sensor, or {}", external::suggestion())
            }
            (_, Some(libc::EAGAIN | libc::EBUSY)) => {
                "try again; a suspended device must be woken first".to_owned()
            }
            _ => "check the driver that provides this file".to_owned(),
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
        for (code, part) in [
            (libc::ENODATA, "not offered"),
            (libc::EAGAIN, "no value now"),
            (libc::EIO, "does not answer"),
            // A code without advice of its own: number and text.
            (libc::EILSEQ, "os error 84"),
        ] {
            let e = Error::from_raw_os_error(code);
            let p = unreadable("hwmon:1:power1", Path::new("x"), &e, "run as root");
            assert!(p.cause.contains(part) && !p.fix.contains("root"), "{p:?}");
        }
    }
}
