//! The sensors of a run: opened once, read by the collector when a new value is due.

use crate::clock::{MeterClock, now};
use crate::curve::Curve;
use greenup_meter::sensors::simulated::Simulated;
use greenup_meter::{Problem, Quantity, Sensor, SensorError, SensorInfo, sensors};
use std::collections::HashSet;

/// Time between two readings of a sensor whose tick is not known yet, ns.
const POLL: u64 = 5_000_000;

/// The same shortly before a tick is expected.
const POLL_NEAR: u64 = 2_000_000;

/// A sensor, and its energy over time.
pub struct Source {
    sensor: Box<dyn Sensor>,
    pub curve: Curve,
    clock: MeterClock,
    due: u64,
    opened: u64,
    /// Why it is no longer read.
    pub failed: Option<String>,
}

impl Source {
    pub fn new(sensor: Box<dyn Sensor>, clock: MeterClock) -> Self {
        let quantity = sensor.info().quantity;
        Self {
            sensor,
            curve: Curve::new(quantity),
            clock,
            due: 0,
            opened: now(),
            failed: None,
        }
    }

    pub fn info(&self) -> &SensorInfo {
        self.sensor.info()
    }

    /// What it passed over.
    pub fn notes(&self) -> Vec<String> {
        let id = &self.info().id;
        let notes = self.sensor.notes();
        notes.iter().map(|n| format!("sensor {id}: {n}")).collect()
    }

    /// When it is to be read again.
    pub fn due(&self) -> u64 {
        if self.failed.is_some() {
            u64::MAX
        } else {
            self.due
        }
    }

    /// Whether nothing waits for it: it failed, or its value has not changed for long. Some counters never move.
    pub fn is_silent(&self) -> bool {
        let last = self.curve.known_until().unwrap_or(self.opened);
        let patience = (10 * self.curve.tick().unwrap_or(0)).max(1_000_000_000);
        self.failed.is_some() || now() > last + patience
    }

    /// Reads it, if it is due.
    pub fn read(&mut self) {
        if self.failed.is_some() || now() < self.due {
            return;
        }
        let mut new = Vec::new();
        let done = self.sensor.read_since(&mut new);
        let mut changed = false;
        for r in new {
            changed |= self.curve.push(self.clock.at(r.at_s), r.value);
        }
        match done {
            // Its next value counts from the new one.
            Ok(())
            | Err(
                SensorError::Backwards { .. }
                | SensorError::NotYet { .. }
                | SensorError::Stuck { .. },
            ) => {}
            Err(e) => {
                self.failed = Some(e.to_string());
                return;
            }
        }
        let t = now();
        let tick = self.curve.tick().unwrap_or(0);
        self.due = if tick < 4 * POLL || self.curve.ticks() < 4 {
            t + POLL
        } else if changed {
            // Most readings before the next tick would show nothing new, and some block for milliseconds.
            t + tick * 17 / 20
        } else {
            t + POLL_NEAR
        };
    }
}

/// Opens the sensors named, or the best one of each device; with what cannot be used.
pub fn open(named: &[String]) -> (Vec<Source>, Vec<Problem>) {
    let clock = MeterClock::new();
    let mut problems = Vec::new();
    let mut opened = Vec::new();
    if named.iter().any(|n| n == "none") {
        problems.push(Problem {
            id: "none".into(),
            present: false,
            cause: "switched off by GREENUP_REGIONS_SENSOR=none".into(),
            fix: String::new(),
        });
        return (Vec::new(), problems);
    }
    let own = |name: &String| simulated(name).or_else(|| sensors::open_named(name));
    let mut of_host: Vec<&String> = Vec::new();
    for name in named {
        match own(name) {
            Some(Ok(sensor)) => opened.push(sensor),
            Some(Err(problem)) => problems.push(problem),
            None => of_host.push(name),
        }
    }
    if named.is_empty() || !of_host.is_empty() {
        let mut groups = HashSet::new();
        let mut ids = Vec::new();
        for found in sensors::discover() {
            match found {
                Ok(sensor) => {
                    let info = sensor.info();
                    ids.push(info.id.clone());
                    let wanted = if named.is_empty() {
                        is_default(info) && groups.insert(info.group.clone())
                    } else {
                        of_host
                            .iter()
                            .any(|n| info.id == **n || info.id.starts_with(&format!("{n}:")))
                    };
                    if wanted {
                        opened.push(sensor);
                    }
                }
                Err(problem) if named.is_empty() || of_host.iter().any(|n| **n == problem.id) => {
                    problems.push(problem);
                }
                Err(_) => {}
            }
        }
        for name in of_host {
            let known = ids
                .iter()
                .any(|i| i == name || i.starts_with(&format!("{name}:")))
                || problems.iter().any(|p| p.id == *name);
            if !known {
                problems.push(Problem {
                    id: name.clone(),
                    present: false,
                    cause: format!("unknown sensor `{name}`"),
                    fix: "`greenup doctor` lists the sensors of this host".into(),
                });
            }
        }
    }
    let sources = opened.into_iter().map(|s| Source::new(s, clock)).collect();
    (sources, problems)
}

