//! Tuned configs of each device, stored for later runs.

pub mod verify;

use crate::GisaxsError;
use crate::gpu::{DirectConfig, ListConfig};
use crate::mesh_form_factor::Blocks;
use greenup_app::folders::{self, NoHome};
use greenup_app::tuned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The best known configs, by name of the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wisdom {
    /// The direct method on CPUs.
    #[serde(default)]
    pub cpu: BTreeMap<String, Blocks>,
    /// The direct kernel for tensor grids on GPUs.
    #[serde(default)]
    pub gpu: BTreeMap<String, DirectConfig>,
    /// The direct kernel for lists of q on GPUs.
    #[serde(default)]
    pub gpu_list: BTreeMap<String, ListConfig>,
}

impl Wisdom {
    /// The config of the direct method on the CPU `name`; the default if unknown.
    pub fn blocks(&self, name: &str) -> Blocks {
        self.cpu.get(name).copied().unwrap_or_default()
    }

    /// The config of the direct kernel for tensor grids on the GPU `name`; the default if unknown.
    pub fn direct(&self, name: &str) -> DirectConfig {
        self.gpu.get(name).copied().unwrap_or_default()
    }

    /// The config of the direct kernel for lists of q on the GPU `name`; the default if unknown.
    pub fn list(&self, name: &str) -> ListConfig {
        self.gpu_list.get(name).copied().unwrap_or_default()
    }
}

/// The file of tuned configs: `$XDG_DATA_HOME/greenup/gisaxs.toml`, else below `~/.local/share`.
///
/// # Errors
/// Neither `XDG_DATA_HOME` nor `HOME` holds an absolute path.
pub fn file() -> Result<PathBuf, NoHome> {
    Ok(folders::data()?.join("gisaxs.toml"))
}

/// The tuned configs of this user; empty if there is no file.
///
/// # Errors
/// The file cannot be read, or holds an invalid config.
pub fn read() -> Result<Wisdom, GisaxsError> {
    let Ok(path) = file() else {
        return Ok(Wisdom::default());
    };
    let known: Wisdom = tuned::read(&path)?;
    known.check().map_err(|e| GisaxsError::File {
        path: path.display().to_string(),
        message: format!("invalid wisdom: {e}"),
    })?;
    Ok(known)
}

impl Wisdom {
    fn check(&self) -> Result<(), GisaxsError> {
        let named = |name: &str, e: GisaxsError| GisaxsError::Invalid(format!("{name}: {e}"));
        for (name, blocks) in &self.cpu {
            blocks.check().map_err(|e| named(name, e))?;
        }
        for (name, config) in &self.gpu {
            config.check().map_err(|e| named(name, e))?;
        }
        for (name, config) in &self.gpu_list {
            config.check().map_err(|e| named(name, e))?;
        }
        Ok(())
    }

    /// Stores the configs for later runs, and returns the path of the file.
    ///
    /// # Errors
    /// The folder of the user's data is unknown, or the file cannot be written.
    pub fn store(&self) -> Result<PathBuf, GisaxsError> {
        let path = file()?;
        tuned::write(&path, self)?;
        Ok(path)
    }
}

/// The model name of this CPU.
pub fn cpu() -> String {
    greenup_device::CpuFacts::read().model
}
