//! Runs of the program under `ncu`: some launches of each kernel are repeated until all counters are known.

use super::{Counted, TENSOR, TENSOR_CYCLES, grouped};
use crate::activity::library::on_path;
use crate::groups::{Group, Key};
use greenup_process::capture::output;
use greenup_setting::setting;
use greenup_tune::counters::ProfilerError;
use greenup_tune::counters::csv::{DURATION, Launch};
use greenup_tune::counters::ncu::{known, metrics_of_work, options, read_ended};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Counters that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// There is no profiler.
    #[error("NVIDIA's profiler `ncu` is not on the PATH, nor with a CUDA toolkit in /usr/local")]
    NoProfiler,
    /// The profiler fails.
    #[error("the profiler: {0}")]
    Profiler(#[from] ProfilerError),
    /// The user stopped it.
    #[error("stopped while counters were read")]
    Stopped,
}

impl CountError {
    /// How to fix it.
    pub fn hint(&self) -> String {
        let time = setting("method").to("time");
        match self {
            Self::NoProfiler => {
                format!("it comes with the CUDA toolkit; `{time}` needs no counters")
            }
            Self::Profiler(_) => format!(
                "reading counters must be allowed: run as root, or see NVIDIA's page on ERR_NVGPUCTRPERM; `{time}` \
                 needs no counters"
            ),
            Self::Stopped => format!(
                "`{}` counts less; `{time}` counts nothing",
                setting("launches").to(1)
            ),
        }
    }
}

/// Kernels with less of the GPU's time are not counted.
const LEAST_SHARE: f64 = 0.002;
/// Longest expression of names in an argument of a command.
const LONGEST: usize = 60_000;

/// The profiler, on the search path or in a CUDA toolkit.
///
/// # Errors
/// There is none.
pub fn profiler() -> Result<PathBuf, CountError> {
    let versions = |dir: &str| -> Vec<PathBuf> {
        let all = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = all.map(|e| e.path()).collect();
        found.sort();
        found.reverse();
        found
    };
    let toolkits = versions("/usr/local")
        .into_iter()
        .map(|d| d.join("bin/ncu"));
    let alone = versions("/opt/nvidia/nsight-compute")
        .into_iter()
        .map(|d| d.join("ncu"));
    on_path("ncu")
        .or_else(|| toolkits.chain(alone).find(|p| p.is_file()))
        .ok_or(CountError::NoProfiler)
}

/// Which launches to count: names of kernels, numbers of their launches, and how many launches have both.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    names: BTreeSet<String>,
    numbers: BTreeSet<u32>,
    count: usize,
}

impl Wanted {
    /// The first launches of each group, without the very first where there are enough.
    fn of(groups: &[Group], each: usize) -> Self {
        let busy: f64 = groups.iter().map(|g| g.share_s).sum();
        let mut out = Self::default();
        let mut launches: BTreeMap<&str, u64> = BTreeMap::new();
        for g in groups {
            if let Key::Kernel { name, .. } = &g.key {
                *launches.entry(name).or_default() += g.launches;
                if g.share_s >= LEAST_SHARE * busy {
                    out.names.insert(name.clone());
                    let skip = usize::from(g.invocations.len() > each);
                    out.numbers
                        .extend(g.invocations.iter().skip(skip).take(each));
                }
            }
        }
        let of = |n: &u64| out.numbers.iter().filter(|k| u64::from(**k) <= *n).count();
        out.count = (launches.iter())
            .filter(|(name, _)| out.names.contains(**name))
            .map(|(_, n)| of(n))
            .sum();
        out
    }

    /// The profiler's expression for them.
    fn expression(&self) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        let plain = |n: &String| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let names = match names.join("|") {
            all if all.len() <= LONGEST && self.names.iter().all(plain) => format!("^({all})$"),
            _ => ".".to_owned(),
        };
        format!("::regex:{names}:^({})$", numbers.join("|"))
    }
}

