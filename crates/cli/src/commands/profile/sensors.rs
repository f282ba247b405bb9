//! The GPUs of this host and the sensors that are read while a program runs.

use crate::args::{MethodOfProfile, ProfileArgs};
use greenup_app::error::Result;
use greenup_app::{print, sensors};
use greenup_device::cuda::Gpu;
use greenup_meter::Sensor;
use greenup_meter::choose::{Target, found};
use greenup_meter::sensors::nvml;
use greenup_profile::record::GpuFacts;

/// Sensors, and what each of them watches.
pub struct Watched {
    pub sensors: Vec<Box<dyn Sensor>>,
    pub gpus: Vec<GpuFacts>,
    pub host: Option<String>,
    /// Of a device that the host does not show, such as one that an external meter watches.
    pub other: Option<String>,
    pub notes: Vec<String>,
}

/// Whether only the user knows what this sensor watches.
fn is_external(id: &str) -> bool {
    ["external:", "recorded:"].iter().any(|p| id.starts_with(p))
}

pub fn watched(args: &ProfileArgs, all: &[Gpu]) -> Result<Watched> {
    let facts = |g: &Gpu| GpuFacts {
        name: g.name.clone(),
        bus_id: g.bus_id.clone(),
        multiprocessors: g.multiprocessors,
        sensor: None,
    };
    let mut out = Watched {
        sensors: Vec::new(),
        gpus: all.iter().map(facts).collect(),
        host: None,
        other: None,
        notes: Vec::new(),
    };
    match args.sensor.sensor.as_deref() {
        Some("none") => out.notes.push("no joules: --sensor none".into()),
        Some(named) => out.named(named, all)?,
        None => {
            out.of_gpus(all);
            out.of_host(args)?;
        }
    }
    Ok(out)
}

/// NVML's number of a GPU.
fn number(gpu: &Gpu) -> Option<u32> {
    Some(nvml::index(sensors::bus_id(gpu).ok()?).ok()?.get())
}

impl Watched {
    fn named(&mut self, named: &str, all: &[Gpu]) -> Result {
        let mut chosen = sensors::sensors(Some(named), sensors::ANY, 0.3)?;
        if chosen.sensors.is_empty() {
            return Ok(());
        }
        let sensor = chosen.sensors.swap_remove(0);
        let id = sensor.info().id.clone();
        let of = |g: &&Gpu| number(g).is_some_and(|n| id.starts_with(&format!("nvml:{n}:")));
        match all.iter().find(of) {
            Some(gpu) => self.assign(&gpu.bus_id, &id),
            None if is_external(&id) && all.len() == 1 => self.assign(&all[0].bus_id, &id),
            // Of several GPUs it watches none alone.
            None if is_external(&id) && all.len() > 1 => {}
            None if is_external(&id) => self.other = Some(id),
            None => self.host = Some(id),
        }
        self.sensors.push(sensor);
        Ok(())
    }

    fn assign(&mut self, bus: &str, id: &str) {
        for g in self.gpus.iter_mut().filter(|g| g.bus_id == bus) {
            g.sensor = Some(id.to_owned());
        }
    }

    /// The energy counter of each GPU, else its power.
    fn of_gpus(&mut self, all: &[Gpu]) {
        if all.is_empty() {
            return;
        }
        let mut usable: Vec<Box<dyn Sensor>> = found(None).into_iter().flatten().collect();
        for gpu in all {
            let at = number(gpu).and_then(|n| {
                ["energy", "average", "instant"].iter().find_map(|kind| {
                    let id = format!("nvml:{n}:{kind}");
                    usable.iter().position(|s| s.info().id == id)
                })
            });
            match at {
                Some(k) => {
                    let sensor = usable.swap_remove(k);
                    let id = sensor.info().id.clone();
                    self.assign(&gpu.bus_id, &id);
                    self.sensors.push(sensor);
                }
                None => self.notes.push(format!(
                    "no energy sensor of {} at {}: `greenup doctor` explains why",
                    gpu.name, gpu.bus_id
                )),
            }
        }
    }

    fn of_host(&mut self, args: &ProfileArgs) -> Result {
        let mut chosen = sensors::sensors(None, Target::Host, 0.3)?;
        if chosen.sensors.is_empty() {
            if args.method == MethodOfProfile::Cpu || self.gpus.is_empty() {
                let why = chosen.missing.unwrap_or_default();
                print::note(format!("no joules of the CPU: {why}"));
            }
            return Ok(());
        }
        let sensor = chosen.sensors.swap_remove(0);
        self.host = Some(sensor.info().id.clone());
        self.sensors.push(sensor);
        Ok(())
    }
}
