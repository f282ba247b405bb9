//! A recorded trace, replayed.

use super::line::{LineError, Lines};
use crate::sensor::{Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};
use std::path::Path;

/// A recorded trace, replayed from the first reading on; after its end the sensor is gone.
pub struct Recorded {
    info: SensorInfo,
    samples: Vec<(f64, f64)>,
    start: Option<f64>,
    /// Samples that were given.
    given: usize,
}

impl Recorded {
    /// Loads a trace of lines `time,watts`.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Recorded::parse`].
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let bytes =
            super::plain_file(path).map_err(|e| not_a_trace(&name, format!("{name}: {e}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| not_a_trace(&name, format!("{name}: {}", e.utf8_error())))?;
        Self::parse(&name, &text)
    }

    /// Parses a trace: lines `time,watts` in seconds and watts, or with other units in the header; times rise. `name` is
    /// used in its id and in errors.
    ///
    /// # Errors
    /// A line that is not a sample, times that do not rise, fewer than two samples.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        let mut lines = Lines::default();
        let mut samples: Vec<(f64, f64)> = Vec::new();
        let mut counter: Option<f64> = None;
        let mut last = f64::NEG_INFINITY;
        for (i, line) in text.lines().enumerate() {
            let at =
                |cause: LineError| not_a_trace(name, format!("{name}, line {}: {cause}", i + 1));
            let Some(s) = lines.push(line).map_err(at)? else {
                continue;
            };
            if s.time_s <= last {
                return Err(at(LineError::Order(s.time_s)));
            }
            if !s.is_energy {
                samples.push((s.time_s, s.value));
            } else if let Some(before) = counter {
                if s.value < before {
                    return Err(not_a_trace(
                        name,
                        format!("{name}, line {}: the counter falls", i + 1),
                    ));
                }
                // The mean power since the sample before, constant in between.
                let span = s.time_s - last;
                let watts = (s.value - before) / span;
                samples.push((last + 1e-6 * span, watts));
                samples.push((s.time_s, watts));
            }
            counter = Some(s.value);
            last = s.time_s;
        }
        if samples.len() < 2 {
            let why = lines
                .first_unread()
                .map(|l| format!(": `{l}` is no sample"));
            return Err(not_a_trace(
                name,
                format!(
                    "{name} holds fewer than two samples{}",
                    why.unwrap_or_default()
                ),
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
            given: 0,
        }
    }

    /// Samples until now, and the host's time at the trace's zero.
    fn reached(&mut self) -> Result<(usize, f64), SensorError> {
        let first = self.samples.first().map_or(0.0, |s| s.0);
        let zero = *self.start.get_or_insert_with(now_s) - first;
        let now = now_s() - zero;
        let next = self.samples.partition_point(|&(t, _)| t <= now);
        if next == self.samples.len() {
            return Err(SensorError::Gone {
                id: self.info.id.clone(),
                cause: "the trace has ended".into(),
            });
        }
        Ok((next, zero))
    }

    fn reading(&self, i: usize, zero: f64) -> Reading {
        let (t, value) = self.samples[i];
        Reading {
            at_s: t + zero,
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
        let zero = self.start.unwrap_or_else(now_s) - self.samples.first().map_or(0.0, |s| s.0);
        let reached = self.reached();
        let next = reached.as_ref().map_or(self.samples.len(), |r| r.0);
        out.extend((self.given..next).map(|i| self.reading(i, zero)));
        self.given = next;
        reached.map(|_| ())
    }

    fn period_s(&self) -> Option<f64> {
        crate::window::spacing(self.samples.iter().map(|s| s.0))
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
    fn devices_and_folders_are_no_traces() {
        for (path, why) in [("/dev/zero", "not a plain file"), ("/", "folder")] {
            let e = Recorded::open(Path::new(path)).err().unwrap();
            assert!(e.cause.contains(why), "{}", e.cause);
        }
    }
}
