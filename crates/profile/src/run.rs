//! Runs a program once while its sensors are read.

use crate::cpu::Counts;
use crate::joules::{State, Trace};
use greenup_meter::sensor::now_s;
use greenup_meter::{DeviceState, Quantity, Reading, Sensor, SensorError, SensorInfo, sampler};
use greenup_process::group::{Group, OnInterrupt, Waited};
use greenup_process::watch::Watch;
use greenup_setting::setting;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// More variables of its environment.
    pub environment: Vec<(&'static str, OsString)>,
    /// Its standard input; none without.
    pub input: Option<PathBuf>,
    /// Whether its standard output goes to standard error, as standard output is for data.
    pub to_stderr: bool,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Exit code.
    Code(i32),
    /// Number of the signal that killed it.
    Signal(i32),
}

/// Facts of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// Start, ns of the monotonic clock.
    pub start_ns: u64,
    /// Time until its end, s.
    pub wall_s: f64,
    /// CPU time in user space, s.
    pub user_s: f64,
    /// CPU time in the kernel, s.
    pub system_s: f64,
    /// Largest resident memory, bytes; `None` for a program that ended before it could be seen.
    pub memory_bytes: Option<f64>,
    /// Counters of the CPU.
    pub counts: Counts,
    /// Readings of each sensor.
    pub traces: Vec<Trace>,
    /// What the sensors passed over.
    pub notes: Vec<String>,
}

/// A program that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It cannot be started.
    #[error("`{program}` cannot be started: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// The system's message.
        cause: std::io::Error,
    },
    /// It cannot be waited for.
    #[error("`{program}` {cause}")]
    Lost {
        /// The program.
        program: String,
        /// What happened.
        cause: String,
    },
}

/// Time between two readings, s: an energy counter of a GPU changes every 0.1 s.
const INTERVAL_S: f64 = 0.05;
/// Sensors are read so long before and after, s, for a change of the counter on both sides.
const LEAD_S: f64 = 0.35;

/// Nanoseconds of the monotonic clock.
fn monotonic_ns() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

type States = Arc<Mutex<Vec<(f64, DeviceState)>>>;

/// A sensor whose device is looked at with each reading.
struct Watched {
    inner: Box<dyn Sensor>,
    states: States,
}

impl Sensor for Watched {
    fn info(&self) -> &SensorInfo {
        self.inner.info()
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let out = self.inner.read();
        self.look();
        out
    }

    fn read_since(&mut self, out: &mut Vec<Reading>) -> Result<(), SensorError> {
        let done = self.inner.read_since(out);
        self.look();
        done
    }

    fn period_s(&self) -> Option<f64> {
        self.inner.period_s()
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }
}

impl Watched {
    fn look(&mut self) {
        let state = self.inner.state();
        let mut all = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((now_s(), state));
    }
}

/// Runs a program; an interrupt kills it and all that it started, and what was read until then is the result.
///
/// # Errors
/// It cannot be started.
pub fn run(program: &Program, sensors: Vec<Box<dyn Sensor>>) -> Result<Ran, RunError> {
    let mut logs: Vec<(String, Quantity, States)> = Vec::new();
    let mut watched: Vec<Box<dyn Sensor>> = Vec::new();
    for inner in sensors {
        let states = States::default();
        logs.push((
            inner.info().id.clone(),
            inner.info().quantity,
            Arc::clone(&states),
        ));
        watched.push(Box::new(Watched { inner, states }));
    }
    let lead = || {
        if !logs.is_empty() {
            std::thread::sleep(Duration::from_secs_f64(LEAD_S));
        }
    };
    let (done, traces, _) = sampler::sample(&mut watched, INTERVAL_S, || {
        lead();
        let done = alone(program);
        lead();
        done
    });
    let (mut ran, start_s) = done?;
    for (trace, (id, quantity, states)) in traces.into_iter().zip(&logs) {
        let mut out = Trace::reduced(id, *quantity, &trace.readings, start_s);
        let all = states.lock().unwrap_or_else(PoisonError::into_inner);
        out.states = (all.iter())
            .map(|(at, s)| State {
                at_s: at - start_s,
                clock_hz: s.clock_hz,
                temperature_c: s.temperature_c,
                throttle: s.throttle.clone(),
            })
            .collect();
        if let Some(SensorError::Backwards { .. } | SensorError::Stuck { .. }) = &trace.error {
            // What lies around such a time is no energy.
            out.readings.clear();
        }
        out.error = trace.error.map(|e| e.to_string());
        ran.traces.push(out);
    }
    for sensor in &watched {
        let id = &sensor.info().id;
        let notes = sensor.notes();
        ran.notes
            .extend(notes.iter().map(|n| format!("the sensor {id}: {n}")));
    }
    Ok(ran)
}

