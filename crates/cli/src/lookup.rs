//! Finding a machine by name or file.

use crate::error::Result;
use greenup_files::Outputs;
use greenup_model::Machine;

/// A shipped machine, `machines/NAME.toml` below this folder, or a file.
pub fn machine(name: &str) -> Result<Machine> {
    Ok(greenup_app::machine::load(name)?)
}

/// The same for a command that writes files, none of which may be the machine's.
pub fn input(name: &str, outputs: &mut Outputs) -> Result<Machine> {
    if let Some(file) = greenup_app::machine::file(name) {
        outputs.input(file);
    }
    machine(name)
}

/// Shipped machines and those in `machines/` of this folder.
pub fn all() -> Result<Vec<Machine>> {
    Ok(greenup_app::machine::all()?)
}
