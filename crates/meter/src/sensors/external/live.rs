//! A live meter, whose lines a thread reads.

use super::feed::Feed;
use super::input::{Input, open};
use super::line::lines;
use crate::sensor::{
    OpenedSensor, Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s,
};
use greenup_process::group::{Group, OnInterrupt};
use std::os::fd::IntoRawFd as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// Readings that wait to be fetched; then the older half goes.
const MOST_READINGS: usize = 1 << 20;

#[derive(Default)]
struct Shared {
    /// Newest reading.
    newest: Option<Reading>,
    /// Those that were not fetched yet.
    waiting: Vec<Reading>,
    failure: Option<(usize, String)>,
    ended: bool,
    stuck: bool,
    period_s: Option<f64>,
    why_none: Option<String>,
    notes: Vec<String>,
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
    /// Follows a file that grows, or reads a pipe or a serial line.
    ///
    /// # Errors
    /// The file or pipe cannot be opened.
    pub fn follow(path: &Path) -> OpenedSensor {
        let id = format!("external:{}", path.display());
        let problem = |cause: String| Problem {
            id: id.clone(),
            present: false,
            cause: format!("{}: {cause}", path.display()),
            fix: "name a file or pipe into which the meter writes lines `time,watts`".into(),
        };
        let file = open(path).map_err(|e| problem(e.to_string()))?;
        let meta = file.metadata().map_err(|e| problem(e.to_string()))?;
        if meta.is_dir() {
            return Err(problem("it is a folder".into()));
        }
        let source = path.display().to_string();
        let input =
            Input::of(file.into_raw_fd(), meta.is_file()).map_err(|e| problem(e.to_string()))?;
        Self::start(id.clone(), source, input, None).map_err(problem)
    }

    /// Runs a command whose output is the meter.
    ///
    /// # Errors
    /// The command cannot be split or started.
    pub fn command(command: &str) -> OpenedSensor {
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
        let input = Input::of(stdout.into_raw_fd(), false).map_err(|e| problem(e.to_string()))?;
        Self::start(id.clone(), command.to_owned(), input, Some(group)).map_err(problem)
    }

    fn start(
        id: String,
        source: String,
        mut input: Input,
        group: Option<Group>,
    ) -> Result<Box<dyn Sensor>, String> {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let writer = Arc::downgrade(&shared);
        let builder = std::thread::Builder::new().name("greenup-meter".into());
        let read = move || {
            let mut feed = Feed::default();
            loop {
                let got = input.batch();
                let arrival = now_s();
                // The sensor was dropped: its receiver is gone.
                let Some(shared) = writer.upgrade() else {
                    return;
                };
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let over = match got {
                    Ok(over) => over,
                    Err(e) => {
                        shared.failure = Some((0, e.to_string()));
                        return;
                    }
                };
                if input.lines.is_empty() && !over {
                    continue;
                }
                if shared.take(&mut feed, &input.lines, arrival).is_err() {
                    return;
                }
                if over {
                    shared.ended = true;
                    return;
                }
            }
        };
        builder.spawn(read).map_err(|e| format!("no thread: {e}"))?;
        Ok(Box::new(Self {
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
        }))
    }
}

impl Shared {
    /// Takes lines; an error when no more can be read.
    fn take(&mut self, feed: &mut Feed, bytes: &[u8], arrival: f64) -> Result<(), ()> {
        let text = String::from_utf8_lossy(bytes);
        let done = feed.push(lines(&text), arrival, &mut self.waiting);
        if let Some(last) = self.waiting.last() {
            self.newest = Some(*last);
        }
        if self.waiting.len() > MOST_READINGS {
            self.waiting.drain(..MOST_READINGS / 2);
        }
        self.stuck = feed.is_stuck();
        self.period_s = feed.period_s();
        self.why_none = feed.why_none();
        self.notes = feed.notes();
        done.map_err(|(line, e)| self.failure = Some((line, e.to_string())))
    }
}

impl External {
    fn check(&self, shared: &Shared) -> Result<Reading, SensorError> {
        let id = || self.info.id.clone();
        if let Some((line, cause)) = &shared.failure {
            return Err(SensorError::Malformed {
                id: id(),
                source_name: self.source.clone(),
                line: *line,
                cause: cause.clone(),
            });
        }
        match (shared.newest, shared.ended) {
            (None, true) => Err(SensorError::Failed {
                id: id(),
                cause: match &shared.why_none {
                    Some(why) => format!("{} ended without a sample: {why}", self.source),
                    None => format!("{} ended without a sample", self.source),
                },
            }),
            (Some(_), true) => Err(SensorError::Gone {
                id: id(),
                cause: format!("{} ended", self.source),
            }),
            _ if shared.stuck => Err(SensorError::Stuck { id: id() }),
            (None, false) => Err(SensorError::NotYet { id: id() }),
            (Some(r), false) => Ok(r),
        }
    }
}

