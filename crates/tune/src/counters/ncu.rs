//! Hardware counters, through NVIDIA's `ncu`.

use super::ProfilerError;
use super::csv::Launch;
use super::table::{COUNTERS, Counter};
use crate::error::TuneError;
use crate::sweep::{Counters, Kernels};
use greenup_meter::Observer;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time in which the profiler lists its metrics.
const QUERY: Duration = Duration::from_secs(120);

/// Names of the metrics that the profiler knows for this GPU, without their sums; empty if it does not say.
pub fn known(ncu: &Path, stop: &dyn Fn() -> bool) -> BTreeSet<String> {
    let mut c = Command::new(ncu);
    c.arg("--query-metrics");
    let Ok(out) = greenup_process::capture::output(&mut c, QUERY, stop) else {
        return BTreeSet::new();
    };
    (out.stdout.lines())
        .filter_map(|l| l.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Metrics of all counters; of those that a chip may lack, the ones that the profiler knows.
pub fn metrics(known: &BTreeSet<String>) -> Vec<&'static str> {
    asked(known, |_| true)
}

/// As [`metrics`], of the counters from which the work of a kernel follows.
pub fn metrics_of_work(known: &BTreeSet<String>) -> Vec<&'static str> {
    asked(known, |c| c.of_work)
}

fn asked(known: &BTreeSet<String>, wanted: impl Fn(&Counter) -> bool) -> Vec<&'static str> {
    let there = |m: &&str| known.contains(m.split('.').next().unwrap_or(m));
    (COUNTERS.iter())
        .filter(|c| wanted(c) && (!c.optional || c.metrics.iter().all(&there)))
        .flat_map(|c| c.metrics)
        .copied()
        .collect()
}

/// Our counters out of the profiler's metrics; those it does not have are left out.
fn named(sums: &BTreeMap<String, f64>, more: &[String]) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for c in &COUNTERS {
        let values: Option<Vec<f64>> = c.metrics.iter().map(|m| sums.get(*m).copied()).collect();
        let total = || sums.get(c.total?).copied();
        if let Some(sum) = values.map(|v| v.iter().sum()).or_else(total) {
            out.insert(c.name.to_owned(), c.worth * sum);
        }
    }
    for m in more {
        if let Some(v) = sums.get(m) {
            out.insert(m.clone(), *v);
        }
    }
    out
}

/// Counters of launches together: counts of several kernels add up; ratios are those of the main one, the last.
pub fn folded(launches: &[Launch], more: &[String]) -> Counters {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (name, v) in launches.iter().flat_map(|l| &l.values) {
        if name.ends_with(".sum") || name.ends_with(".max") {
            *sums.entry(name.clone()).or_insert(0.0) += v;
        } else {
            sums.insert(name.clone(), *v);
        }
    }
    named(&sums, more)
}

/// Counters of each kernel.
pub(crate) fn by_kernel(launches: &[Launch]) -> Kernels {
    let mut groups: BTreeMap<&str, Vec<Launch>> = BTreeMap::new();
    for l in launches {
        groups.entry(&l.kernel).or_default().push(l.clone());
    }
    groups
        .into_iter()
        .map(|(name, l)| (name.to_owned(), folded(&l, &[])))
        .collect()
}

/// The profiler's options for a table of these metrics in a file.
pub fn options(log: &Path, metrics: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = ["--target-processes", "all", "--clock-control", "none"]
        .map(str::to_owned)
        .into();
    out.extend(["--csv", "--page", "raw", "--print-units", "base"].map(str::to_owned));
    out.extend(["--force-overwrite".to_owned(), "--log-file".to_owned()]);
    out.push(log.display().to_string());
    out.extend(["--metrics".to_owned(), metrics.join(",")]);
    out
}

/// The profiler's arguments for a program whose launches it shall count.
pub(crate) fn arguments<'a>(
    log: &Path,
    metrics: &[&str],
    program: &Path,
    own: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let mut out = options(log, metrics);
    out.push(program.display().to_string());
    out.extend(own.cloned());
    out
}

