//! RAPL through `/sys/class/powercap`.
//!
//! Zones of one domain (the packages of a two-socket host) are summed into one sensor.

use super::sysfs;
use crate::sensor::OpenedSensor;
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use crate::wrap::Unwrap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PERMISSION_CURE: &str = "run as root, or `sudo chmod -R a+r /sys/class/powercap/intel-rapl*` \
     (root only since Linux 5.10, CVE-2020-8694)";

struct Zone {
    file: PathBuf,
    counter: Unwrap,
}

struct Domain {
    info: SensorInfo,
    zones: Vec<Zone>,
}

/// One sensor for each domain found below `root`.
pub fn discover(root: &Path) -> Vec<OpenedSensor> {
    let base = root.join("sys/class/powercap");
    let mut domains: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for dir in sysfs::subdirs(&base) {
        // The MMIO view of a package counts the same joules again.
        let mmio = dir
            .file_name()
            .is_some_and(|n| n.to_string_lossy().contains("mmio"));
        if let Some(name) = sysfs::text(&dir.join("name")).filter(|_| !mmio) {
            // package-0 and package-1 are one domain.
            let domain = name.split('-').next().unwrap_or(&name).to_owned();
            if dir.join("energy_uj").exists() {
                domains.entry(domain).or_default().push(dir);
            }
        }
    }
    if domains.is_empty() {
        return vec![Err(Problem {
            id: "rapl:powercap".into(),
            present: false,
            cause: format!("no RAPL domain below {}", base.display()),
            fix: "on bare metal `sudo modprobe intel_rapl_msr`; virtual machines and containers \
                   rarely have RAPL, use an external meter there"
                .into(),
        })];
    }
    domains.into_iter().map(|(d, z)| open(&d, &z)).collect()
}

fn open(domain: &str, dirs: &[PathBuf]) -> OpenedSensor {
    let id = format!("rapl:{domain}");
    let mut zones = Vec::new();
    for dir in dirs {
        let file = dir.join("energy_uj");
        if let Err(e) = std::fs::read_to_string(&file) {
            return Err(sysfs::unreadable(&id, &file, &e, PERMISSION_CURE));
        }
        let range = sysfs::text(&dir.join("max_energy_range_uj")).and_then(|s| s.parse().ok());
        zones.push(Zone {
            file,
            counter: Unwrap::new(range),
        });
    }
    let scope = match domain {
        "package" => "CPU package (cores, caches, memory controller; not DIMMs)",
        "dram" => "DIMMs",
        "core" => "CPU cores",
        "uncore" => "integrated graphics",
        "psys" => "whole platform as wired by the vendor",
        _ => "RAPL domain",
    };
    Ok(Box::new(Domain {
        info: SensorInfo {
            id,
            scope: format!("{scope}, {} zone(s)", zones.len()),
            quantity: Quantity::Energy,
            average_s: None,
            gain_error: None,
            group: format!("cpu-{domain}"),
        },
        zones,
    }))
}

impl Sensor for Domain {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let id = &self.info.id;
        let mut joules = 0.0;
        for zone in &mut self.zones {
            let raw = sysfs::number(id, &zone.file)? as u64;
            let total = zone.counter.push(raw).map_err(|e| SensorError::Backwards {
                id: id.clone(),
                from: e.from as f64 * 1e-6,
                to: e.to as f64 * 1e-6,
            })?;
            joules += total as f64 * 1e-6;
        }
        Ok(Reading {
            at_s: now_s(),
            value: joules,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fake(zones: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (dir, name, energy) in zones {
            let dir = root.path().join("sys/class/powercap").join(dir);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("name"), name).unwrap();
            fs::write(dir.join("energy_uj"), energy).unwrap();
            fs::write(dir.join("max_energy_range_uj"), "1000000000").unwrap();
        }
        root
    }

    #[test]
    fn packages_are_summed_and_wraps_followed() {
        let root = fake(&[
            ("intel-rapl:0", "package-0", "999000000"),
            ("intel-rapl:0:0", "dram", "5"),
            ("intel-rapl:1", "package-1", "1000000"),
            ("intel-rapl-mmio:0", "package-0", "7"),
        ]);
        let mut found = discover(root.path());
        assert_eq!(found.len(), 2);
        let package = found[1].as_mut().unwrap();
        assert_eq!(package.info().id, "rapl:package");
        assert_eq!(package.read().unwrap().value, 0.0);
        let base = root.path().join("sys/class/powercap");
        fs::write(base.join("intel-rapl:0/energy_uj"), "2000000").unwrap();
        fs::write(base.join("intel-rapl:1/energy_uj"), "4000000").unwrap();
        assert!((package.read().unwrap().value - 6.0).abs() < 1e-9);
        // Backwards by more than a wrap explains.
        fs::write(base.join("intel-rapl:1/energy_uj"), "3000000").unwrap();
        assert!(matches!(package.read(), Err(SensorError::Backwards { .. })));
        fs::remove_file(base.join("intel-rapl:1/energy_uj")).unwrap();
        assert!(matches!(package.read(), Err(SensorError::Gone { .. })));
    }

    #[test]
    fn absence_has_a_cause_and_a_fix() {
        let found = discover(Path::new("/nonexistent"));
        let problem = found[0].as_ref().err().unwrap();
        assert!(!problem.present && problem.fix.contains("modprobe"));
    }
}
