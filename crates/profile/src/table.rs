//! A table that `ncu --csv` printed, as what was measured of a program: the durations of its launches, and their counters.

use crate::activity::{Activity, Event, What};
use crate::counters::{Counted, grouped};
use crate::cpu::Counts;
use crate::groups::{self, Group};
use crate::record::{GpuFacts, Recorded};
use crate::run::Exit;
use greenup_files::utf8;
use greenup_tune::counters::ProfilerError;
use greenup_tune::counters::csv::{DURATION, Launch, Table, parse};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Largest file, bytes.
const LIMIT: u64 = 1 << 30;
/// Longest launch, ns: 11 days.
const LONGEST_NS: f64 = 1e15;

/// A file whose launches cannot be profiled.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] greenup_files::FileError),
    /// It is not text.
    #[error("{}: not a text in UTF-8 or UTF-16: a report of ncu is printed as a table by `ncu --import FILE --csv --page raw`", .0.display())]
    NotText(PathBuf),
    /// There is no header of such a table.
    #[error("{}: no line of it is the header of a table of ncu (`\"ID\",…,\"Kernel Name\",…`): print one by `ncu --csv --page raw`", .0.display())]
    NoTable(PathBuf),
    /// The table cannot be read.
    #[error("{}: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: ProfilerError,
    },
    /// No launch has a duration.
    #[error("{}: no launch has its duration{}: measure again with `ncu --metrics {DURATION},…`", path.display(), why.as_ref().map(|w| format!(" ({w})")).unwrap_or_default())]
    NoDurations {
        /// The file.
        path: PathBuf,
        /// What was passed over.
        why: Option<String>,
    },
}

/// The text of a file of ncu: UTF-8, or UTF-16 as PowerShell writes it.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn text_of(path: &Path) -> Result<String, TableError> {
    let bytes = greenup_files::read_bytes(path, LIMIT)?;
    let text = String::from_utf8(utf8(bytes)).ok();
    text.ok_or_else(|| TableError::NotText(path.to_owned()))
}

/// What a file of ncu tells of a program.
#[derive(Debug)]
pub struct Imported {
    /// As of a run, without its own times.
    pub recorded: Recorded,
    /// Its launches, one after the other.
    pub activity: Vec<Activity>,
}

/// Reads a file of ncu. Kernels of which counters are missing have no work; notes name the metrics.
///
/// # Errors
/// There is no table, it is broken, or no launch has a duration.
pub fn read(path: &Path) -> Result<Imported, TableError> {
    let text = text_of(path)?;
    if !greenup_tune::counters::csv::is_table(&text) {
        return Err(TableError::NoTable(path.to_owned()));
    }
    let refused = (text.lines().find(|l| l.starts_with("==ERROR==")))
        .map(|l| l.trim_start_matches("==ERROR==").trim().to_owned());
    let Table { launches, notes } = parse(&text).map_err(|cause| TableError::Broken {
        path: path.to_owned(),
        cause,
    })?;
    let named = |n: String| format!("{}: {n}", path.display());
    let mut all = imported(launches).ok_or_else(|| TableError::NoDurations {
        path: path.to_owned(),
        why: notes.first().cloned(),
    })?;
    let own = std::mem::take(&mut all.recorded.notes);
    let reported = refused.map(|e| format!("ncu reported an error: {e}"));
    all.recorded.notes = (reported.into_iter().chain(notes).chain(own))
        .map(named)
        .collect();
    Ok(all)
}

