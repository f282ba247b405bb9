//! Finding a machine by name or file.

use crate::error::{CliError, Result, read};
use greenup_model::{Machine, shipped};
use std::path::{Path, PathBuf};

/// A shipped machine, `machines/NAME.toml` below this folder, or a file.
pub fn machine(name: &str) -> Result<Machine> {
    if name.ends_with(".toml") || name.contains('/') {
        return from_file(Path::new(name));
    }
    if let Some(found) = shipped::find(name) {
        return Ok(found?);
    }
    let local = PathBuf::from("machines").join(format!("{name}.toml"));
    if local.exists() {
        return from_file(&local);
    }
    let near = shipped::FILES
        .iter()
        .map(|(n, _)| *n)
        .filter(|n| n.contains(name) || name.contains(n))
        .collect::<Vec<_>>();
    let hint = if near.is_empty() {
        "`greenup machines` lists them; a file ends in .toml".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Err(CliError::new(format!("there is no machine `{name}`")).hint(hint))
}

pub fn from_file(path: &Path) -> Result<Machine> {
    let text = read(path)?;
    Machine::from_toml(&text).map_err(|e| CliError::new(format!("{}: {e}", path.display())))
}

/// Shipped machines and those in `machines/` of this folder.
pub fn all() -> Result<Vec<Machine>> {
    let mut machines = shipped::all()?;
    let mut local: Vec<PathBuf> = std::fs::read_dir("machines")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    local.sort();
    for path in local {
        let m = from_file(&path)?;
        if !machines.iter().any(|known| known.name == m.name) {
            machines.push(m);
        }
    }
    Ok(machines)
}
