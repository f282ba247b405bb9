//! What tuning found, for every later run.

pub mod verify;

use crate::gpu::{DirectConfig, ListConfig};
use crate::numeric::Blocks;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The best known configs by the name of the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wisdom {
    #[serde(default)]
    pub cpu: BTreeMap<String, Blocks>,
    #[serde(default)]
    pub gpu: BTreeMap<String, DirectConfig>,
    #[serde(default)]
    pub gpu_list: BTreeMap<String, ListConfig>,
}

impl Wisdom {
    /// Hyperblocks of direct sums on a CPU.
    pub fn blocks(&self, name: &str) -> Blocks {
        self.cpu.get(name).copied().unwrap_or_default()
    }

    /// The direct kernel's config on a GPU.
    pub fn direct(&self, name: &str) -> DirectConfig {
        self.gpu.get(name).copied().unwrap_or_default()
    }

    /// The same of the kernel for listed q.
    pub fn list(&self, name: &str) -> ListConfig {
        self.gpu_list.get(name).copied().unwrap_or_default()
    }
}

/// Where wisdom is kept: `$XDG_DATA_HOME/greenup/gisaxs.toml`, else below `~/.local/share`.
pub fn file() -> Option<PathBuf> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = from("XDG_DATA_HOME").or_else(|| from("HOME").map(|h| h.join(".local/share")))?;
    Some(base.join("greenup/gisaxs.toml"))
}

/// The wisdom of this user; none where there is no file.
///
/// # Errors
/// A file that is no wisdom.
pub fn read() -> Result<Wisdom, String> {
    let Some(path) = file() else {
        return Ok(Wisdom::default());
    };
    match greenup_files::read_text(&path) {
        Ok(text) => {
            let wrong = |m: String| format!("{}: is no wisdom: {m}", path.display());
            let known: Wisdom =
                toml::from_str(&text).map_err(|e| wrong(e.to_string().trim_end().to_owned()))?;
            for (name, blocks) in &known.cpu {
                blocks.check().map_err(|m| wrong(format!("{name}: {m}")))?;
            }
            Ok(known)
        }
        Err(greenup_files::FileError::Read { cause, .. })
            if cause.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(Wisdom::default())
        }
        Err(e) => Err(e.to_string()),
    }
}

impl Wisdom {
    /// Keeps it for later runs, in one step.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self) -> Result<PathBuf, String> {
        let path = file().ok_or("neither XDG_DATA_HOME nor HOME is set")?;
        let text = toml::to_string_pretty(self).map_err(|e| e.to_string())?;
        greenup_files::write(&path, text.as_bytes()).map_err(|e| e.to_string())?;
        Ok(path)
    }
}

/// The name of this CPU.
pub fn cpu() -> String {
    greenup_device::CpuFacts::read().model
}
