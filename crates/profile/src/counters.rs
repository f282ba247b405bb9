//! Counters of a program's kernels, by NVIDIA's `ncu`: the program runs once more, and some launches of each kernel are
//! repeated until all counters are known.

use crate::activity::library::on_path;
use crate::attribution::Class;
use crate::groups::{Group, Key};
use greenup_model::{Machine, Op, Work};
use greenup_process::capture::output;
use greenup_tune::analyze::counted::work_of;
use greenup_tune::counters::ProfilerError;
use greenup_tune::counters::ncu::{COUNTERS, Launch, folded, options, read_ended};
use greenup_tune::sweep::Counters;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Counters of one launch: the mean of those that were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Name, as the compiler wrote it.
    pub name: String,
    /// Blocks of the grid.
    pub grid: Option<[i32; 3]>,
    /// Threads of a block.
    pub block: Option<[i32; 3]>,
    /// Launches that were counted.
    pub launches: usize,
    /// Median of their durations under the profiler, s.
    pub time_s: Option<f64>,
    /// Counters of one launch, by our names.
    pub counters: Counters,
}

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
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoProfiler => "it comes with the CUDA toolkit; `--method time` needs no counters",
            Self::Profiler(_) => {
                "reading counters must be allowed: run as root, or see NVIDIA's page on ERR_NVGPUCTRPERM; `--method time` \
                 needs no counters"
            }
            Self::Stopped => "`--launches 1` counts less; `--method time` counts nothing",
        }
    }
}

/// Operations of tensor cores by their class: names of the profiler, those of a chip that has them.
const TENSOR: [(Op, &str); 9] = [
    (Op::TensorBf16, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"),
    (Op::TensorBf16, "sm__ops_path_tensor_src_fp16_dst_fp32.sum"),
    (Op::TensorBf16, "sm__ops_path_tensor_src_fp16_dst_fp16.sum"),
    (Op::TensorTf32, "sm__ops_path_tensor_src_tf32_dst_fp32.sum"),
    (Op::TensorF64, "sm__ops_path_tensor_src_fp64.sum"),
    (Op::TensorFp8, "sm__ops_path_tensor_src_fp8_dst_fp32.sum"),
    (Op::TensorFp8, "sm__ops_path_tensor_src_fp8_dst_fp16.sum"),
    (Op::TensorFp8, "sm__ops_path_tensor_src_fp8.sum"),
    (Op::TensorInt8, "sm__ops_path_tensor_src_int8.sum"),
];

const DURATION: &str = "gpu__time_duration.sum";
/// Cycles in which the tensor pipes of all multiprocessors were busy: for chips whose profiler does not count operations.
const TENSOR_CYCLES: &str = "sm__pipe_tensor_cycles_active.sum";
/// Kernels with less of the GPU's time are not counted.
const LEAST_SHARE: f64 = 0.002;
/// Longest expression of names in an argument of a command.
const LONGEST: usize = 60_000;
/// Time in which the profiler lists its metrics.
const QUERY: Duration = Duration::from_secs(120);

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
    let (mut memory, mut metrics): (Vec<&str>, Vec<&str>) = (COUNTERS.iter().filter(|c| c.of_work))
        .flat_map(|c| c.metrics)
        .partition(|m| m.starts_with("dram") || m.starts_with("lts"));
    memory.push(DURATION);
    metrics.push(TENSOR_CYCLES);
    let known = known(ncu, stop);
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
    let mut out = grouped(&counted(&memory)?);
    for c in grouped(&counted(&metrics)?) {
        let same = |o: &&mut Counted| (&o.name, o.grid, o.block) == (&c.name, c.grid, c.block);
        if let Some(o) = out.iter_mut().find(same) {
            o.counters.extend(c.counters);
        }
    }
    Ok(out)
}

