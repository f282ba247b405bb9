//! A recorded trace, replayed.

use super::feed::{Feed, FeedError};
use super::input::plain_file;
use super::line::POWERS;
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use greenup_files::utf8;
use std::path::Path;

/// A recorded trace, replayed from the first reading on; after its end the sensor is gone.
pub struct Recorded {
    info: SensorInfo,
    samples: Vec<Reading>,
    /// What was passed over, or is peculiar.
    notes: Vec<String>,
    start: Option<f64>,
    /// Samples that were given.
    given: usize,
}

impl Recorded {
    /// Loads a trace of lines `time,watts`. Of a log of several GPUs `FILE#GPU` is one.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Recorded::parse`].
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let (file, device) = match name.rsplit_once('#') {
            Some((file, device)) if !path.exists() && Path::new(file).is_file() => {
                (Path::new(file), device)
            }
            _ => (path, ""),
        };
        let bytes = plain_file(file).map_err(|e| not_a_trace(&name, format!("{name}: {e}")))?;
        Self::of_device(&name, &String::from_utf8_lossy(&utf8(bytes)), device)
    }

    /// Parses a trace: lines as a live meter prints them. What is no sample is passed over, with a note. `name` is used in its
    /// id and in errors.
    ///
    /// # Errors
    /// A line after which none can be read, times of no clock, fewer than two samples, no power at all.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        Self::of_device(name, text, "")
    }

    fn of_device(name: &str, text: &str, device: &str) -> Result<Self, Problem> {
        let read = |column: Option<&str>| {
            let (mut feed, mut readings) = (Feed::of(device, column), Vec::new());
            feed.push_trace(text, &mut readings)?;
            Ok((feed, readings))
        };
        let broken =
            |(line, e): (usize, FeedError)| not_a_trace(name, format!("{name}, line {line}: {e}"));
        let (mut feed, mut readings) = read(None).map_err(broken)?;
        // The first column of power may have no values.
        let mut others = POWERS.into_iter().filter(|p| text.contains(p));
        if readings.is_empty()
            && let Some(found) = others.find_map(|p| read(Some(p)).ok().filter(|r| !r.1.is_empty()))
        {
            (feed, readings) = found;
        }
        if readings.len() < 2 {
            let why = feed.why_none().map(|w| format!(": {w}"));
            let why = why.unwrap_or_default();
            let cause = format!("{name} holds fewer than two samples{why}");
            return Err(not_a_trace(name, cause));
        }
        if readings.iter().all(|r| r.value == 0.0) {
            return Err(not_a_trace(name, format!("{name}: all its values are 0 W")));
        }
        let mut notes = feed.notes();
        let first = readings[0].value;
        if readings.iter().all(|r| r.value == first) {
            let n = readings.len();
            notes.push(format!("all its {n} values are {first} W"));
        }
        let mut trace = Self::new(name, Vec::new());
        trace.samples = readings;
        trace.notes = notes.iter().map(|n| format!("{name}: {n}")).collect();
        Ok(trace)
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
                group: SensorInfo::RECORDED.into(),
            },
            samples: (samples.into_iter())
                .map(|(at_s, value)| Reading { at_s, value })
                .collect(),
            notes: Vec::new(),
            start: None,
            given: 0,
        }
    }

    /// Samples until now, and the host's time at the trace's zero.
    fn reached(&mut self) -> Result<(usize, f64), SensorError> {
        let first = self.samples.first().map_or(0.0, |s| s.at_s);
        let zero = *self.start.get_or_insert_with(now_s) - first;
        let now = now_s() - zero;
        let next = self.samples.partition_point(|s| s.at_s <= now);
        if next == self.samples.len() {
            return Err(SensorError::Gone {
                id: self.info.id.clone(),
                cause: "the trace has ended".into(),
            });
        }
        Ok((next, zero))
    }

    fn reading(&self, i: usize, zero: f64) -> Reading {
        let Reading { at_s, value } = self.samples[i];
        Reading {
            at_s: at_s + zero,
            value,
        }
    }
}

fn not_a_trace(name: &str, cause: String) -> Problem {
    Problem {
        id: format!("recorded:{name}"),
        present: false,
        cause,
        fix: "a trace is lines `time,watts`, time rising, in seconds and watts, or with units in a header".into(),
    }
}

