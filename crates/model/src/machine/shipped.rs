//! The machines that come with the program (folder `machines/`): published ones, those that were measured with it, and the
//! systems of published scaling studies.

use crate::machine::{Machine, MachineError};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name and TOML text of every shipped machine.
        pub const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../../machines/", $name, ".toml")))),*
        ];
    };
}

shipped![
    "fermi-2010",
    "gtx-580",
    "gtx-680",
    "i7-950",
    "gtx-titan",
    "gtx-680-sustained",
    "xeon-phi",
    "nuc-gpu",
    "arndale-gpu",
    "apu-gpu",
    "gtx-580-sustained",
    "nuc-cpu",
    "pandaboard-es",
    "arndale-cpu",
    "apu-cpu",
    "i7-950-sustained",
    "gtx-titan-peak",
    "jetson-tk1",
    "k40c",
    "h100",
    "h200",
    "titan",
    "stampede",
    "hopper",
    "edison",
];

/// All shipped machines, in the order of their publication's tables, then the measured, then those with a network.
///
/// # Errors
/// A shipped file is not a valid machine.
pub fn all() -> Result<Vec<Machine>, MachineError> {
    FILES
        .iter()
        .map(|(_, text)| Machine::from_toml(text))
        .collect()
}

/// The shipped machine called `name`.
pub fn find(name: &str) -> Option<Result<Machine, MachineError>> {
    FILES
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, text)| Machine::from_toml(text))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_file_parses_and_bears_its_own_name() {
        for (name, text) in super::FILES {
            let m = crate::Machine::from_toml(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(&m.name, name);
            assert!(m.has_energy() || m.network.is_some(), "{name}");
            assert!(!m.sources.is_empty(), "{name}");
        }
    }
}
