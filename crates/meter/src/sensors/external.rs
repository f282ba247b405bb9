//! An external meter: lines `time,watts` (seconds, W) from a file, a pipe or a command — the
//! successor of PowerMon — and a recorded trace of the same form.

use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use greenup_process::group::{Group, OnInterrupt};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Found;

/// A line of a power trace that is not a sample.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error("`{0}` is not `time,watts`")]
    Fields(String),
    #[error("`{0}` holds a value that cannot be a power")]
    NotAPower(String),
    #[error("`{0}` is not two numbers")]
    NotNumbers(String),
    #[error("time {0} does not rise")]
    Order(f64),
}

/// A line of a trace; `None` for a blank line, a comment or a header.
fn parse_line(line: &str, number: usize) -> Result<Option<(f64, f64)>, LineError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split(',').map(str::trim);
    let (Some(t), Some(w), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(LineError::Fields(line.to_owned()));
    };
    match (t.parse::<f64>(), w.parse::<f64>()) {
        (Ok(t), Ok(w)) if t.is_finite() && w.is_finite() && w >= 0.0 => Ok(Some((t, w))),
        (Ok(_), Ok(_)) => Err(LineError::NotAPower(line.to_owned())),
        // The first line may be a header.
        (Err(_), Err(_)) if number == 1 => Ok(None),
        _ => Err(LineError::NotNumbers(line.to_owned())),
    }
}

#[derive(Default)]
struct Shared {
    /// Newest sample: (host time, watts).
    newest: Option<Reading>,
    failure: Option<(usize, String)>,
    ended: bool,
}

/// A live meter whose lines a thread reads.
pub struct External {
    info: SensorInfo,
    source: String,
    shared: Arc<Mutex<Shared>>,
    /// Killed with all that it started when the sensor is dropped.
    _group: Option<Group>,
}

impl External {
    /// Follows a file that grows, or reads a pipe.
    ///
    /// # Errors
    /// The file or pipe cannot be opened.
    pub fn follow(path: &Path) -> Found {
        let id = format!("external:{}", path.display());
        let file = File::open(path).map_err(|e| Problem {
            id: id.clone(),
            present: false,
            cause: format!("{}: {e}", path.display()),
            fix: "name a file or pipe into which the meter writes lines `time,watts`".into(),
        })?;
        let regular = file.metadata().is_ok_and(|m| m.is_file());
        Ok(Box::new(Self::start(
            id,
            path.display().to_string(),
            file,
            regular,
            None,
        )))
    }

    /// Runs a command whose output is the meter.
    ///
    /// # Errors
    /// The command cannot be split or started.
    pub fn command(command: &str) -> Found {
        let id = format!("external:cmd:{command}");
        let problem = |cause: String| Problem {
            id: id.clone(),
            present: false,
            cause,
            fix: "name a command that prints lines `time,watts`".into(),
        };
        let words = shell_words::split(command).map_err(|e| problem(e.to_string()))?;
        let (program, args) = words
            .split_first()
            .ok_or_else(|| problem("the command is empty".into()))?;
        let mut command_line = Command::new(program);
        command_line
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        // What was measured until an interrupt still needs it.
        let mut group = Group::spawn(&mut command_line, OnInterrupt::Keep)
            .map_err(|e| problem(format!("{program}: {e}")))?;
        let stdout = group
            .take_stdout()
            .ok_or_else(|| problem("no output".into()))?;
        Ok(Box::new(Self::start(
            id.clone(),
            command.to_owned(),
            stdout,
            false,
            Some(group),
        )))
    }

    fn start(
        id: String,
        source: String,
        input: impl Read + Send + 'static,
        grows: bool,
        group: Option<Group>,
    ) -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let writer = Arc::downgrade(&shared);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(input);
            let mut line = String::new();
            let mut number = 0;
            // Host time minus meter time, by the line that came with the least delay.
            let mut offset = f64::INFINITY;
            loop {
                let whole = match reader.read_line(&mut line) {
                    Ok(_) => line.ends_with('\n'),
                    Err(_) => false,
                };
                // The sensor was dropped: its receiver is gone.
                let Some(shared) = writer.upgrade() else {
                    return;
                };
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if !whole {
                    if grows {
                        drop(shared);
                        std::thread::sleep(Duration::from_millis(2));
                        continue;
                    }
                    shared.ended = true;
                    return;
                }
                number += 1;
                match parse_line(&line, number) {
                    Ok(Some((t, value))) => {
                        offset = offset.min(now_s() - t);
                        shared.newest = Some(Reading {
                            at_s: t + offset,
                            value,
                        });
                    }
                    Ok(None) => {}
                    Err(cause) => {
                        shared.failure = Some((number, cause.to_string()));
                        return;
                    }
                }
                line.clear();
            }
        });
        Self {
            info: SensorInfo {
                id,
                scope: "whatever the external meter is clamped to".into(),
                quantity: Quantity::Power,
                average_s: None,
                gain_error: None,
                group: "external".into(),
            },
            source,
            shared,
            _group: group,
        }
    }
}

impl Sensor for External {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let id = || self.info.id.clone();
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((line, cause)) = &shared.failure {
            return Err(SensorError::Malformed {
                id: id(),
                source_name: self.source.clone(),
                line: *line,
                cause: cause.clone(),
            });
        }
        if shared.ended {
            return Err(SensorError::Gone {
                id: id(),
                cause: format!("{} ended", self.source),
            });
        }
        shared
            .newest
            .ok_or_else(|| SensorError::NotYet { id: id() })
    }
}