impl Sensor for External {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.waiting.clear();
        self.check(&shared)
    }

    fn read_since(&mut self, out: &mut Vec<Reading>) -> Result<(), SensorError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        // Also what came before an end is a reading.
        out.append(&mut shared.waiting);
        self.check(&shared).map(|_| ())
    }

    fn period_s(&self) -> Option<f64> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.period_s
    }

    fn notes(&self) -> Vec<String> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match (&shared.newest, &shared.why_none) {
            (None, Some(why)) => vec![format!("{}: {why}", self.source)],
            _ => (shared.notes.iter())
                .map(|n| format!("{}: {n}", self.source))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

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
    fn a_file_is_followed_and_its_bad_line_passed_over() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "time,watts\n# meter 1\n0.0,5.0").unwrap();
        let mut s = External::follow(file.path()).ok().unwrap();
        let r = wait_for(s.as_mut(), Result::is_ok).unwrap();
        assert_eq!(r.value, 5.0);
        writeln!(file, "0.1,7.5").unwrap();
        let r = wait_for(s.as_mut(), |r| r.as_ref().is_ok_and(|r| r.value > 5.0)).unwrap();
        assert_eq!(r.value, 7.5);
        assert!(s.notes().is_empty());
        writeln!(file, "0.2,NaN\n0.3,8").unwrap();
        let r = wait_for(s.as_mut(), |r| r.as_ref().is_ok_and(|r| r.value > 7.9)).unwrap();
        assert_eq!(r.value, 8.0);
        let note = s.notes().join(" ");
        assert!(
            note.contains("1 line skipped: line 5") && note.contains("NaN"),
            "{note}"
        );
        writeln!(file, "0.4,8 W\n0.5,8 J").unwrap();
        let e = wait_for(s.as_mut(), Result::is_err)
            .unwrap_err()
            .to_string();
        assert!(e.contains("line 8") && e.contains("joules"), "{e}");
    }

    #[test]
    fn lines_may_end_with_a_carriage_return_alone() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "time,watts\r0.0,5.0\r0.1,x\r").unwrap();
        let mut s = External::follow(file.path()).ok().unwrap();
        let r = wait_for(s.as_mut(), Result::is_ok).unwrap();
        assert_eq!(r.value, 5.0);
        // The other half of the last line's end.
        write!(file, "\n0.1,7.5\r\n0.2,nan\r").unwrap();
        let r = wait_for(s.as_mut(), |r| r.as_ref().is_ok_and(|r| r.value > 5.0)).unwrap();
        assert_eq!(r.value, 7.5);
        write!(file, "0.3,").unwrap();
        std::thread::sleep(Duration::from_millis(10));
        write!(file, "8.25\r").unwrap();
        let r = wait_for(s.as_mut(), |r| r.as_ref().is_ok_and(|r| r.value > 7.5)).unwrap();
        assert_eq!(r.value, 8.25);
        let notes = s.notes().join(" ");
        assert!(
            notes.contains("2 lines skipped: the first: line 3"),
            "{notes}"
        );
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
    fn pipes_without_a_writer_and_endless_devices_do_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let mut s = External::follow(&fifo).ok().unwrap();
        assert!(matches!(s.read(), Err(SensorError::NotYet { .. })));
        std::fs::write(&fifo, "0,4\n0.1,5\n").unwrap();
        let e = wait_for(s.as_mut(), |r| matches!(r, Err(SensorError::Gone { .. })));
        assert!(matches!(e, Err(SensorError::Gone { .. })), "{e:?}");
        let mut s = External::follow(Path::new("/dev/zero")).ok().unwrap();
        let e = wait_for(s.as_mut(), |r| {
            matches!(r, Err(SensorError::Malformed { .. }))
        });
        assert!(e.unwrap_err().to_string().contains("65536 bytes"));
        let mut s = External::command("yes").ok().unwrap();
        let e = wait_for(s.as_mut(), |r| {
            matches!(r, Err(SensorError::Malformed { .. }))
        });
        assert!(e.unwrap_err().to_string().contains("first 1000 lines"));
    }
}
