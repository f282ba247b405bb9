//! Machines by name or file: what `--machine NAME|FILE` means in every command.

pub use crate::lookup_error::LookupError;

use crate::print;
use greenup_files::Outputs;
use greenup_model::{Machine, shipped};
use std::path::{Path, PathBuf};

/// The file that a name stands for: one that is named (it ends in `.toml` or has a `/`), or `machines/NAME.toml` below
/// this folder; none for a shipped machine.
pub fn file(name: &str) -> Option<PathBuf> {
    if name.ends_with(".toml") || name.contains('/') {
        return Some(name.into());
    }
    if shipped::FILES.iter().any(|(n, _)| *n == name) {
        return None;
    }
    let local = Path::new("machines").join(format!("{name}.toml"));
    local.exists().then_some(local)
}

/// A machine by its name (shipped, or `machines/NAME.toml` below this folder) or from a file.
///
/// # Errors
/// There is none of this name, or it is broken.
pub fn load(name: &str) -> Result<Machine, LookupError> {
    if let Some(path) = file(name) {
        print::detail(|| format!("machine {name}: from {}", path.display()));
        return read(&path);
    }
    if let Some(found) = shipped::find(name) {
        print::detail(|| format!("machine {name}: shipped with the program"));
        return found.map_err(|cause| LookupError::BrokenShipped {
            name: name.to_owned(),
            cause,
        });
    }
    let near = shipped::FILES
        .iter()
        .map(|(n, _)| *n)
        .filter(|n| !name.is_empty() && (n.contains(name) || name.contains(n)))
        .collect();
    Err(LookupError::Unknown {
        name: name.to_owned(),
        near,
    })
}

/// The same for a command that writes files: the machine's own file becomes an input, which no output may replace.
///
/// # Errors
/// As [`load`].
pub fn input(name: &str, outputs: &mut Outputs) -> Result<Machine, LookupError> {
    if let Some(file) = file(name) {
        outputs.input(file);
    }
    load(name)
}

/// A machine from a file.
///
/// # Errors
/// It cannot be read, or is broken.
pub fn read(path: &Path) -> Result<Machine, LookupError> {
    Machine::from_toml(&greenup_files::read_text(path)?).map_err(|cause| LookupError::Broken {
        path: path.to_owned(),
        cause,
    })
}

/// Shipped machines, and those in `machines/` below this folder.
///
/// # Errors
/// One of them is broken.
pub fn all() -> Result<Vec<Machine>, LookupError> {
    let mut machines = Vec::new();
    for (name, text) in shipped::FILES {
        let shipped = |cause| LookupError::BrokenShipped {
            name: (*name).to_owned(),
            cause,
        };
        machines.push(Machine::from_toml(text).map_err(shipped)?);
    }
    let mut local: Vec<PathBuf> = std::fs::read_dir("machines")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    local.sort();
    for path in local {
        let m = read(&path)?;
        if !machines.iter().any(|known| known.name == m.name) {
            machines.push(m);
        }
    }
    Ok(machines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_file_is_a_machine() {
        assert_eq!(load("h200").unwrap().name, "h200");
        assert_eq!(file("h200"), None);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml");
        let text = load("gtx-580").unwrap().to_toml().unwrap();
        std::fs::write(&path, text).unwrap();
        let name = path.display().to_string();
        assert_eq!(load(&name).unwrap().name, "gtx-580");
        assert_eq!(file(&name), Some(path.clone()));
        let e = load("gtx-58").unwrap_err();
        assert_eq!(e.to_string(), "there is no machine `gtx-58`");
        assert!(e.hint().unwrap().contains("gtx-580"));
        assert!(load("none").unwrap_err().hint().unwrap().contains("lists"));
        assert!(load("").is_err());
        std::fs::write(&path, "name = 1").unwrap();
        let e = load(&name).unwrap_err().to_string();
        assert!(e.contains("mine.toml"), "{e}");
        let e = load("/none.toml").unwrap_err();
        assert!(e.to_string().contains("/none.toml") && e.hint().is_some());
        // A device without an end is not read into memory.
        assert!(load("/dev/zero").unwrap_err().to_string().contains("large"));
    }
}