/// Names of the metrics that the profiler knows for this GPU, without their sums.
fn known(ncu: &Path, stop: &dyn Fn() -> bool) -> BTreeSet<String> {
    let mut c = Command::new(ncu);
    c.arg("--query-metrics");
    let Ok(out) = output(&mut c, QUERY, stop) else {
        return BTreeSet::new();
    };
    (out.stdout.lines())
        .filter_map(|l| l.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn grouped(launches: &[Launch]) -> Vec<Counted> {
    type Same<'a> = (&'a str, Option<[i32; 3]>, Option<[i32; 3]>);
    let mut all: BTreeMap<Same, Vec<Launch>> = BTreeMap::new();
    for l in launches {
        all.entry((&l.kernel, l.grid, l.block))
            .or_default()
            .push(l.clone());
    }
    let more: Vec<String> = (TENSOR.iter().map(|(_, m)| *m))
        .chain([TENSOR_CYCLES])
        .map(str::to_owned)
        .collect();
    all.into_iter()
        .map(|((name, grid, block), own)| {
            let n = own.len() as f64;
            let mut times: Vec<f64> = (own.iter().flat_map(|l| &l.values))
                .filter(|(name, _)| name == DURATION)
                .map(|(_, ns)| ns * 1e-9)
                .collect();
            times.sort_by(f64::total_cmp);
            let counters = folded(&own, &more);
            Counted {
                name: name.to_owned(),
                grid,
                block,
                launches: own.len(),
                time_s: (!times.is_empty())
                    .then(|| 0.5 * (times[(times.len() - 1) / 2] + times[times.len() / 2])),
                // Those of work are sums over the launches.
                counters: counters.into_iter().map(|(k, v)| (k, v / n)).collect(),
            }
        })
        .collect()
}

impl Counted {
    /// Work of one launch, by the classes of a machine: as in `greenup explain`, with the operations of tensor cores by their
    /// precision. Where the profiler does not count those, they follow from the busy cycles of the tensor pipes and the
    /// machine's rate for the precision that the kernel's name suggests.
    pub fn work(&self, key: &Key, machine: Option<&Machine>) -> Option<Work> {
        let mut out = work_of(&self.counters, None)?;
        let mut counted = false;
        for (op, metric) in TENSOR {
            if let Some(n) = self.counters.get(metric) {
                out.add(op, *n).ok()?;
                counted = true;
            }
        }
        if !counted && let Some((op, n)) = machine.and_then(|m| self.by_cycles(key, m)) {
            out.add(op, n).ok()?;
        }
        Some(out)
    }

    fn by_cycles(&self, key: &Key, machine: &Machine) -> Option<(Op, f64)> {
        let Class::Tensor(op) = Class::of(key) else {
            return None;
        };
        let cost = machine.cost.get(&op)?;
        let clock_hz = (cost.clock_hz).or(machine.clock.as_ref().map(|c| c.highest_hz.value))?;
        let multiprocessors: f64 = machine.facts.get("multiprocessors")?.parse().ok()?;
        let a_cycle = 1.0 / (cost.time_s.as_ref()?.value * clock_hz * multiprocessors);
        Some((op, self.counters.get(TENSOR_CYCLES)? * a_cycle))
    }

    /// Whether it is of these launches.
    pub fn is_of(&self, key: &Key) -> bool {
        let Key::Kernel { name, grid, block } = key else {
            return false;
        };
        self.name == *name
            && self.grid.is_none_or(|g| g == *grid)
            && self.block.is_none_or(|b| b == *block)
    }
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
            },
            launches,
            time_s: share_s,
            share_s,
            median_s: 1e-3,
            least_s: 1e-3,
            longest_s: 1e-3,
            bytes: 0.0,
            invocations: invocations.to_vec(),
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

    #[test]
    fn launches_become_work_of_one() {
        let launch = |grid: i32, bf16: f64, ns: f64| Launch {
            kernel: "k".into(),
            grid: Some([grid, 1, 1]),
            block: Some([128, 1, 1]),
            values: (COUNTERS.iter().flat_map(|c| c.metrics))
                .map(|m| {
                    (
                        (*m).to_owned(),
                        if m.starts_with("dram") { 500.0 } else { 0.0 },
                    )
                })
                .chain([(TENSOR[0].1.to_owned(), bf16), (DURATION.to_owned(), ns)])
                .collect(),
        };
        let all = grouped(&[
            launch(4, 1e6, 10.0),
            launch(4, 3e6, 30.0),
            launch(8, 1.0, 5.0),
        ]);
        assert_eq!((all.len(), all[0].launches), (2, 2));
        assert!((all[0].time_s.unwrap() - 20e-9).abs() < 1e-15);
        let w = all[0].work(&Key::Set, None).unwrap();
        assert_eq!((w.count(Op::TensorBf16), w.count(Op::Dram)), (2e6, 1000.0));
        let key = |grid| Key::Kernel {
            name: "k".into(),
            grid: [grid, 1, 1],
            block: [128, 1, 1],
        };
        // Without counted operations: busy cycles at the machine's rate.
        let mut old = all[0].clone();
        old.counters.retain(|name, _| !name.contains("ops_path"));
        old.counters.insert(TENSOR_CYCLES.into(), 132.0 * 1e6);
        let product = Key::Kernel {
            name: "nvjet_tst".into(),
            grid: [4, 1, 1],
            block: [128, 1, 1],
        };
        let h100 = greenup_model::shipped::find("h100").unwrap().unwrap();
        let n = old
            .work(&product, Some(&h100))
            .unwrap()
            .count(Op::TensorBf16);
        let cost = &h100.cost[&Op::TensorBf16];
        let expected = 1e6 / (cost.clock_hz.unwrap() * cost.time_s.as_ref().unwrap().value);
        assert!((n / expected - 1.0).abs() < 1e-9, "{n} {expected}");
        assert!(all[0].is_of(&key(4)) && !all[0].is_of(&key(8)) && !all[0].is_of(&Key::Set));
    }
}