/// A recorded trace, replayed from the first reading on; after its end the sensor is gone.
pub struct Recorded {
    info: SensorInfo,
    samples: Vec<(f64, f64)>,
    start: Option<f64>,
}

impl Recorded {
    /// Loads a trace of lines `time,watts`.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Recorded::parse`].
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| not_a_trace(&name, format!("{name}: {e}")))?;
        Self::parse(&name, &text)
    }

    /// Parses a trace: lines `time,watts` in seconds and watts, times rising; `name` is used in
    /// its id and in errors.
    ///
    /// # Errors
    /// A line that is not a sample, times that do not rise, fewer than two samples.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        let mut samples: Vec<(f64, f64)> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let at =
                |cause: LineError| not_a_trace(name, format!("{name}, line {}: {cause}", i + 1));
            if let Some((t, w)) = parse_line(line, i + 1).map_err(at)? {
                if samples.last().is_some_and(|&(last, _)| t <= last) {
                    return Err(at(LineError::Order(t)));
                }
                samples.push((t, w));
            }
        }
        if samples.len() < 2 {
            return Err(not_a_trace(
                name,
                format!("{name} holds fewer than two samples"),
            ));
        }
        Ok(Self::new(name, samples))
    }

    /// A trace of (s, W), times rising.
    pub fn new(name: &str, samples: Vec<(f64, f64)>) -> Self {
        Self {
            info: SensorInfo {
                id: format!("recorded:{name}"),
                scope: "a recorded trace".into(),
                quantity: Quantity::Power,
                average_s: None,
                gain_error: None,
                group: "recorded".into(),
            },
            samples,
            start: None,
        }
    }
}

fn not_a_trace(name: &str, cause: String) -> Problem {
    Problem {
        id: format!("recorded:{name}"),
        present: false,
        cause,
        fix: "a trace is lines `time,watts`, time rising, in seconds and watts".into(),
    }
}

impl Sensor for Recorded {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let zero = *self.start.get_or_insert_with(now_s) - self.samples[0].0;
        let now = now_s() - zero;
        let next = self.samples.partition_point(|&(t, _)| t <= now);
        if next == self.samples.len() {
            return Err(SensorError::Gone {
                id: self.info.id.clone(),
                cause: "the trace has ended".into(),
            });
        }
        let (t, value) = self.samples[next.saturating_sub(1)];
        Ok(Reading {
            at_s: t + zero,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn wait_for(
        sensor: &mut dyn Sensor,
        ready: impl Fn(&Result<Reading, SensorError>) -> bool,
    ) -> Result<Reading, SensorError> {
        for _ in 0..500 {
            let r = sensor.read();
            if ready(&r) {
                return r;
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        sensor.read()
    }

    #[test]
    fn a_file_is_followed_and_its_bad_line_named() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "time,watts\n# meter 1\n0.0,5.0").unwrap();
        let mut s = External::follow(file.path()).ok().unwrap();
        let r = wait_for(s.as_mut(), Result::is_ok).unwrap();
        assert_eq!(r.value, 5.0);
        writeln!(file, "0.1,7.5").unwrap();
        let r = wait_for(s.as_mut(), |r| r.as_ref().is_ok_and(|r| r.value > 5.0)).unwrap();
        assert_eq!(r.value, 7.5);
        writeln!(file, "0.2,NaN").unwrap();
        let e = wait_for(s.as_mut(), Result::is_err)
            .unwrap_err()
            .to_string();
        assert!(e.contains("line 5") && e.contains("NaN"), "{e}");
    }

    #[test]
    fn a_command_that_ends_is_gone() {
        let mut s = External::command("printf '0,3\\n'").ok().unwrap();
        let e = wait_for(s.as_mut(), |r| matches!(r, Err(SensorError::Gone { .. }))).unwrap_err();
        assert!(matches!(e, SensorError::Gone { .. }));
        assert!(External::command("/no/such/meter").is_err());
    }

    #[test]
    fn a_dropped_meter_takes_all_that_it_started_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!(
            "sh -c 'sleep 1000 & echo $! > {}; echo 0,3; wait'",
            pid.display()
        );
        let mut s = External::command(&script).ok().unwrap();
        wait_for(s.as_mut(), Result::is_ok).unwrap();
        let below: i32 = std::fs::read_to_string(&pid)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        drop(s);
        let gone = || {
            // A process that ended may wait to be reaped by somebody else.
            let stat = std::fs::read_to_string(format!("/proc/{below}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        };
        for _ in 0..500 {
            if gone() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the meter's process {below} lives on");
    }

    #[test]
    fn recorded_traces_are_checked_and_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "0,1\n0,2").unwrap();
        let e = Recorded::open(file.path()).err().unwrap();
        assert!(e.cause.contains("line 2"), "{}", e.cause);
        let mut s = Recorded::new("t", vec![(5.0, 1.0), (5.01, 2.0)]);
        assert_eq!(s.read().unwrap().value, 1.0);
        std::thread::sleep(Duration::from_millis(15));
        assert!(matches!(s.read(), Err(SensorError::Gone { .. })));
    }
}