impl Sensor for Recorded {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let (next, zero) = self.reached()?;
        self.given = next;
        Ok(self.reading(next.saturating_sub(1), zero))
    }

    fn read_since(&mut self, out: &mut Vec<Reading>) -> Result<(), SensorError> {
        let zero = self.start.unwrap_or_else(now_s) - self.samples.first().map_or(0.0, |s| s.at_s);
        let reached = self.reached();
        let next = reached.as_ref().map_or(self.samples.len(), |r| r.0);
        out.extend((self.given..next).map(|i| self.reading(i, zero)));
        self.given = next;
        reached.map(|_| ())
    }

    fn period_s(&self) -> Option<f64> {
        crate::window::spacing(self.samples.iter().map(|s| s.at_s))
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn recorded_traces_are_checked_and_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "0,1\n0,2").unwrap();
        let e = Recorded::open(file.path()).err().unwrap();
        assert!(e.cause.contains("line 2"), "{}", e.cause);
        let mut s = Recorded::new("t", vec![(5.0, 1.0), (5.01, 2.0)]);
        assert_eq!(s.read().unwrap().value, 1.0);
        std::thread::sleep(std::time::Duration::from_millis(15));
        assert!(matches!(s.read(), Err(SensorError::Gone { .. })));
        // The integral of a counter is the counter's.
        let s = Recorded::parse("t", "time,joules\n0,0\n1,10\n2,40\n")
            .ok()
            .unwrap();
        let readings: Vec<Reading> = (0..s.samples.len()).map(|i| s.reading(i, 0.0)).collect();
        let j = crate::window::energy_between(Quantity::Power, &readings, 0.5, 1.5).unwrap();
        assert!((j - 20.0).abs() < 1e-3, "{j}");
    }

    #[test]
    fn bad_samples_of_a_trace_are_counted_and_shown() {
        let read = |text: &str| Recorded::parse("t", text).map_err(|p| p.cause);
        for (text, n, note) in [
            (
                "0,50\n1,nan\n2,51\n",
                2,
                "t: 1 line skipped: line 2: `1,nan` holds",
            ),
            (
                "time,power [W]\n0,50\n1,[N/A]\n2,[N/A]\n3,51\n",
                2,
                "2 lines skipped: the first: line 3",
            ),
            ("0,50\n1,51\n2,52\n3.", 3, "line 4: `3.` is not"),
            ("0,50\n0,50.1\n1,51\n2,52\n", 3, ""),
            (
                "0,50\n1,51\n2,52\n0.5,50\n1.5,50\n3,53\n",
                6,
                "its clock was set 1 time (by -2.500 s)",
            ),
            (
                "0,50\n1,51\n2,52\n-1,60\n3,53\n",
                4,
                "1 sample skipped: their times",
            ),
            (
                "23:59:58,50\n23:59:59,51\n00:00:00,52\n00:00:01,53\n",
                4,
                "",
            ),
            (
                "t,joules\n0,0\n1,50\n2,100\n3,10\n4,60\n",
                6,
                "counter of joules fell 1 time",
            ),
            (
                "timestamp, power.draw.instant [W], power.draw.average [W]\n0, [N/A], 50 W\n1, [N/A], 51 W\n",
                2,
                "",
            ),
            ("0,50\n1,50\n2,50\n", 3, "all its 3 values are 50 W"),
            ("0,50\n10,51\n20,52\n400,53\n410,54\n", 5, ""),
            ("0,5\n1000,6\n", 2, ""),
            ("0,50\r1,51\r2,52\r", 3, ""),
        ] {
            let trace = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(trace.samples.len(), n, "{text}");
            let notes = trace.notes().join("; ");
            assert!(
                notes.contains(note) && notes.is_empty() == note.is_empty(),
                "{text}: {notes}"
            );
        }
        for (text, why) in [
            ("0,50\n", "fewer than two samples"),
            ("hello\n", "`hello` is no sample"),
            ("0,nan\n1,nan\n", "2 lines are no samples; line 1"),
            ("0,50\n0,51\n0,52\n", "line 2: time 0 does not rise"),
            ("0,0\n1,0\n", "all its values are 0 W"),
            ("0,50000\n1,50000\n", "name the unit"),
            ("time,volts\n0,50\n", "names no column of power"),
            ("0,50 W\n1,50 J\n", "line 2: `1,50 J`"),
            (
                "time,watts\n1795741199000,50\n1795741199100,51\n",
                "its time is no count of seconds: name the unit in the header",
            ),
        ] {
            let e = read(text)
                .err()
                .unwrap_or_else(|| panic!("{text} is a trace"));
            assert!(e.contains(why), "{text}: {e}");
        }
        let mixed: String = (0..10)
            .map(|i| format!("{i}, 400 W\n{i}.003, 100 W\n"))
            .collect();
        let e = read(&format!("timestamp, power.draw [W]\n{mixed}")).err();
        assert!(e.is_some_and(|e| e.contains("several devices are mixed")));
        let falling: String = (0..100).map(|i| format!("{},50\n", 100 - i)).collect();
        assert!(
            read(&falling)
                .err()
                .is_some_and(|e| e.contains("its times jump"))
        );
    }

    #[test]
    fn devices_and_folders_are_no_traces() {
        for (path, why) in [("/dev/zero", "not a plain file"), ("/", "folder")] {
            let e = Recorded::open(Path::new(path)).err().unwrap();
            assert!(e.cause.contains(why), "{}", e.cause);
        }
    }
}