/// Counts `each` launches of every group that takes time.
///
/// # Errors
/// The profiler is missing, may not read counters, or counts no launch.
pub fn count(
    ncu: &Path,
    command: &[String],
    groups: &[Group],
    each: usize,
    scratch: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Counted>, CountError> {
    // Bytes and times are read in a run of their own: their few metrics need one pass, so that the profiler repeats no
    // launch, and the caches hold what they hold in the program.
    let known = known(ncu, stop);
    let (mut memory, mut metrics): (Vec<&str>, Vec<&str>) = metrics_of_work(&known)
        .into_iter()
        .partition(|m| m.starts_with("dram") || m.starts_with("lts"));
    memory.push(DURATION);
    // In the second run it tells launches of different sizes apart.
    metrics.extend([TENSOR_CYCLES, DURATION]);
    metrics.extend(TENSOR.iter().map(|(_, m)| *m).filter(|m| {
        let base = m.trim_end_matches(".sum");
        known.contains(base)
    }));
    let wanted = Wanted::of(groups, each);
    let log = scratch.join("ncu.csv");
    let launch = |metrics: &[&str], more: &[String]| -> Result<Vec<Launch>, CountError> {
        let mut c = Command::new(ncu);
        c.args(options(&log, metrics));
        c.args([
            "--kernel-name-base",
            "mangled",
            "--print-kernel-base",
            "mangled",
        ]);
        // As the kernels find the caches in the program.
        c.args(["--cache-control", "none", "--kill", "yes"]);
        c.args(more).args(command);
        let out =
            output(&mut c, Duration::MAX, stop).map_err(|e| ProfilerError::Start(e.to_string()))?;
        let launches = read_ended(&log);
        let _ = std::fs::remove_file(&log);
        if stop() && !launches.as_ref().is_ok_and(|l| !l.is_empty()) {
            return Err(CountError::Stopped);
        }
        launches.map_err(|e| {
            match (e, out.success()) {
                (ProfilerError::NoKernel(_) | ProfilerError::Read { .. }, false) => {
                    ProfilerError::Program {
                        command: command.join(" "),
                        message: out.stderr.lines().last().unwrap_or("it failed").to_owned(),
                    }
                }
                (e, _) => e,
            }
            .into()
        })
    };
    let chosen = [
        "--kernel-id".to_owned(),
        wanted.expression(),
        "--launch-count".to_owned(),
        wanted.count.max(1).to_string(),
    ];
    let counted = |metrics: &[&str]| match launch(metrics, &chosen) {
        // The launches of this run had other numbers: take the first ones, whatever they are.
        Err(CountError::Profiler(ProfilerError::NoKernel(_))) => {
            launch(metrics, &["--launch-count".to_owned(), "200".to_owned()])
        }
        other => other,
    };
    let mut out = grouped(&counted(&memory)?, groups);
    for c in grouped(&counted(&metrics)?, groups) {
        let same = |o: &&mut Counted| {
            (&o.name, o.grid, o.block, o.part) == (&c.name, c.grid, c.block, c.part)
        };
        if let Some(o) = out.iter_mut().find(same) {
            o.counters.extend(c.counters);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, share_s: f64, launches: u64, invocations: &[u32]) -> Group {
        Group {
            key: Key::Kernel {
                name: name.into(),
                grid: [1, 1, 1],
                block: [32, 1, 1],
                part: 0,
            },
            launches,
            time_s: share_s,
            share_s,
            median_s: 1e-3,
            least_s: 1e-3,
            longest_s: 1e-3,
            bytes: 0.0,
            invocations: invocations.to_vec(),
            steps: vec![],
        }
    }

    #[test]
    fn few_launches_of_each_group_are_wanted() {
        let groups = [
            group("_Z1a", 5.0, 100, &[1, 3, 5, 7]),
            group("_Z1a", 4.0, 100, &[2, 4, 6]),
            group("b", 1.0, 1, &[1]),
            group("rare", 1e-6, 4, &[1, 2]),
        ];
        let w = Wanted::of(&groups, 2);
        assert_eq!(w.numbers, [1, 3, 4, 5, 6].into());
        // All five of a, the only one of b.
        assert_eq!(w.count, 6);
        assert_eq!(w.expression(), "::regex:^(_Z1a|b)$:^(1|3|4|5|6)$");
        let odd = Wanted {
            names: ["a::b<c>".to_owned()].into(),
            numbers: [7].into(),
            count: 1,
        };
        assert_eq!(odd.expression(), "::regex:.:^(7)$");
    }
}
