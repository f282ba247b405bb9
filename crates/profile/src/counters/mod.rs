//! Counters of a program's kernels, by NVIDIA's `ncu`, and the work that follows from them.

mod ncu;

pub use ncu::{CountError, count, profiler};

use crate::attribution::Class;
use crate::groups::{Group, Key, nearest};
use greenup_model::{Machine, Op, Work};
use greenup_tune::analyze::counted::work_of;
use greenup_tune::counters::csv::{DURATION, Launch};
use greenup_tune::counters::ncu::folded;
use greenup_tune::counters::table::COUNTERS;
use greenup_tune::sweep::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters of one launch: the mean of those that were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Name, as the compiler wrote it.
    pub name: String,
    /// Blocks of the grid.
    pub grid: Option<[i32; 3]>,
    /// Threads of a block.
    pub block: Option<[i32; 3]>,
    /// Which part of the launches, by their durations; `None` where these do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u8>,
    /// Launches that were counted.
    pub launches: usize,
    /// Median of their durations under the profiler, s.
    pub time_s: Option<f64>,
    /// Counters of one launch, by our names.
    pub counters: Counters,
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

/// Bytes between the partitions of L2, by our name.
const BETWEEN_PARTITIONS: &str = "l2_between_partitions_bytes";
/// Chips whose L2 is in two partitions: A100; H100 and H200; B200 and B300.
const PARTITIONED: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_103"];

/// Cycles in which the tensor pipes of all multiprocessors were busy: for chips whose profiler does not count operations.
const TENSOR_CYCLES: &str = "sm__pipe_tensor_cycles_active.sum";

/// Duration under the profiler, s.
fn time_s(l: &Launch) -> Option<f64> {
    let mut ns = l.values.iter().filter(|(name, _)| name == DURATION);
    ns.next().map(|(_, ns)| ns * 1e-9)
}

/// Which part of its kernel's launches this one belongs to: that of the nearest median duration.
fn part(l: &Launch, groups: &[Group]) -> Option<u8> {
    let of_kernel = |g: &&Group| {
        matches!(&g.key, Key::Kernel { name, grid, block, .. }
            if *name == l.kernel && l.grid.is_none_or(|o| o == *grid) && l.block.is_none_or(|o| o == *block))
    };
    let (parts, medians): (Vec<u8>, Vec<f64>) = (groups.iter().filter(of_kernel))
        .filter_map(|g| match g.key {
            Key::Kernel { part, .. } => Some((part, g.median_s)),
            Key::Copy(_) | Key::Set => None,
        })
        .unzip();
    parts.get(nearest(&medians, time_s(l)?)?).copied()
}

