//! Power and energy files of `/sys/class/hwmon` (INA sensors of boards, amdgpu, amd_energy, PSUs).

use super::sysfs;
use crate::sensor::OpenedSensor;
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use std::path::{Path, PathBuf};

struct Channel {
    info: SensorInfo,
    file: PathBuf,
    scale: f64,
}

/// One sensor for each `energyN_input`, `powerN_input` or `powerN_average` below `root`.
pub fn discover(root: &Path) -> Vec<OpenedSensor> {
    let base = root.join("sys/class/hwmon");
    let mut found: Vec<OpenedSensor> = sysfs::subdirs(&base).iter().flat_map(|d| chip(d)).collect();
    if found.is_empty() {
        found.push(Err(Problem {
            id: "hwmon".into(),
            present: false,
            cause: format!("no power or energy channel below {}", base.display()),
            fix: "load the board's sensor driver (`sudo sensors-detect`), or use an external meter"
                .into(),
        }));
    }
    found
}

fn chip(dir: &Path) -> Vec<OpenedSensor> {
    let chip = sysfs::text(&dir.join("name")).unwrap_or_else(|| "chip".into());
    let number: String = dir
        .file_name()
        .map(|n| n.to_string_lossy().replace("hwmon", ""))
        .unwrap_or_default();
    let mut files: Vec<String> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|f| {
            (f.starts_with("energy") && f.ends_with("_input"))
                || (f.starts_with("power") && (f.ends_with("_input") || f.ends_with("_average")))
        })
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let channel = file.split('_').next().unwrap_or(file);
            let kind = if file.ends_with("_average") {
                "-average"
            } else {
                ""
            };
            let id = format!("hwmon:{number}:{channel}{kind}");
            let path = dir.join(file);
            if let Err(e) = std::fs::read_to_string(&path) {
                return Err(sysfs::unreadable(
                    &id,
                    &path,
                    &e,
                    "run as root, or make the file readable",
                ));
            }
            let label = sysfs::text(&dir.join(format!("{channel}_label")))
                .unwrap_or_else(|| channel.to_owned());
            Ok(Box::new(Channel {
                info: SensorInfo {
                    id,
                    scope: format!("{chip}: {label}"),
                    quantity: if file.starts_with("energy") {
                        Quantity::Energy
                    } else {
                        Quantity::Power
                    },
                    average_s: None,
                    gain_error: None,
                    group: format!("hwmon-{number}-{label}"),
                },
                file: path,
                scale: 1e-6,
            }) as Box<dyn Sensor>)
        })
        .collect()
}

impl Sensor for Channel {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        Ok(Reading {
            value: sysfs::number(&self.info.id, &self.file)? * self.scale,
            at_s: now_s(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn microwatts_become_watts() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("sys/class/hwmon/hwmon3");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("name"), "ina3221\n").unwrap();
        fs::write(dir.join("power1_input"), "2500000\n").unwrap();
        fs::write(dir.join("power1_label"), "VDD_IN\n").unwrap();
        let mut found = discover(root.path());
        let s = found[0].as_mut().unwrap();
        assert_eq!(s.info().id, "hwmon:3:power1");
        assert_eq!(s.info().scope, "ina3221: VDD_IN");
        assert_eq!(s.read().unwrap().value, 2.5);
        fs::write(dir.join("power1_input"), "N/A").unwrap();
        assert!(s.read().unwrap_err().to_string().contains("not a number"));
    }
}
