//! What was measured of a run, kept so that its page can be drawn again: `run.json`, and beside it the folder `activity`.

use crate::activity::Activity;
use crate::attribution::same_bus;
use crate::counters::Counted;
use crate::cpu::Counts;
use crate::groups;
use crate::joules::Trace;
use crate::run::Exit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Name of the file.
pub const FILE: &str = "run.json";
/// Name of the folder of GPU activity.
pub const ACTIVITY: &str = "activity";

/// A GPU of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// Model.
    pub name: String,
    /// Bus address.
    pub bus_id: String,
    /// Number of multiprocessors.
    pub multiprocessors: i64,
    /// Its sensor among those of the run.
    pub sensor: Option<String>,
}

/// All that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Version of this format.
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Start, ns of the monotonic clock.
    pub start_ns: u64,
    /// Time of the run, s.
    pub wall_s: f64,
    /// CPU time in user space, s.
    pub user_s: f64,
    /// CPU time in the kernel, s.
    pub system_s: f64,
    /// Largest resident memory, bytes.
    pub memory_bytes: f64,
    /// Counters of the CPU.
    pub cpu: Counts,
    /// Readings of the sensors.
    pub traces: Vec<Trace>,
    /// GPUs of the host.
    pub gpus: Vec<GpuFacts>,
    /// The host's sensor among those of the run.
    pub host_sensor: Option<String>,
    /// Counters of kernels.
    pub counters: Vec<Counted>,
    /// What a reader must know of the measurement.
    pub notes: Vec<String>,
    /// Where the numbers come from.
    pub provenance: Value,
}

/// A folder that is not one of a profile.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] greenup_files::FileError),
    /// It is something else.
    #[error("{}: {cause}", path.display())]
    Broken {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A later version wrote it.
    #[error("{}: format {found}, this version reads {known}", path.display())]
    Version {
        /// The file.
        path: std::path::PathBuf,
        /// Its format.
        found: u32,
        /// The known one.
        known: u32,
    },
}

impl Recorded {
    /// Version of the format.
    pub const VERSION: u32 = 1;

    /// Writes it into a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), RecordError> {
        let path = dir.join(FILE);
        let text = serde_json::to_string(self).map_err(|cause| RecordError::Broken {
            path: path.clone(),
            cause,
        })?;
        Ok(greenup_files::write(&path, text)?)
    }

    /// Reads it from a folder.
    ///
    /// # Errors
    /// There is none, or it is broken.
    pub fn read(dir: &Path) -> Result<Self, RecordError> {
        let path = dir.join(FILE);
        let text = greenup_files::read_text(&path)?;
        let out: Self = serde_json::from_str(&text).map_err(|cause| RecordError::Broken {
            path: path.clone(),
            cause,
        })?;
        if out.version != Self::VERSION {
            return Err(RecordError::Version {
                path,
                found: out.version,
                known: Self::VERSION,
            });
        }
        Ok(out)
    }

    /// Adds the devices that the host did not show, with the sensor that watches them.
    pub fn name_devices(&mut self, activity: &[Activity], sensor: Option<String>) {
        for bus in groups::buses(activity) {
            let shown = self.gpus.iter().any(|g| same_bus(&g.bus_id, &bus));
            // A process that did not tell its bus used the only GPU.
            if !(shown || groups::is_unnamed(&bus) && self.gpus.len() == 1) {
                self.gpus.push(GpuFacts {
                    name: "GPU".into(),
                    bus_id: bus,
                    multiprocessors: 0,
                    sensor: sensor.clone(),
                });
            }
        }
        if self.gpus.is_empty() && sensor.is_some() {
            // An external meter of a program without a GPU watches the host.
            self.host_sensor = sensor;
        }
    }

    /// Readings of a sensor.
    pub fn trace(&self, id: Option<&str>) -> Option<&Trace> {
        self.traces.iter().find(|t| Some(t.id.as_str()) == id)
    }
}
