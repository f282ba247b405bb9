//! What was measured of a run, kept so that its page can be redrawn: `run.json`, and next to it the folder `activity`.

use crate::activity::Activity;
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

/// Note of a run in which CUPTI recorded nothing.
pub const NO_ACTIVITY: &str = "the program did not use CUDA: no GPU activity was recorded";

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
    pub memory_bytes: Option<f64>,
    /// Counters of the CPU.
    pub cpu: Counts,
    /// Readings of the sensors.
    pub traces: Vec<Trace>,
    /// GPUs of the host.
    pub gpus: Vec<GpuFacts>,
    /// The host's sensor among those of the run.
    pub host_sensor: Option<String>,
    /// Whether its times and counters are those of a table of `ncu`: nothing is known of the program's own run.
    #[serde(default)]
    pub from_table: bool,
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
        if out.wall_s < 0.0 {
            let cause = serde::de::Error::custom("`wall_s` is negative");
            return Err(RecordError::Broken { path, cause });
        }
        Ok(out)
    }

    /// Whether the records of its GPUs are lost: they belong to it, and `activity` has none.
    pub fn lacks(&self, activity: &[Activity]) -> bool {
        let traced = !self.gpus.is_empty() && !self.notes.iter().any(|n| n == NO_ACTIVITY);
        traced && activity.is_empty()
    }

    /// Adds the devices that the host did not show, with the sensor that watches them.
    pub fn name_devices(&mut self, activity: &[Activity], sensor: Option<String>) {
        for bus in groups::buses(activity) {
            let shown = self.gpus.iter().any(|g| same_bus(&g.bus_id, &bus));
            // A process that recorded no bus used the only GPU.
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

/// Whether two bus addresses are of one device: NVML, CUDA and the kernel write a different number of leading zeros.
pub fn same_bus(a: &str, b: &str) -> bool {
    let plain = |t: &str| t.trim_start_matches('0').to_lowercase();
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recorded {
        Recorded {
            version: Recorded::VERSION,
            command: vec!["app".into()],
            exit: Exit::Code(0),
            interrupted: false,
            start_ns: 0,
            wall_s: 1.0,
            user_s: 1.0,
            system_s: 0.0,
            memory_bytes: None,
            cpu: Counts::default(),
            traces: vec![Trace {
                readings: vec![(0.0, 1.0), (0.5, 2.0)],
                ..Trace::default()
            }],
            gpus: Vec::new(),
            host_sensor: None,
            from_table: false,
            counters: Vec::new(),
            notes: Vec::new(),
            provenance: Value::Null,
        }
    }

    #[test]
    fn a_negative_time_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        recorded().write(dir.path()).unwrap();
        assert_eq!(Recorded::read(dir.path()).unwrap(), recorded());
        let mut bad = recorded();
        bad.wall_s = -1.0;
        bad.write(dir.path()).unwrap();
        let e = Recorded::read(dir.path()).unwrap_err().to_string();
        assert!(e.contains("run.json") && e.contains("wall_s"), "{e}");
    }

    #[test]
    fn lost_activity_is_noticed() {
        let mut r = recorded();
        assert!(!r.lacks(&[]));
        r.gpus.push(GpuFacts {
            name: "GPU".into(),
            bus_id: "0000:1b:00.0".into(),
            multiprocessors: 0,
            sensor: None,
        });
        assert!(r.lacks(&[]) && !r.lacks(&[Activity::default()]));
        r.notes.push(NO_ACTIVITY.into());
        assert!(!r.lacks(&[]));
    }
}
