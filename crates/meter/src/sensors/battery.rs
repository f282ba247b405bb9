//! Discharge power of a battery from `/sys/class/power_supply`: the whole machine, when unplugged.

use super::sysfs;
use crate::sensor::OpenedSensor;
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use crate::sensors::external;
use std::path::{Path, PathBuf};

struct Battery {
    info: SensorInfo,
    dir: PathBuf,
}

/// One sensor for each battery below `root`.
pub fn discover(root: &Path) -> Vec<OpenedSensor> {
    let base = root.join("sys/class/power_supply");
    let mut found: Vec<OpenedSensor> = sysfs::subdirs(&base)
        .into_iter()
        .filter(|d| sysfs::text(&d.join("type")).as_deref() == Some("Battery"))
        .map(|dir| open(&dir))
        .collect();
    if found.is_empty() {
        found.push(Err(Problem {
            id: "battery".into(),
            present: false,
            cause: format!("no battery below {}", base.display()),
            fix: "none needed on a machine without a battery".into(),
        }));
    }
    found
}

fn open(dir: &Path) -> OpenedSensor {
    let name = dir
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let id = format!("battery:{name}");
    let status = sysfs::text(&dir.join("status")).unwrap_or_else(|| "unknown".into());
    let problem = |cause: String, fix: &str| Problem {
        id: id.clone(),
        present: true,
        cause,
        fix: fix.to_owned(),
    };
    if status != "Discharging" {
        return Err(problem(
            format!(
                "the battery is not discharging ({status}), so its flow is not the machine's power"
            ),
            "unplug the charger while measuring",
        ));
    }
    let has = |file: &str| dir.join(file).exists();
    if !(has("power_now") || has("current_now") && has("voltage_now")) {
        return Err(problem(
            "not offered by its firmware: neither power_now, nor current_now with voltage_now"
                .into(),
            &format!("use {}", external::suggestion()),
        ));
    }
    let mut battery = Battery {
        info: SensorInfo {
            id: id.clone(),
            scope: "whole machine, from its battery".into(),
            quantity: Quantity::Power,
            average_s: None,
            gain_error: None,
            group: "machine".into(),
        },
        dir: dir.to_owned(),
    };
    match battery.read() {
        Ok(_) => Ok(Box::new(battery)),
        Err(e) => Err(problem(
            e.to_string(),
            "run as root, or try again; a battery may have no value just after the charger is unplugged",
        )),
    }
}

impl Sensor for Battery {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let id = &self.info.id;
        let micro = |file: &str| sysfs::number(id, &self.dir.join(file)).map(|x| x.abs() * 1e-6);
        let watts = match micro("power_now") {
            Ok(watts) => watts,
            Err(e) if !self.dir.join("current_now").exists() => return Err(e),
            Err(_) => micro("current_now")? * micro("voltage_now")?,
        };
        Ok(Reading {
            at_s: now_s(),
            value: watts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn current_times_voltage_when_discharging() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("sys/class/power_supply/BAT0");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("type"), "Battery\n").unwrap();
        fs::write(dir.join("status"), "Charging\n").unwrap();
        fs::write(dir.join("current_now"), "-2000000\n").unwrap();
        fs::write(dir.join("voltage_now"), "12000000\n").unwrap();
        assert!(
            discover(root.path())[0]
                .as_ref()
                .err()
                .unwrap()
                .fix
                .contains("unplug")
        );
        fs::write(dir.join("status"), "Discharging\n").unwrap();
        let mut found = discover(root.path());
        assert!((found[0].as_mut().unwrap().read().unwrap().value - 24.0).abs() < 1e-9);
        // What was never there is not gone.
        fs::remove_file(dir.join("voltage_now")).unwrap();
        let found = discover(root.path());
        let p = found[0].as_ref().err().unwrap();
        assert!(
            p.cause.contains("not offered") && !p.cause.contains("gone"),
            "{p:?}"
        );
    }
}
