//! Files of regions, of one process or of many, put together.

use crate::summary::{Accumulated, Entry, Line, Process, Region, SensorSummary, Summary};
use serde::Serialize;
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
    first: usize,
    calls: u64,
    seconds: f64,
    shortest: f64,
    longest: f64,
    threads: BTreeSet<u64>,
    /// Energy and the seconds it is of, by sensor.
    joules: BTreeMap<String, (f64, f64)>,
}

/// Regions of all processes together.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// The processes.
    pub processes: Vec<ProcessSummary>,
    /// Regions; each comes before those within it.
    pub regions: Vec<MergedRegion>,
    /// What went wrong, with the process.
    pub notes: Vec<String>,
}

/// One process.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessSummary {
    /// Which.
    #[serde(flatten)]
    pub process: Process,
    /// Whether its summary is the one written at exit.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Seconds since its first region began.
    pub wall_s: f64,
    /// Its energy sensors.
    pub sensors: Vec<SensorSummary>,
    /// Why it has no energy.
    pub why_no_energy: Option<String>,
}

/// A region of all processes together. Times are sums. Joules are sums over hosts and over runs that followed one
/// another; of processes that shared a host at the same time, which saw the same device, the highest counts.
#[derive(Clone, Debug, Serialize)]
pub struct MergedRegion {
    /// The sums.
    #[serde(flatten)]
    pub region: Region,
    /// Processes that were inside.
    pub processes: usize,
    /// Least inclusive time of a process, s.
    pub least_s: f64,
    /// Greatest inclusive time of a process, s.
    pub greatest_s: f64,
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
        let first = of_process.regions.len();
        let r = of_process.regions.entry(line.path).or_default();
        if r.calls == 0 {
            r.first = first;
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
        let within: Vec<(Vec<String>, f64)> = (self.regions.iter())
            .map(|(path, r)| (path.clone(), r.seconds))
            .collect();
        let exclusive = |path: &[String], seconds: f64| {
            let inner: f64 = (within.iter())
                .filter(|(p, _)| p.len() == path.len() + 1 && p.starts_with(path))
                .map(|(_, s)| s)
                .sum();
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
            greenup_regions: crate::summary::FORMAT,
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
                    joules: Some(0.0),
                    cause: None,
                })
                .collect(),
            problems: Vec::new(),
            notes: vec!["no summary was written: sums of its lines".into()],
            regions,
        }
    }
}

/// Puts processes together.
pub fn merge(summaries: &[Summary]) -> Merged {
    let groups = overlapping(summaries);
    let mut order: Vec<&[String]> = Vec::new();
    let mut by_path: BTreeMap<&[String], Vec<(usize, &Region)>> = BTreeMap::new();
    for (i, s) in summaries.iter().enumerate() {
        for r in &s.regions {
            let all = by_path.entry(&r.path).or_default();
            if all.is_empty() {
                order.push(&r.path);
            }
            all.push((i, r));
        }
    }
    let regions = tree_order(order)
        .into_iter()
        .map(|path| join(path, &by_path[path], &groups))
        .collect();
    let of = |s: &Summary, text: &str| match (summaries.len(), s.process.rank) {
        (1, _) => text.to_owned(),
        (_, Some(rank)) => format!("rank {rank}: {text}"),
        (_, None) => format!("process {}: {text}", s.process.pid),
    };
    Merged {
        processes: (summaries.iter())
            .map(|s| ProcessSummary {
                process: s.process.clone(),
                is_final: s.is_final,
                wall_s: s.wall_s,
                sensors: s.sensors.clone(),
                why_no_energy: s.why_no_energy(),
            })
            .collect(),
        regions,
        notes: (summaries.iter())
            .flat_map(|s| s.notes.iter().map(move |n| of(s, n)))
            .collect(),
    }
}

/// A number for each process; the same for those that ran on one host at overlapping times.
fn overlapping(summaries: &[Summary]) -> Vec<usize> {
    let span = |s: &Summary| {
        let start = s.process.start_unix_ns as f64;
        (start, start + s.wall_s * 1e9)
    };
    let mut by_host: Vec<usize> = (0..summaries.len()).collect();
    by_host.sort_by(|&a, &b| {
        let key = |i: usize| {
            (
                &summaries[i].process.host,
                summaries[i].process.start_unix_ns,
            )
        };
        key(a).cmp(&key(b))
    });
    let mut groups = vec![0; summaries.len()];
    let (mut group, mut end, mut host) = (0, f64::NEG_INFINITY, None);
    for i in by_host {
        let s = &summaries[i];
        let (from, to) = span(s);
        if host != Some(&s.process.host) || from > end {
            group += 1;
            end = f64::NEG_INFINITY;
            host = Some(&s.process.host);
        }
        groups[i] = group;
        end = end.max(to);
    }
    groups
}

/// Parents first, and otherwise in the order given.
fn tree_order(paths: Vec<&[String]>) -> Vec<&[String]> {
    let place: BTreeMap<&[String], usize> =
        paths.iter().enumerate().map(|(i, p)| (*p, i)).collect();
    let key = |path: &[String]| -> Vec<usize> {
        (1..=path.len())
            .map(|n| place.get(&path[..n]).copied().unwrap_or(usize::MAX))
            .collect()
    };
    let mut keyed: Vec<(Vec<usize>, &[String])> = paths.into_iter().map(|p| (key(p), p)).collect();
    keyed.sort();
    keyed.into_iter().map(|k| k.1).collect()
}