/// Whether a sensor is read when the user names none: counters, and power that is not averaged over a second.
fn is_default(info: &SensorInfo) -> bool {
    if info.average_s.is_some_and(|s| s >= 1.0) {
        return false;
    }
    match info
        .id
        .strip_prefix("nvml:")
        .and_then(|r| r.split(':').next())
    {
        Some(gpu) => is_visible(
            gpu,
            crate::config::variable("CUDA_VISIBLE_DEVICES").as_deref(),
        ),
        None => true,
    }
}

/// Whether the process may use the GPU with this number: `visible` is CUDA's list. A list that holds something else than
/// numbers hides nothing.
fn is_visible(gpu: &str, visible: Option<&str>) -> bool {
    let Some(visible) = visible else { return true };
    if visible.trim().is_empty() || visible.trim() == "-1" {
        return false;
    }
    let listed: Vec<&str> = visible.split(',').map(str::trim).collect();
    if listed
        .iter()
        .any(|n| n.is_empty() || n.parse::<u32>().is_err())
    {
        return true;
    }
    listed.contains(&gpu)
}

/// `simulated:WATTS[:TICK_S]`: an energy counter of constant power, for tests and for trying regions out.
fn simulated(name: &str) -> Option<greenup_meter::sensor::OpenedSensor> {
    let rest = name.strip_prefix("simulated:")?;
    let mut fields = rest.split(':').map(str::parse::<f64>);
    let watts = fields.next().and_then(Result::ok);
    let tick = match fields.next() {
        None => Some(0.1),
        Some(t) => t.ok(),
    };
    let ok = |x: &f64| x.is_finite() && *x > 0.0;
    Some(match (watts.filter(ok), tick.filter(ok), fields.next()) {
        (Some(watts), Some(tick), None) => {
            Ok(Box::new(Simulated::new(name, Quantity::Energy, move |t| {
                Ok((t / tick).floor() * tick * watts)
            })))
        }
        _ => Err(Problem {
            id: name.to_owned(),
            present: false,
            cause: format!("`{name}` is not a simulated sensor"),
            fix: "write simulated:WATTS or simulated:WATTS:TICK_S, both positive".into(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_that_cuda_may_not_use_are_not_read() {
        assert!(is_visible("1", None));
        assert!(is_visible("1", Some("0,1")));
        assert!(!is_visible("1", Some("0")));
        assert!(is_visible("1", Some("GPU-abc")));
        assert!(!is_visible("1", Some("")) && !is_visible("0", Some("-1")));
    }

    #[test]
    fn simulated_sensors_are_checked() {
        let (sources, problems) = open(&["simulated:100:0.02".into(), "simulated:-1".into()]);
        assert_eq!((sources.len(), problems.len()), (1, 1));
        assert!(problems[0].fix.contains("WATTS"));
        let (sources, problems) = open(&["none".into()]);
        assert!(sources.is_empty() && problems[0].cause.contains("none"));
        let (_, problems) = open(&["nvml:77".into()]);
        assert!(problems[0].cause.contains("nvml:77"), "{problems:?}");
    }

    #[test]
    fn a_slow_counter_is_read_near_its_ticks() {
        let (mut sources, _) = open(&["simulated:100:0.05".into()]);
        let source = &mut sources[0];
        let start = now();
        let mut reads = 0;
        while now() < start + 600_000_000 {
            if now() >= source.due() {
                source.read();
                reads += 1;
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        assert!(source.curve.ticks() >= 9, "{}", source.curve.ticks());
        assert!(reads < 110, "{reads}");
        let to = source.curve.known_until().unwrap();
        let e = source.curve.between(to - 400_000_000, to).unwrap();
        assert!((e - 40.0).abs() < 2.0, "{e}");
    }
}
