//! Processes found in files of regions.

use crate::summary::{Entry, FORMAT, Line, Process, Region, SensorSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read as _};

/// Longest line that is read, bytes: a summary of 65,536 regions has some 40 MB.
const MOST_LINE: u64 = 256 << 20;

/// Processes found in files.
#[derive(Default)]
pub struct Runs {
    summaries: BTreeMap<Process, Summary>,
    /// Of processes that wrote lines; only used where there is no summary.
    lines: BTreeMap<(String, u32, u64), FromLines>,
    /// Lines that could not be read: number, cause of the first.
    pub broken: Option<(u64, String)>,
}

#[derive(Default)]
struct FromLines {
    rank: Option<u32>,
    regions: BTreeMap<Vec<String>, LineTotals>,
    end_s: f64,
}

#[derive(Default)]
struct LineTotals {
    calls: u64,
    seconds: f64,
    shortest: f64,
    longest: f64,
    threads: BTreeSet<u64>,
    /// Energy and the seconds it is of, by sensor.
    joules: BTreeMap<String, (f64, f64)>,
}

impl Runs {
    /// Adds the lines of a file.
    ///
    /// # Errors
    /// The file cannot be read. Lines that are not of regions are counted in [`Runs::broken`].
    pub fn read(&mut self, name: &str, input: impl BufRead) -> io::Result<()> {
        let mut input = input;
        let mut bytes = Vec::new();
        for number in 1u64.. {
            bytes.clear();
            let n = (&mut input).take(MOST_LINE).read_until(b'\n', &mut bytes)?;
            if n == 0 {
                break;
            }
            if n as u64 == MOST_LINE && bytes.last() != Some(&b'\n') {
                return Err(io::Error::other(format!(
                    "line {number} is longer than {} MiB",
                    MOST_LINE >> 20
                )));
            }
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            match serde_json::from_str(text) {
                Ok(Entry::Summary(s)) => self.add(*s),
                Ok(Entry::Region(line)) => self.add_line(*line),
                Err(e) => {
                    let (count, _) = self
                        .broken
                        .get_or_insert_with(|| (0, format!("{name}, line {number}: {e}")));
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    /// Adds a summary; a later one of the same process replaces it.
    pub fn add(&mut self, summary: Summary) {
        let before = self.summaries.get(&summary.process);
        if before.is_none_or(|b| !b.is_final && b.wall_s <= summary.wall_s) {
            self.summaries.insert(summary.process.clone(), summary);
        }
    }

    fn add_line(&mut self, line: Line) {
        let key = (line.host, line.pid, line.start_unix_ns);
        let of_process = self.lines.entry(key).or_default();
        of_process.rank = line.rank;
        of_process.end_s = of_process.end_s.max(line.start_s + line.seconds);
        let r = of_process.regions.entry(line.path).or_default();
        if r.calls == 0 {
            r.shortest = line.seconds;
        }
        r.calls += 1;
        r.seconds += line.seconds;
        r.shortest = r.shortest.min(line.seconds);
        r.longest = r.longest.max(line.seconds);
        r.threads.insert(line.thread);
        for (sensor, joules) in line.joules.into_iter().flatten() {
            let e = r.joules.entry(sensor).or_default();
            e.0 += joules;
            e.1 += line.seconds;
        }
    }

    /// The summary of each process.
    pub fn summaries(mut self) -> Vec<Summary> {
        let have: BTreeSet<_> = (self.summaries.keys())
            .map(|p| (p.host.clone(), p.pid, p.start_unix_ns))
            .collect();
        for (key, lines) in std::mem::take(&mut self.lines) {
            if !have.contains(&key) {
                let summary = lines.summary(key);
                self.summaries.insert(summary.process.clone(), summary);
            }
        }
        let mut all: Vec<Summary> = self.summaries.into_values().collect();
        all.sort_by_key(|s| (s.process.start_unix_ns, s.process.rank));
        all
    }
}

impl FromLines {
    fn summary(self, (host, pid, start_unix_ns): (String, u32, u64)) -> Summary {
        let mut within: BTreeMap<&[String], f64> = BTreeMap::new();
        for (path, r) in &self.regions {
            if let Some((_, outer)) = path.split_last() {
                *within.entry(outer).or_default() += r.seconds;
            }
        }
        let exclusive = |path: &[String], seconds: f64| {
            let inner = within.get(path).copied().unwrap_or(0.0);
            (seconds - inner).max(0.0)
        };
        let ids: BTreeSet<String> = (self.regions.values())
            .flat_map(|r| r.joules.keys().cloned())
            .collect();
        let regions = (self.regions.iter())
            .map(|(path, r)| {
                let of = |f: fn(&(f64, f64)) -> f64| {
                    let map = r.joules.iter().map(|(id, e)| (id.clone(), f(e)));
                    (!r.joules.is_empty()).then(|| map.collect())
                };
                Region {
                    path: path.clone(),
                    calls: r.calls,
                    threads: r.threads.len() as u64,
                    inclusive_s: r.seconds,
                    exclusive_s: exclusive(path, r.seconds),
                    min_s: Some(r.shortest),
                    max_s: Some(r.longest),
                    joules: of(|e| e.0),
                    exclusive_joules: None,
                    watts: of(|e| if e.1 > 0.0 { e.0 / e.1 } else { 0.0 }),
                    covered: None,
                    accumulated: None,
                }
            })
            .collect();
        Summary {
            greenup_regions: FORMAT,
            process: Process {
                program: String::new(),
                host,
                pid,
                rank: self.rank,
                start_unix_ns,
            },
            is_final: false,
            wall_s: self.end_s,
            sensors: (ids.into_iter())
                .map(|id| SensorSummary {
                    id,
                    scope: String::new(),
                    tick_s: None,
                    ticks: 0,
                    joules: None,
                    cause: Some("no summary was written: energy of regions alone".into()),
                })
                .collect(),
            problems: Vec::new(),
            notes: vec!["no summary was written: sums of its lines".into()],
            regions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge;
    use super::super::tests::summary;
    use super::*;

    #[test]
    fn later_summaries_replace_earlier_ones_and_broken_lines_are_counted() {
        let mut early = summary("x", 0, 1, 5.0);
        early.is_final = false;
        early.wall_s = 1.0;
        let last = summary("x", 0, 1, 9.0);
        let line = |s: &Summary| {
            let e = Entry::Summary(Box::new(s.clone()));
            serde_json::to_string(&e).unwrap()
        };
        let text = format!(
            "{}\nnot json\n{}\n{{\"type\":\"summ",
            line(&early),
            line(&last)
        );
        let mut runs = Runs::default();
        runs.read("f", text.as_bytes()).unwrap();
        let (n, first) = runs.broken.clone().unwrap();
        assert!(n == 2 && first.starts_with("f, line 2"), "{first}");
        let all = runs.summaries();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0], last);
    }

    #[test]
    fn lines_alone_are_summed() {
        let line = |path: &str, seconds: f64, thread: u64| {
            let path: Vec<&str> = path.split('/').collect();
            serde_json::json!({
                "type": "region", "path": path, "thread": thread, "start_s": 0.5, "seconds": seconds,
                "joules": {"s": 10.0 * seconds}, "pid": 3, "host": "x", "start_unix_ns": 7
            })
            .to_string()
        };
        let text = [line("a/b", 1.0, 0), line("a/b", 2.0, 1), line("a", 4.0, 0)].join("\n");
        let mut runs = Runs::default();
        runs.read("f", text.as_bytes()).unwrap();
        let summaries = runs.summaries();
        // The energy of the whole run is not known, that of regions is.
        assert_eq!(summaries[0].sensors[0].joules, None);
        assert_eq!(summaries[0].why_no_energy(), None);
        assert!(crate::table(&summaries[0]).contains("s J"));
        let m = merge(&summaries);
        let (a, b) = (&m.regions[0].region, &m.regions[1].region);
        assert_eq!((a.path.len(), a.inclusive_s, a.exclusive_s), (1, 4.0, 1.0));
        assert_eq!((b.calls, b.threads, b.min_s), (2, 2, Some(1.0)));
        assert_eq!(b.joules.as_ref().unwrap()["s"], 30.0);
        assert!(m.notes[0].contains("sums of its lines"));
    }
}