fn join(path: &[String], all: &[(usize, &Region)], groups: &[usize]) -> MergedRegion {
    let sum = |f: fn(&Region) -> f64| all.iter().map(|(_, r)| f(r)).sum::<f64>();
    // A foreign file may hold any numbers.
    let count = |f: fn(&Region) -> u64| all.iter().fold(0u64, |n, (_, r)| n.saturating_add(f(r)));
    let times = || all.iter().map(|(_, r)| r.inclusive_s);
    // By sensor and group of processes: joules, exclusive joules, seconds they are of.
    let mut energies: BTreeMap<&str, BTreeMap<usize, (f64, f64, f64)>> = BTreeMap::new();
    let mut accumulated: BTreeMap<String, Accumulated> = BTreeMap::new();
    let mut covered: BTreeMap<String, f64> = BTreeMap::new();
    for (i, r) in all {
        for (id, &joules) in r.joules.iter().flatten() {
            let exclusive = (r.exclusive_joules.as_ref()).and_then(|m| m.get(id));
            let watts = r.watts.as_ref().and_then(|m| m.get(id)).copied();
            let seconds = watts.filter(|w| *w > 0.0).map_or(0.0, |w| joules / w);
            let e = energies
                .entry(id)
                .or_default()
                .entry(groups[*i])
                .or_default();
            if joules >= e.0 {
                e.0 = joules;
                e.2 = seconds;
            }
            e.1 = e.1.max(exclusive.copied().unwrap_or(0.0));
        }
        for (id, a) in r.accumulated.iter().flatten() {
            let sum = accumulated
                .entry(id.clone())
                .or_insert(Accumulated { calls: 0, ticks: 0 });
            sum.calls = sum.calls.saturating_add(a.calls);
            sum.ticks = sum.ticks.saturating_add(a.ticks);
        }
        for (id, &c) in r.covered.iter().flatten() {
            let least = covered.entry(id.clone()).or_insert(c);
            *least = least.min(c);
        }
    }
    let of = |f: fn(&(f64, f64, f64)) -> f64| -> BTreeMap<String, f64> {
        (energies.iter())
            .map(|(id, e)| ((*id).to_owned(), e.values().map(f).sum()))
            .collect()
    };
    let (joules, exclusive, seconds) = (of(|e| e.0), of(|e| e.1), of(|e| e.2));
    let watts: BTreeMap<String, f64> = (joules.iter())
        .filter(|(id, _)| seconds[*id] > 0.0)
        .map(|(id, j)| (id.clone(), j / seconds[id]))
        .collect();
    let known = !joules.is_empty();
    MergedRegion {
        region: Region {
            path: path.to_vec(),
            calls: count(|r| r.calls),
            threads: count(|r| r.threads),
            inclusive_s: sum(|r| r.inclusive_s),
            exclusive_s: sum(|r| r.exclusive_s),
            min_s: all.iter().filter_map(|(_, r)| r.min_s).reduce(f64::min),
            max_s: all.iter().filter_map(|(_, r)| r.max_s).reduce(f64::max),
            joules: known.then_some(joules),
            exclusive_joules: known.then_some(exclusive),
            watts: known.then_some(watts),
            covered: (!covered.is_empty()).then_some(covered),
            accumulated: (!accumulated.is_empty()).then_some(accumulated),
        },
        processes: all.iter().map(|(i, _)| i).collect::<BTreeSet<_>>().len(),
        least_s: times().fold(f64::INFINITY, f64::min),
        greatest_s: times().fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(host: &str, rank: u32, start_s: u64, joules: f64) -> Summary {
        let map = |x: f64| Some(BTreeMap::from([("s".to_owned(), x)]));
        let json = serde_json::json!({
            "greenup_regions": 1, "program": "p", "host": host, "pid": 10 + rank, "rank": rank,
            "start_unix_ns": start_s * 1_000_000_000, "final": true, "wall_s": 10.0,
            "sensors": [], "problems": [], "notes": ["n"], "regions": []
        });
        let mut s: Summary = serde_json::from_value(json).unwrap();
        s.regions = vec![Region {
            path: vec!["a".into()],
            calls: 2,
            threads: 1,
            inclusive_s: 5.0 + f64::from(rank),
            exclusive_s: 1.0,
            min_s: Some(1.0),
            max_s: Some(4.0),
            joules: map(joules),
            exclusive_joules: map(1.0),
            watts: map(joules / 5.0),
            covered: None,
            accumulated: None,
        }];
        s
    }

    #[test]
    fn ranks_of_one_host_see_one_device() {
        let all = [
            summary("x", 0, 100, 500.0),
            summary("x", 1, 101, 520.0),
            summary("y", 2, 100, 300.0),
            summary("x", 0, 200, 400.0),
        ];
        let m = merge(&all);
        let r = &m.regions[0];
        assert_eq!(
            r.region.joules.as_ref().unwrap()["s"],
            520.0 + 300.0 + 400.0
        );
        assert_eq!(r.region.exclusive_joules.as_ref().unwrap()["s"], 3.0);
        assert!((r.region.watts.as_ref().unwrap()["s"] - 1220.0 / 15.0).abs() < 1e-9);
        assert_eq!(
            (r.processes, r.region.calls, r.region.inclusive_s),
            (4, 8, 23.0)
        );
        assert_eq!((r.least_s, r.greatest_s), (5.0, 7.0));
        assert!(m.notes[1].starts_with("rank 1: "));
    }

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
        let m = merge(&runs.summaries());
        let (a, b) = (&m.regions[0].region, &m.regions[1].region);
        assert_eq!((a.path.len(), a.inclusive_s, a.exclusive_s), (1, 4.0, 1.0));
        assert_eq!((b.calls, b.threads, b.min_s), (2, 2, Some(1.0)));
        assert_eq!(b.joules.as_ref().unwrap()["s"], 30.0);
        assert!(m.notes[0].contains("sums of its lines"));
    }
}