/// Counters of all launches of a program together, and by kernel: those that make up work.
///
/// # Errors
/// The profiler cannot be started or may not read counters, or the program launched nothing.
pub fn of_program(
    program: &Path,
    own: &[String],
    log: &Path,
    observer: &dyn Observer,
) -> Result<(Counters, Kernels), TuneError> {
    let metrics = metrics_of_work(&known(Path::new("ncu"), &|| observer.cancelled()));
    let mut command = Command::new("ncu");
    command.args(arguments(log, &metrics, program, own.iter()));
    let out =
        greenup_process::capture::output(&mut command, Duration::MAX, &|| observer.cancelled())
            .map_err(|e| ProfilerError::Start(e.to_string()))?;
    let launches = read(log);
    let _ = std::fs::remove_file(log);
    let launches = launches?;
    if !out.success() {
        return Err(ProfilerError::Program {
            command: format!("{} {}", program.display(), own.join(" ")),
            message: out.stderr.lines().last().unwrap_or("it failed").to_owned(),
        }
        .into());
    }
    Ok((folded(&launches, &[]), by_kernel(&launches)))
}

/// The launches of the profiler's CSV in order.
///
/// # Errors
/// It cannot be read, holds an error of the profiler, or no launch.
pub fn read(log: &Path) -> Result<Vec<Launch>, ProfilerError> {
    let text = std::fs::read_to_string(log).map_err(|cause| ProfilerError::Read {
        path: log.to_owned(),
        cause,
    })?;
    parse(&text)
}

/// As [`read`], of a program that the profiler ended once it had counted enough: launches that were counted are kept, whatever
/// it reports after them.
///
/// # Errors
/// As [`read`], if no launch was counted.
pub fn read_ended(log: &Path) -> Result<Vec<Launch>, ProfilerError> {
    let text = std::fs::read_to_string(log).map_err(|cause| ProfilerError::Read {
        path: log.to_owned(),
        cause,
    })?;
    rows(&text).or_else(|e| refused(&text).map_or(Err(e), Err))
}

/// The first error that the profiler reports.
fn refused(text: &str) -> Option<ProfilerError> {
    let line = text.lines().find(|l| l.starts_with("==ERROR=="))?;
    let message = line.trim_start_matches("==ERROR==").trim().to_owned();
    Some(ProfilerError::Refused(message))
}

fn parse(text: &str) -> Result<Vec<Launch>, ProfilerError> {
    // Its remarks stand before the table.
    refused(text).map_or_else(|| rows(text), Err)
}

fn rows(text: &str) -> Result<Vec<Launch>, ProfilerError> {
    Ok(super::csv::parse(text)?.launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profilers_table_is_read() {
        let text = "==PROF== Connected\n\
            \"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"device__x\"\n\
            \"\",\"\",\"byte\",\"byte\",\"\"\n\
            \"0\",\"scale\",\"1,000\",\"24\",\"no number\"\n\
            \"1\",\"gemm(int)\",\"2,000\",\"n/a\",\"4\"\n";
        let rows = parse(text).unwrap();
        assert_eq!((rows.len(), rows[0].grid), (2, None));
        assert_eq!(
            rows[0].values[0],
            ("dram__bytes_read.sum".to_owned(), 1000.0)
        );
        assert_eq!(folded(&rows[..1], &[])["dram_bytes"], 1024.0);
        // One of the two is missing: no sum.
        assert_eq!(folded(&rows[1..], &["device__x".to_owned()]).len(), 1);
    }

    #[test]
    fn what_a_chip_may_lack_is_asked_for_where_the_profiler_knows_it() {
        let fabric = "lts__t_sectors_srcunit_ltcfabric";
        let with = [fabric.to_owned()].into();
        let (some, all) = (metrics_of_work(&BTreeSet::new()), metrics_of_work(&with));
        assert_eq!(all.len(), some.len() + 1);
        assert!(all.iter().any(|m| m.starts_with(fabric)));
        assert!(some.contains(&"lts__t_sectors_op_read.sum"));
        assert!(metrics(&with).len() > all.len());
    }

    #[test]
    fn launches_of_a_kernel_add_up() {
        let text = "\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n\
            \"0\",\"near(int)\",\"5\"\n\"1\",\"far\",\"7\"\n\"2\",\"near(int)\",\"6\"\n";
        let k = by_kernel(&parse(text).unwrap());
        assert_eq!((k.len(), k["near"]["instructions"]), (2, 11.0));
    }

    #[test]
    fn refused_counters_are_an_error() {
        let text = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n";
        assert!(matches!(parse(text), Err(ProfilerError::Refused(m)) if m.contains("permission")));
        assert!(matches!(parse("nothing\n"), Err(ProfilerError::NoKernel(m)) if m == "nothing"));
    }
}
