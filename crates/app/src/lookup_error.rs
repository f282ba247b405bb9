//! A machine that cannot be loaded.

use greenup_files::FileError;
use greenup_model::MachineError;
use std::path::PathBuf;

/// A machine that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No machine has this name.
    #[error("there is no machine `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// Similar names.
        near: Vec<&'static str>,
    },
    /// Its file cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// Its file is not a machine.
    #[error("{}: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: MachineError,
    },
    /// A shipped machine is invalid.
    #[error("machine `{name}`: {cause}")]
    BrokenShipped {
        /// Its name.
        name: String,
        /// What is wrong with it.
        cause: MachineError,
    },
}

impl LookupError {
    /// The suggestion.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { near, .. } if near.is_empty() => {
                Some("`greenup machines` lists them; a file ends in .toml".into())
            }
            Self::Unknown { near, .. } => Some(format!("did you mean {}?", near.join(" or "))),
            Self::File(e) => e.hint().map(str::to_owned),
            Self::Broken { .. } | Self::BrokenShipped { .. } => None,
        }
    }
}