fn alone(program: &Program) -> Result<(Ran, f64), RunError> {
    let name = program.command.first().cloned().unwrap_or_default();
    let failed = |cause| RunError::NotStarted {
        program: name.clone(),
        cause,
    };
    let mut command = Command::new(&name);
    command.args(program.command.iter().skip(1));
    command.envs(program.environment.iter().map(|(k, v)| (k, v)));
    command.stdin(match &program.input {
        Some(path) => std::fs::File::open(path).map_err(failed)?.into(),
        None => Stdio::null(),
    });
    if program.to_stderr {
        let fd = std::io::stderr()
            .as_fd()
            .try_clone_to_owned()
            .map_err(failed)?;
        command.stdout(Stdio::from(fd));
    }
    #[cfg(target_os = "linux")]
    let perf = crate::cpu::Perf::start();
    let mut watch = Watch::new();
    let (start_ns, start_s) = (monotonic_ns(), now_s());
    let mut group = Group::spawn(&mut command, OnInterrupt::Kill).map_err(failed)?;
    let lost = |cause: String| RunError::Lost {
        program: name.clone(),
        cause,
    };
    let waited = group
        .wait_watching(&mut watch)
        .map_err(|e| lost(e.to_string()))?;
    let wall_s = now_s() - start_s;
    if waited == Waited::WantsTerminal {
        let file = setting("input").to("FILE");
        return Err(lost(format!(
            "wants to read from the terminal, which a profiled program has not; {file} gives it a file"
        )));
    }
    let (status, usage) = group.reap_with_usage().map_err(|e| lost(e.to_string()))?;
    #[cfg(target_os = "linux")]
    let mut counts = perf.finish();
    #[cfg(not(target_os = "linux"))]
    let mut counts = Counts {
        missing: Some("perf events are of Linux".into()),
        ..Counts::default()
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    let used = watch.used(&usage);
    // The kernel's event counts only switches within the program.
    counts.context_switches = Some(used.switches as f64);
    counts.waited_for_core_s = used.waited_s;
    Ok((
        Ran {
            exit: match status.signal() {
                Some(n) => Exit::Signal(n),
                None => Exit::Code(status.code().unwrap_or(-1)),
            },
            start_ns,
            wall_s,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            memory_bytes: used.peak_bytes.map(|b| b as f64),
            counts,
            traces: Vec::new(),
            notes: Vec::new(),
        },
        start_s,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::sensors::simulated::Simulated;

    fn program(words: &[&str]) -> Program {
        Program {
            command: words.iter().map(|w| (*w).to_owned()).collect(),
            to_stderr: true,
            ..Program::default()
        }
    }

    #[test]
    fn joules_of_a_run_are_read_while_it_runs() {
        let counter = Simulated::new("sim", Quantity::Energy, |t: f64| {
            Ok(200.0 * (t / 0.1).floor() * 0.1)
        });
        let ran = run(&program(&["sleep", "1"]), vec![Box::new(counter)]).unwrap();
        assert_eq!(ran.exit, Exit::Code(0));
        let j = ran.traces[0].joules(0.0, ran.wall_s).unwrap();
        assert!(
            (j / (200.0 * ran.wall_s) - 1.0).abs() < 0.1,
            "{j} {}",
            ran.wall_s
        );
    }

    #[test]
    fn exit_codes_and_missing_programs_are_reported() {
        let ran = run(&program(&["sh", "-c", "exit 3"]), vec![]).unwrap();
        assert_eq!((ran.exit, ran.traces.len()), (Exit::Code(3), 0));
        let e = run(&program(&["/no/such/program"]), vec![]).unwrap_err();
        assert!(e.to_string().contains("/no/such/program"), "{e}");
    }
}