/// The launches as a run; `None` where none has a duration.
fn imported(launches: Vec<Launch>) -> Option<Imported> {
    let count = launches.len();
    let duration = |l: &Launch| {
        l.values
            .iter()
            .find(|(n, _)| n == DURATION)
            .map(|(_, ns)| *ns)
    };
    let timed: Vec<Launch> = launches
        .into_iter()
        .filter(|l| duration(l).is_some_and(|ns| ns > 0.0 && ns < LONGEST_NS))
        .collect();
    let first = timed.first()?;
    let mut activity = Activity {
        complete: true,
        ..Activity::default()
    };
    let devices: BTreeSet<&str> = timed.iter().map(|l| l.device.as_str()).collect();
    let (mut gpus, mut now) = (Vec::new(), 0_u64);
    for (n, device) in devices.iter().enumerate() {
        let own = timed.iter().filter(|l| l.device == *device);
        let bus_id = format!("device {}", device.parse::<u32>().unwrap_or(n as u32));
        let name = own.clone().find_map(|l| l.gpu.clone());
        // Some versions write the name in place of the number.
        let name = name.or_else(|| device.parse::<u32>().is_err().then(|| (*device).to_owned()));
        gpus.push(GpuFacts {
            name: name
                .filter(|n| !n.is_empty())
                .unwrap_or_else(|| "GPU".into()),
            bus_id: bus_id.clone(),
            multiprocessors: 0,
            sensor: None,
        });
        activity.devices.insert(n as u32, bus_id);
        for l in own {
            let name = activity
                .names
                .iter()
                .position(|k| *k == l.kernel)
                .unwrap_or_else(|| {
                    activity.names.push(l.kernel.clone());
                    activity.names.len() - 1
                });
            let end = now.saturating_add(duration(l).unwrap_or(0.0).round().max(1.0) as u64);
            activity.events.push(Event {
                start_ns: now,
                end_ns: end,
                device: n as u32,
                stream: 0,
                bytes: 0,
                what: What::Kernel {
                    name: name as u32,
                    grid: l.grid.unwrap_or_default(),
                    block: l.block.unwrap_or_default(),
                },
            });
            now = end;
        }
    }
    let activity = vec![activity];
    let groups: Vec<Group> = (groups::devices(&activity).into_iter())
        .flat_map(|d| d.groups)
        .collect();
    let (counters, missing): (Vec<Counted>, Vec<Counted>) = grouped(&timed, &groups)
        .into_iter()
        .partition(|c| c.missing().is_empty());
    let mut notes = Vec::new();
    if count > timed.len() {
        notes.push(format!(
            "{} of {count} launches are left out: they have no {DURATION} that can be",
            count - timed.len()
        ));
    }
    notes.extend(lacking(&missing));
    notes.push(
        "times are those under ncu: each kernel alone, at the base clock unless `--clock-control none` was given, with flushed caches \
         unless `--cache-control none`"
            .into(),
    );
    let process = first.process.clone();
    let recorded = Recorded {
        version: Recorded::VERSION,
        command: vec![if process.is_empty() {
            "a table of ncu".into()
        } else {
            process
        }],
        exit: Exit::Code(0),
        interrupted: false,
        start_ns: 0,
        wall_s: now as f64 * 1e-9,
        user_s: 0.0,
        system_s: 0.0,
        memory_bytes: None,
        cpu: Counts::default(),
        traces: Vec::new(),
        gpus,
        host_sensor: None,
        from_table: true,
        counters,
        notes,
        provenance: serde_json::Value::Null,
    };
    Some(Imported { recorded, activity })
}