/// Launches with the same name, grid, block and part together.
pub(crate) fn grouped(launches: &[Launch], groups: &[Group]) -> Vec<Counted> {
    type Same<'a> = (&'a str, Option<[i32; 3]>, Option<[i32; 3]>, Option<u8>);
    let mut all: BTreeMap<Same, Vec<Launch>> = BTreeMap::new();
    for l in launches {
        all.entry((&l.kernel, l.grid, l.block, part(l, groups)))
            .or_default()
            .push(l.clone());
    }
    let more: Vec<String> = (TENSOR.iter().map(|(_, m)| *m))
        .chain([TENSOR_CYCLES])
        .map(str::to_owned)
        .collect();
    all.into_iter()
        .map(|((name, grid, block, part), own)| {
            let n = own.len() as f64;
            let mut times: Vec<f64> = own.iter().filter_map(time_s).collect();
            times.sort_by(f64::total_cmp);
            let counters = folded(&own, &more);
            Counted {
                name: name.to_owned(),
                grid,
                block,
                part,
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
        let mut counters = self.counters.clone();
        if self.partitions_estimated(machine) {
            let dram = counters.get("dram_bytes").copied()?;
            counters.insert(BETWEEN_PARTITIONS.into(), 0.5 * dram);
        }
        let mut out = work_of(&counters, None)?;
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

    /// Metrics of the profiler without which the work of a launch is not known.
    pub fn missing(&self) -> Vec<&'static str> {
        let absent = |name: &str| !self.counters.contains_key(name);
        let mut out: Vec<&str> = (COUNTERS.iter())
            .filter(|c| c.of_work && !c.optional && absent(c.name))
            .flat_map(|c| c.metrics)
            .copied()
            .collect();
        let uses_tensors = self
            .counters
            .get("tensor_instructions")
            .is_none_or(|n| *n > 0.0);
        let by_class = TENSOR.iter().any(|(_, metric)| !absent(metric));
        if uses_tensors && !by_class && absent(TENSOR_CYCLES) {
            out.push(TENSOR_CYCLES);
        }
        out
    }

    /// Whether what went between the partitions of L2 was not counted, on a chip that has them: half of the bytes of slow memory
    /// are then taken for it, as in kernels that stream.
    pub fn partitions_estimated(&self, machine: Option<&Machine>) -> bool {
        let architecture = machine.and_then(|m| m.facts.get("architecture"));
        architecture.is_some_and(|a| PARTITIONED.contains(&a.as_str()))
            && !self.counters.contains_key(BETWEEN_PARTITIONS)
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
        let Key::Kernel {
            name,
            grid,
            block,
            part,
        } = key
        else {
            return false;
        };
        self.name == *name
            && self.part.is_none_or(|p| p == *part)
            && self.grid.is_none_or(|g| g == *grid)
            && self.block.is_none_or(|b| b == *block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ..Launch::default()
        };
        let launches = [
            launch(4, 1e6, 10.0),
            launch(4, 3e6, 30.0),
            launch(8, 1.0, 5.0),
        ];
        let all = grouped(&launches, &[]);
        assert_eq!((all.len(), all[0].launches), (2, 2));
        assert!((all[0].time_s.unwrap() - 20e-9).abs() < 1e-15);
        let w = all[0].work(&Key::Set, None).unwrap();
        assert_eq!((w.count(Op::TensorBf16), w.count(Op::Dram)), (2e6, 1000.0));
        let key = |grid| Key::Kernel {
            name: "k".into(),
            grid: [grid, 1, 1],
            block: [128, 1, 1],
            part: 0,
        };
        // Without counted operations: busy cycles at the machine's rate.
        let mut old = all[0].clone();
        old.counters.retain(|name, _| !name.contains("ops_path"));
        old.counters.insert(TENSOR_CYCLES.into(), 132.0 * 1e6);
        let product = Key::Kernel {
            name: "nvjet_tst".into(),
            grid: [4, 1, 1],
            block: [128, 1, 1],
            part: 0,
        };
        let h100 = greenup_model::shipped::find("h100").unwrap().unwrap();
        let n = old
            .work(&product, Some(&h100))
            .unwrap()
            .count(Op::TensorBf16);
        let cost = &h100.cost[&Op::TensorBf16];
        let expected = 1e6 / (cost.clock_hz.unwrap() * cost.time_s.as_ref().unwrap().value);
        assert!((n / expected - 1.0).abs() < 1e-9, "{n} {expected}");
        // Launches of 10 and 30 ns that the program has too are of two parts.
        let of_part = |part: u8, median_s: f64| Group {
            key: Key::Kernel {
                name: "k".into(),
                grid: [4, 1, 1],
                block: [128, 1, 1],
                part,
            },
            launches: 5,
            time_s: 5.0 * median_s,
            share_s: 5.0 * median_s,
            median_s,
            least_s: median_s,
            longest_s: median_s,
            bytes: 0.0,
            invocations: vec![],
            steps: vec![],
        };
        let parts = [of_part(1, 28e-9), of_part(0, 11e-9)];
        let own = grouped(&launches, &parts);
        let found = |g: &Group| own.iter().find(|c| c.is_of(&g.key)).unwrap();
        let ns = |g: &Group| (found(g).time_s.unwrap() * 1e9).round();
        assert_eq!((own.len(), ns(&parts[0]), ns(&parts[1])), (3, 30.0, 10.0));
        assert_eq!(
            found(&parts[1])
                .work(&parts[1].key, None)
                .unwrap()
                .count(Op::TensorBf16),
            1e6
        );
        assert!(all[0].is_of(&key(4)) && !all[0].is_of(&key(8)) && !all[0].is_of(&Key::Set));
    }
}
