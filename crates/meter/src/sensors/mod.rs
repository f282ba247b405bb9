//! Every kind of sensor, and finding those of this host.

pub mod battery;
pub mod bus_id;
pub mod external;
pub mod hwmon;
pub mod nvml;
#[cfg(target_os = "linux")]
pub mod rapl_perf;
pub mod rapl_powercap;
pub mod simulated;
mod sysfs;

pub use bus_id::BusId;

use crate::sensor::{OpenedSensor, Sensor};
use std::path::Path;

/// Looks for every sensor of this host, the most trusted kinds first.
pub fn discover() -> Vec<OpenedSensor> {
    discover_below(Path::new("/"))
}

/// As [`discover`], with `/sys` taken below `root`.
pub fn discover_below(root: &Path) -> Vec<OpenedSensor> {
    let mut found = nvml::discover();
    found.extend(rapl_powercap::discover(root));
    #[cfg(target_os = "linux")]
    found.extend(rapl_perf::discover(root));
    found.extend(hwmon::discover(root));
    found.extend(battery::discover(root));
    found
}

/// How the ids of sensors of a host's CPU begin, in the order in which one is taken when the user names none.
pub(crate) const OF_HOSTS: &[&str] = &[
    "rapl:package",
    "rapl:perf-pkg",
    "rapl:psys",
    "rapl:perf-psys",
    "battery:",
    "hwmon:",
];

/// Opens a sensor that the user names: `external:FILE`, `external:cmd:COMMAND`, `recorded:FILE`.
///
/// Returns `None` for a name that is not of this form (it may be one of [`discover`]'s).
pub fn open_named(spec: &str) -> Option<OpenedSensor> {
    let result = if let Some(command) = spec.strip_prefix("external:cmd:") {
        external::External::command(command)
    } else if let Some(path) = spec.strip_prefix("external:") {
        external::External::follow(Path::new(path))
    } else {
        external::Recorded::open(Path::new(spec.strip_prefix("recorded:")?))
            .map(|s| Box::new(s) as Box<dyn Sensor>)
    };
    Some(result)
}