/// Names the metrics that kernels lack, with the option of ncu that gives them.
fn lacking(all: &[Counted]) -> Option<String> {
    const SHOWN: usize = 3;
    let first = all.first()?;
    let metrics: BTreeSet<&str> = all.iter().flat_map(Counted::missing).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in all.iter().map(|c| c.name.as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let what = if first.counters.is_empty() {
        "not counted"
    } else {
        "not counted completely"
    };
    Some(format!(
        "{}{more}: {what}, so the work is not known; measure again with `ncu --csv --page raw --metrics {DURATION},{}` and the metrics \
         that are there",
        names.join(", "),
        metrics.into_iter().collect::<Vec<_>>().join(",")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Basis, attribute};
    use greenup_tune::counters::table::COUNTERS;

    /// A table of two kernels: the second lacks the counters whose names have this part.
    fn table(lacks: &str) -> String {
        let metrics: Vec<&str> = (COUNTERS.iter())
            .flat_map(|c| c.metrics.iter().copied())
            .collect();
        let row = |id: usize, kernel: &str, lacks: Option<&str>, ms: f64| {
            let values = metrics
                .iter()
                .map(|m| match (lacks, m.starts_with("dram")) {
                    (Some(part), _) if m.contains(part) => "\"n/a\"".to_owned(),
                    (_, true) => "\"500.5\"".to_owned(),
                    (_, false) => "\"0\"".to_owned(),
                });
            let values: Vec<String> = values.collect();
            format!(
                "\"{id}\",\"1\",\"/bin/app\",\"{kernel}(int)\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"0\",\"{ms}\",{}\n",
                values.join(",")
            )
        };
        let head = "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"gpu__time_duration.sum\"";
        let named: Vec<String> = metrics.iter().map(|m| format!("\"{m}\"")).collect();
        let units: Vec<&str> = (metrics.iter())
            .map(|m| {
                if m.starts_with("dram") {
                    "\"Mbyte\""
                } else {
                    "\"\""
                }
            })
            .collect();
        format!(
            "{head},{}\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ms\",{}\n{}{}{}",
            named.join(","),
            units.join(","),
            row(0, "copy", None, 0.5),
            row(1, "copy", None, 0.5),
            row(2, "other", Some(lacks), 2.25),
        )
    }

    fn read_text(text: &[u8]) -> Result<Imported, TableError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path())
    }

    #[test]
    fn kernels_of_a_table_have_times_work_and_energy_by_the_model() {
        let all = read_text(table("nothing").as_bytes()).unwrap();
        let h200 = greenup_model::shipped::find("h200").unwrap().unwrap();
        let p = attribute(&all.recorded, &all.activity, &|_| Some(h200.clone()), None);
        let g = &p.gpus[0];
        assert_eq!(
            (p.cpu.is_none(), p.command[0].as_str(), g.measured_j),
            (true, "app", None)
        );
        let copy = g.kernels.iter().find(|r| r.name == "copy").unwrap();
        assert_eq!(
            (copy.launches, copy.counted, copy.basis),
            (2, 2, Basis::Counters)
        );
        assert!((copy.time_s - 1e-3).abs() < 1e-12 && (copy.median_s - 5e-4).abs() < 1e-12);
        assert_eq!(copy.work[&greenup_model::Op::Dram], 1.001e9);
        let constant_j = h200.constant_power_w.as_ref().unwrap().value * 1e-3;
        let bytes_j = 2.0
            * 1.001e9
            * h200.cost[&greenup_model::Op::Dram]
                .energy_j
                .as_ref()
                .unwrap()
                .value;
        assert!((copy.model_j.unwrap() / (constant_j + bytes_j) - 1.0).abs() < 1e-6);
        assert!(g.others.is_empty() && (p.wall_s - 3.25e-3).abs() < 1e-12);
        // The same in UTF-16.
        let words: Vec<u8> = (table("nothing").encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let again = read_text(&[&[0xff, 0xfe][..], &words].concat()).unwrap();
        assert_eq!(again.recorded.counters, all.recorded.counters);
    }

    #[test]
    fn launches_of_impossible_times_are_left_out_and_wrong_units_are_seen() {
        let odd = table("nothing").replacen("\"0.5\"", "\"1e24\"", 1);
        let all = read_text(odd.replace("\"2.25\"", "\"-2.25\"").as_bytes()).unwrap();
        assert_eq!(all.activity[0].events.len(), 1);
        let note = &all.recorded.notes[0];
        assert!(note.contains("2 of 3 launches are left out"), "{note}");
        let h200 = greenup_model::shipped::find("h200").unwrap().unwrap();
        let all = read_text(table("nothing").replace("\"ms\"", "\"us\"").as_bytes()).unwrap();
        let p = attribute(&all.recorded, &all.activity, &|_| Some(h200.clone()), None);
        let beyond = |n: &String| n.contains("2 kernels are faster");
        assert!(p.notes.iter().any(beyond), "{:?}", p.notes);
    }

    #[test]
    fn missing_counters_are_named_and_make_no_work() {
        let all = read_text(table("op_dfma").as_bytes()).unwrap();
        assert_eq!(all.recorded.counters.len(), 1);
        let note = &all.recorded.notes[0];
        assert!(note.contains("other: not counted completely"), "{note}");
        assert!(note.contains("--metrics gpu__time_duration.sum,smsp__sass_thread_inst_executed_op_dfma_pred_on.sum`"), "{note}");
        for (text, why) in [
            (
                table("x").replace("gpu__time_duration.sum", "gpu__x.sum"),
                "no launch has its duration",
            ),
            (
                table("x").replace("\"ms\"", "\"%\""),
                "no launch has its duration (line 3: the unit `%`",
            ),
            ("hello\n".to_owned(), "no line of it is the header"),
            (
                table("x")[..table("x").len() - 9].to_owned(),
                "line 5: the row",
            ),
        ] {
            let e = read_text(text.as_bytes()).unwrap_err().to_string();
            assert!(e.contains(why), "{e}");
        }
        let e = read_text(b"\x89NVR\xff\x00").unwrap_err().to_string();
        assert!(e.contains("ncu --import FILE"), "{e}");
    }
}
