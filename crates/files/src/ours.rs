//! Files whose names a command chooses within a folder of the user. The tool lists in the folder what it wrote there,
//! and replaces nothing else: not a file of the user with such a name, not one that was changed since, not what a link
//! points to.

use crate::error::{FileError, Result};
use crate::log::Log;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// Name of the list: a line `HASH NAME` for each file written, the last one of a name counts.
pub const LIST: &str = ".greenup-files";

/// Checks, before any work, that `names` in `folder` are free or of this tool.
///
/// # Errors
/// [`FileError::NotOurs`] with the first that is neither; the list cannot be read.
pub fn check<'a>(folder: &Path, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let listed = listed(folder)?;
    for name in names {
        let path = folder.join(name);
        let Ok(meta) = std::fs::symlink_metadata(&path) else {
            continue;
        };
        let ours = meta.is_file()
            && listed
                .get(name)
                .is_some_and(|known| hash(&path).is_ok_and(|h| h == *known));
        if !ours {
            return Err(FileError::NotOurs { path });
        }
    }
    Ok(())
}

/// Writes a whole file of a chosen name, and lists it.
///
/// # Errors
/// As [`check`] and [`crate::write`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<()> {
    let (path, bytes) = (path.as_ref(), bytes.as_ref());
    let folder = crate::atomic::folder_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    check(folder, [name.as_ref()])?;
    std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
    // Listed first: a file that a killed process did not write is not there to be replaced.
    let line = format!("{} {name}", blake3::hash(bytes).to_hex());
    Log::open_here(folder.join(LIST))?.quick_line(line)?;
    crate::write(path, bytes)
}

fn listed(folder: &Path) -> Result<HashMap<String, String>> {
    let path = folder.join(LIST);
    // A link is nobody's list of this folder.
    if !std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()) {
        return Ok(HashMap::new());
    }
    let text = crate::read_text(&path)?;
    let pairs = text.lines().filter_map(|l| l.split_once(' '));
    Ok(pairs
        .map(|(hash, name)| (name.to_owned(), hash.to_owned()))
        .collect())
}

fn hash(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_replaced_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let report = dir.path().join("report.html");
        let refused = |e: FileError| assert!(matches!(e, FileError::NotOurs { .. }), "{e}");
        std::fs::write(&report, "the user's").unwrap();
        refused(check(dir.path(), ["a", "report.html"]).unwrap_err());
        refused(write(&report, "ours").unwrap_err());
        assert_eq!(std::fs::read(&report).unwrap(), b"the user's");
        std::fs::remove_file(&report).unwrap();
        for text in ["1", "2"] {
            write(&report, text).unwrap();
            assert_eq!(std::fs::read(&report).unwrap(), text.as_bytes());
        }
        check(dir.path(), ["report.html", "other"]).unwrap();
        // Edited since, or a link to another file.
        std::fs::write(&report, "2, edited").unwrap();
        refused(write(&report, "3").unwrap_err());
        std::fs::remove_file(&report).unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, "2").unwrap();
        std::os::unix::fs::symlink(&precious, &report).unwrap();
        refused(write(&report, "3").unwrap_err());
        assert_eq!(std::fs::read(&precious).unwrap(), b"2");
    }

    #[test]
    fn a_list_that_is_a_link_is_neither_read_nor_written() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, "x").unwrap();
        std::os::unix::fs::symlink(&precious, dir.path().join(LIST)).unwrap();
        assert!(write(dir.path().join("a"), "1").is_err());
        assert_eq!(std::fs::read(&precious).unwrap(), b"x");
    }
}
