//! Choosing the sensors of a measurement.

use crate::probe::{Diagnosis, probe};
use crate::sensor::{OpenedSensor, Problem, SensorInfo};
use crate::sensors::{BusId, OF_HOSTS, discover, nvml, open_named};
use crate::{Meter, Policy, Sensor};
use greenup_setting::setting;
use std::time::Duration;

/// Sensors ready to measure, the main one first, then those of its group.
pub struct Chosen {
    /// The sensors, main one first.
    pub sensors: Vec<Box<dyn Sensor>>,
    /// Change period of the main sensor, s; 0 without one.
    pub period_s: f64,
    /// Why there is no sensor.
    pub missing: Option<String>,
    /// Whether a sensor of an NVIDIA GPU answered, chosen or not.
    pub gpu_seen: bool,
}

impl Chosen {
    /// Id of the main sensor, if there is one.
    pub fn main(&self) -> Option<String> {
        self.sensors.first().map(|s| s.info().id.clone())
    }

    /// A meter of these sensors.
    pub fn meter(self, policy: Policy) -> Meter {
        Meter::new(self.sensors, self.period_s, policy)
    }
}

/// Sensors found on this host and those the user named.
pub fn found(named: Option<&str>) -> Vec<OpenedSensor> {
    let mut found = discover();
    if let Some(sensor) = named.and_then(open_named) {
        found.insert(0, sensor);
    }
    found
}

/// What runs the work that sensors are chosen for.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// This host's CPU.
    Host,
    /// A host, or where the host has no sensor the GPU that this finds.
    HostOr(fn() -> Option<BusId>),
    /// The GPU that sits there.
    Gpu(BusId),
}

/// Picks the sensor named, or the best one for work on the CPU or on a GPU, and probes that it
/// moves under `load`, which keeps the host busy for about the seconds it is given.
///
/// # Errors
/// When the named sensor does not exist or is not usable, or the GPU is unknown to a driver that is here.
pub fn sensors(
    named: Option<&str>,
    target: Target,
    probe_s: f64,
    load: &mut dyn FnMut(f64),
) -> Result<Chosen, Problem> {
    if named == Some("none") {
        return Ok(Chosen {
            sensors: Vec::new(),
            period_s: 0.0,
            missing: Some(format!("switched off by {}", setting("sensor").to("none"))),
            gpu_seen: false,
        });
    }
    let found = found(named);
    let gpu = match target {
        // Where NVML has no sensor, none can be taken for the wrong GPU's.
        Target::Gpu(bus_id)
            if named.is_none() && found.iter().flatten().any(|s| of_nvml(s.info())) =>
        {
            Some(nvml::index(bus_id)?)
        }
        _ => None,
    };
    if found.iter().all(OpenedSensor::is_err) && named.is_none() {
        return Ok(none(
            false,
            "no energy sensor on this host; run `greenup doctor` for the cause",
        ));
    }
    // A GPU's counter moves at rest too, and its dynamic range is the doctor's business.
    let (mut usable, diagnoses) = match (gpu, named) {
        (Some(gpu), None) => {
            let own = format!("nvml:{}:", gpu.get());
            let of_gpu =
                |s: &OpenedSensor| s.as_ref().map_or(true, |s| s.info().id.starts_with(&own));
            let found = found.into_iter().filter(of_gpu).collect();
            let rest = &mut |s: f64| std::thread::sleep(Duration::from_secs_f64(s));
            probe(found, 0.0, probe_s, rest)
        }
        _ => probe(found, probe_s, probe_s, load),
    };
    let gpu_seen = diagnoses
        .iter()
        .any(|d| d.usable && d.id.starts_with("nvml:"));
    let main = match named {
        Some(name) => {
            let at = usable
                .iter()
                .position(|s| s.info().id == name || s.info().id.starts_with(&format!("{name}:")));
            Some(at.ok_or_else(|| unusable(name, &diagnoses))?)
        }
        None => {
            let of_hosts: Vec<String> = OF_HOSTS.iter().map(|p| (*p).to_owned()).collect();
            let at = |ids: &[String]| {
                ids.iter()
                    .find_map(|p| usable.iter().position(|s| s.info().id.starts_with(p)))
            };
            match target {
                Target::Host => at(&of_hosts),
                Target::Gpu(_) => gpu.and_then(|g| at(&of_gpu(g))),
                Target::HostOr(find) => at(&of_hosts).or_else(|| {
                    let gpu = nvml::index(find()?).ok()?;
                    at(&of_gpu(gpu))
                }),
            }
        }
    };
    let Some(main) = main else {
        return Ok(none(
            gpu_seen,
            "no usable energy sensor for this device; run `greenup doctor` for the cause",
        ));
    };
    let first = usable.swap_remove(main);
    let group = first.info().group.clone();
    let period_s = diagnoses
        .iter()
        .find(|d| d.id == first.info().id)
        .and_then(|d| d.period_s)
        .unwrap_or(0.1);
    let mut sensors = vec![first];
    sensors.extend(usable.into_iter().filter(|s| s.info().group == group));
    Ok(Chosen {
        sensors,
        period_s,
        missing: None,
        gpu_seen,
    })
}

fn of_nvml(info: &SensorInfo) -> bool {
    info.id.starts_with("nvml:")
}

/// Starts of the ids of a GPU's sensors, best first.
fn of_gpu(gpu: nvml::GpuIndex) -> [String; 2] {
    ["energy", "instant"].map(|what| format!("nvml:{}:{what}", gpu.get()))
}

fn none(gpu_seen: bool, why: &str) -> Chosen {
    Chosen {
        gpu_seen,
        sensors: Vec::new(),
        period_s: 0.0,
        missing: Some(why.to_owned()),
    }
}

fn unusable(name: &str, diagnoses: &[Diagnosis]) -> Problem {
    // What a whole device lacks is said once.
    let fits = |d: &&Diagnosis| d.id == name || name.starts_with(&format!("{}:", d.id));
    match diagnoses.iter().find(fits) {
        Some(d) => Problem {
            id: name.to_owned(),
            present: true,
            cause: d.cause.clone().unwrap_or_else(|| "unknown cause".into()),
            fix: d.fix.clone().unwrap_or_default(),
        },
        None => Problem {
            id: name.to_owned(),
            present: false,
            cause: format!("unknown sensor `{name}`"),
            fix: format!(
                "this host has {}; or give external:FILE, external:cmd:COMMAND, recorded:FILE",
                diagnoses
                    .iter()
                    .map(|d| d.id.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        },
    }
}
