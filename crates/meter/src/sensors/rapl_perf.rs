//! RAPL through perf events (`power/energy-*`), which needs CAP_PERFMON instead of root.

use super::sysfs;
use crate::perf::Counter;
use crate::sensor::OpenedSensor;
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use greenup_process::descriptor::Identity;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

struct PerfEnergy {
    info: SensorInfo,
    /// One counter a package, and which file its descriptor is: a program that is measured from inside may close it.
    counters: Vec<(Counter, Option<Identity>)>,
    joules_per_count: f64,
}

/// One sensor for each `energy-*` event of the `power` PMU.
///
/// `root` is where the events are listed; they are always opened on the running kernel.
pub fn discover(root: &Path) -> Vec<OpenedSensor> {
    let pmu = root.join("sys/bus/event_source/devices/power");
    let mut events: Vec<String> = std::fs::read_dir(pmu.join("events"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| name.starts_with("energy-") && !name.contains('.'))
        .collect();
    events.sort();
    if events.is_empty() {
        return vec![Err(Problem {
            id: "rapl:perf".into(),
            present: false,
            cause: format!("no energy event below {}", pmu.display()),
            fix: "needs bare-metal x86 with the kernel's RAPL PMU; use an external meter elsewhere"
                .into(),
        })];
    }
    let cpus = sysfs::text(&pmu.join("cpumask"))
        .map(|mask| {
            mask.split(',')
                .filter_map(|c| c.split('-').next()?.trim().parse().ok())
                .collect()
        })
        .unwrap_or_else(|| vec![0]);
    events.iter().map(|e| open(&pmu, e, &cpus)).collect()
}

fn open(pmu: &Path, event: &str, cpus: &[usize]) -> OpenedSensor {
    let short = event.trim_start_matches("energy-");
    let id = format!("rapl:perf-{short}");
    let build = || -> io::Result<(Vec<Counter>, f64)> {
        let (kind, config, scale) = described(pmu, event)?;
        // The RAPL PMU refuses any exclusion and counts per package, not per process.
        let counters = (cpus.iter())
            .map(|&cpu| Counter::of_core(kind, config, cpu))
            .collect::<io::Result<_>>()?;
        Ok((counters, scale))
    };
    let (counters, joules_per_count) = build().map_err(|e| problem(&id, &e))?;
    let domain = match short {
        "pkg" => "package",
        "cores" => "core",
        "ram" => "dram",
        "gpu" => "uncore",
        other => other,
    };
    Ok(Box::new(PerfEnergy {
        info: SensorInfo {
            id,
            scope: format!("RAPL domain `{short}` by perf, {} package(s)", cpus.len()),
            quantity: Quantity::Energy,
            average_s: None,
            gain_error: None,
            group: format!("cpu-{domain}"),
        },
        counters: (counters.into_iter())
            .map(|c| {
                let identity = Identity::of(c.as_raw_fd());
                (c, identity)
            })
            .collect(),
        joules_per_count,
    }))
}

/// Type of the unit, number of its event, and joules a count, as the kernel describes them.
fn described(pmu: &Path, event: &str) -> io::Result<(u32, u64, f64)> {
    let unknown = |what: &str, text: &str| {
        io::Error::other(format!("{what} of {event} cannot be read: {text:?}"))
    };
    let read = |name: &str| {
        let text = std::fs::read_to_string(pmu.join(name))?;
        io::Result::Ok(text.trim().to_owned())
    };
    let kind = read("type")?;
    let number = read(&format!("events/{event}"))?;
    let scale = read(&format!("events/{event}.scale"));
    let hexadecimal = number.strip_prefix("event=0x");
    Ok((
        kind.parse().map_err(|_| unknown("the type", &kind))?,
        hexadecimal
            .and_then(|h| u64::from_str_radix(h, 16).ok())
            .ok_or_else(|| unknown("the number", &number))?,
        match scale {
            Ok(text) => text.parse().map_err(|_| unknown("the scale", &text))?,
            Err(_) => 2f64.powi(-32),
        },
    ))
}

/// Why an event cannot be counted, by the error's code.
fn problem(id: &str, e: &std::io::Error) -> Problem {
    let (cause, fix) = match e.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => (
            format!("the kernel lets this user not count it ({e})"),
            "run as root, or `sudo setcap cap_perfmon=ep` on this program, or \
               `sudo sysctl kernel.perf_event_paranoid=0`",
        ),
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::EOPNOTSUPP | libc::EINVAL) => (
            format!("not offered by this processor, though the kernel lists it ({e})"),
            "none: virtual machines list events that they have not; use an external meter there",
        ),
        Some(libc::EMFILE | libc::ENFILE) => {
            (e.to_string(), "raise the limit of open files (`ulimit -n`)")
        }
        Some(libc::EBUSY) => (e.to_string(), "end the other program that counts it"),
        _ => (
            e.to_string(),
            "see `perf stat -e power/energy-pkg/ -a sleep 1`",
        ),
    };
    Problem {
        id: id.to_owned(),
        present: true,
        cause,
        fix: fix.to_owned(),
    }
}

impl Sensor for PerfEnergy {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let mut counts = 0;
        for (counter, identity) in &self.counters {
            let gone = |cause: String| SensorError::Gone {
                id: self.info.id.clone(),
                cause,
            };
            if Identity::of(counter.as_raw_fd()) != *identity {
                return Err(gone("the program closed its descriptor".into()));
            }
            counts += counter.read().map_err(|e| gone(e.to_string()))?.value;
        }
        Ok(Reading {
            at_s: now_s(),
            value: counts as f64 * self.joules_per_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_described_by_the_kernels_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("events")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("type", "12\n");
        write("events/energy-pkg", "event=0x02\n");
        write("events/energy-ram", "event=0x03,umask=0x1\n");
        let read = |event: &str| described(dir.path(), event);
        assert_eq!(read("energy-pkg").unwrap(), (12, 2, 2f64.powi(-32)));
        write("events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
        assert_eq!(read("energy-pkg").unwrap().2, 2f64.powi(-32));
        assert!(
            read("energy-ram")
                .unwrap_err()
                .to_string()
                .contains("umask")
        );
        assert!(read("energy-gpu").is_err());
    }

    #[test]
    fn an_event_that_cannot_be_counted_is_told_by_its_code() {
        for (code, cause, fix) in [
            (libc::EACCES, "lets this user not", "setcap"),
            (libc::ENOENT, "not offered", "external meter"),
            (libc::EMFILE, "Too many open files", "ulimit"),
            (libc::EILSEQ, "os error 84", "perf stat"),
        ] {
            let p = problem("rapl:perf-pkg", &std::io::Error::from_raw_os_error(code));
            assert!(p.cause.contains(cause) && p.fix.contains(fix), "{p:?}");
        }
    }
}
