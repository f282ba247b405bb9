//! The microbenchmarks: what each runs, on how much data, and how much work one pass is.

pub mod window;
mod worker;

use crate::kernels::GRAIN_BYTES;
use greenup_device::team::{LOST, Passes, on_core_ns};
use greenup_device::{CpuFacts, Team, clock};
use greenup_meter::Run;
use greenup_model::{Op, Work};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use window::{REPEATS, Repeatable, window};
use worker::Worker;

/// What a microbenchmark does to its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostBenchmark {
    /// FMAs per element; 0 for one add, −1 for one add for two elements.
    F64(i32),
    /// As `F64`, in single precision.
    F32(i32),
    /// Integer operations in registers.
    Integer,
    /// Square roots of `f64`, reading and writing one array each.
    SquareRoots,
    /// Sum over one array.
    Read,
    /// Fill one array.
    Write,
    /// Copy one array to another.
    Copy,
    /// a = b + s·c.
    Triad,
    /// Pointer chase: dependent random reads.
    Chase,
}

/// Where the data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// First-level cache.
    L1,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Main memory.
    Dram,
}

impl Level {
    /// Operation class of its traffic.
    pub fn op(self) -> Op {
        match self {
            Level::L1 => Op::L1,
            Level::L2 => Op::L2,
            Level::L3 => Op::L3,
            Level::Dram => Op::Dram,
        }
    }

    /// Bytes of working set for each thread, a whole number of grains; `None` where the level
    /// does not exist or is not clearly larger than the one above it.
    pub fn bytes(self, facts: &CpuFacts, threads: usize) -> Option<usize> {
        let sharers = |level| {
            facts
                .caches
                .iter()
                .find(|c| c.level == level)
                .map_or(1, |c| c.shared_by.min(threads))
        };
        let share = |level: u32| facts.cache_bytes(level).map(|b| b / sharers(level));
        let bytes = match self {
            Level::L1 => share(1)? / 2,
            Level::L2 => share(2).filter(|&b| b >= 4 * share(1).unwrap_or(0))? / 2,
            Level::L3 => share(3).filter(|&b| b >= 4 * share(2).unwrap_or(0))? / 2,
            // Four times all caches, as STREAM demands, and not a quarter of the memory.
            Level::Dram => {
                let all = 4 * facts.last_level_bytes().max(8 << 20);
                let limit = facts.memory_bytes.map_or(usize::MAX, |m| m as usize / 16);
                all.min(limit) / threads
            }
        };
        Some((bytes / GRAIN_BYTES).max(1) * GRAIN_BYTES)
    }
}

/// One microbenchmark on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// The operation.
    pub kind: HostBenchmark,
    /// Memory level of the working set.
    pub level: Level,
    /// Number of threads.
    pub threads: usize,
}

impl Bench {
    /// Multiply–adds in registers: what the cores do without any memory.
    pub fn f64_peak(threads: usize) -> Self {
        Self {
            kind: HostBenchmark::F64(480),
            level: Level::L1,
            threads,
        }
    }

    /// `f64 I=0.25`, `read L2`, …
    pub fn name(&self) -> String {
        let level = format!("{:?}", self.level).to_uppercase();
        match self.kind {
            HostBenchmark::F64(k) if self.level == Level::Dram => {
                format!("f64 I={}", per_element(k) / 8.0)
            }
            HostBenchmark::F32(k) if self.level == Level::Dram => {
                format!("f32 I={}", per_element(k) / 4.0)
            }
            HostBenchmark::F64(_) => "f64 peak".into(),
            HostBenchmark::F32(_) => "f32 peak".into(),
            HostBenchmark::Integer => "integer".into(),
            HostBenchmark::SquareRoots => "square roots".into(),
            HostBenchmark::Read => format!("read {level}"),
            HostBenchmark::Write => format!("write {level}"),
            HostBenchmark::Copy => format!("copy {level}"),
            HostBenchmark::Triad => format!("triad {level}"),
            HostBenchmark::Chase => format!("random {level}"),
        }
    }

    /// Allocates the data, each thread its own, and returns the benchmark ready to run;
    /// `None` where this host lacks the level, or if `go` says no meanwhile.
    pub fn prepare(
        &self,
        facts: &CpuFacts,
        team: &Team,
        go: &(dyn Fn() -> bool + Sync),
    ) -> Option<Prepared> {
        self.prepare_with(self.level.bytes(facts, self.threads)?, team, go)
    }

    /// The same with a working set of this size for each thread, rounded to whole grains.
    pub fn prepare_with(
        &self,
        bytes: usize,
        team: &Team,
        go: &(dyn Fn() -> bool + Sync),
    ) -> Option<Prepared> {
        let bytes = (bytes / GRAIN_BYTES).max(1) * GRAIN_BYTES;
        let team = team.first(self.threads);
        let made: Mutex<Vec<(usize, Worker)>> = Mutex::new(Vec::new());
        // Made inside the team, so that memory is first touched by its user.
        team.run(
            |rank| {
                if let Some(worker) = Worker::new(self.kind, self.level, bytes, rank, go) {
                    made.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((rank, worker));
                }
            },
            |()| {},
            |_, _| false,
        );
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        if made.len() < team.len() {
            return None;
        }
        made.sort_by_key(|(rank, _)| *rank);
        let mut workers: Vec<Mutex<Worker>> =
            made.into_iter().map(|(_, w)| Mutex::new(w)).collect();
        let one = workers.first_mut()?.get_mut().ok()?.work();
        let mut work = Work::new();
        for (op, n) in one {
            // Counts come from lengths: never negative, never NaN.
            let _ = work.add(op, n * self.threads as f64);
        }
        Some(Prepared {
            team,
            workers,
            work,
        })
    }
}

/// Flops on one element.
fn per_element(k: i32) -> f64 {
    match k {
        -1 => 0.5,
        0 => 1.0,
        k => 2.0 * f64::from(k),
    }
}

/// A microbenchmark with its data.
pub struct Prepared {
    team: Team,
    workers: Vec<Mutex<Worker>>,
    /// Work of one pass of all threads.
    pub work: Work,
}

impl Prepared {
    /// Operations of a class a second, over about `seconds`.
    pub fn rate(&self, op: Op, seconds: f64) -> f64 {
        let run = self.run(seconds);
        self.work.count(op) * run.iterations / run.seconds
    }

    /// Repeats passes for about `seconds`.
    ///
    /// The time counted is that of the median pass times their number. Passes during which another program took a core away
    /// are not among them where enough others are: they say nothing of the machine.
    pub fn run(&self, seconds: f64) -> Run {
        self.run_while(seconds, &|| true)
    }

    /// The same, ended before where `go` says so; one pass is made at least.
    pub fn run_while(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Run {
        window(self, seconds, REPEATS, go).run
    }

    /// Passes of all threads at once, each followed at once by a reading of its core's clock: one
    /// (seconds, Hz) a pass and thread.
    ///
    /// Wide vectors lower the clock of many cores, so a clock measured at another moment says
    /// nothing of a peak. Passes during which the thread lost its core are left out if there are others.
    pub fn with_clock(&self, seconds: f64) -> Vec<(f64, f64)> {
        let pairs = Mutex::new(Vec::new());
        let cut = Mutex::new(Vec::new());
        self.team.run(
            |rank| {
                self.workers[rank]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
            },
            |worker| {
                let before = on_core_ns();
                let start = Instant::now();
                worker.pass();
                let t = start.elapsed().as_secs_f64();
                let on_core = before.zip(on_core_ns()).map(|(b, a)| 1e-9 * (a - b) as f64);
                if let Some(hz) = clock::measure_hz(8e-4) {
                    let whole = on_core.is_none_or(|on| t - on <= LOST * t);
                    if whole { &pairs } else { &cut }
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((t, hz));
                }
            },
            |done, elapsed| done == 0 || elapsed < seconds,
        );
        let of = |m: Mutex<Vec<_>>| m.into_inner().unwrap_or_else(PoisonError::into_inner);
        match of(pairs) {
            none if none.is_empty() => of(cut),
            some => some,
        }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.workers.len()
    }

    /// Time of each pass, s, over about `seconds`.
    pub fn pass_times(&self, seconds: f64) -> Vec<f64> {
        self.passes(seconds, &|| true).seconds
    }
}

impl Repeatable for Prepared {
    fn work(&self) -> &Work {
        &self.work
    }

    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes {
        self.team.run(
            |rank| {
                self.workers[rank]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
            },
            |worker| worker.pass(),
            |done, elapsed| done == 0 || elapsed < seconds && go(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::worker::cycle;
    use super::*;

    #[test]
    fn a_cycle_visits_every_line_once() {
        let chain = cycle(100, &mut fastrand::Rng::with_seed(1), &|| true).unwrap();
        let (mut at, mut seen) = (0, std::collections::BTreeSet::new());
        while seen.insert(at) {
            at = chain.as_slice()[at as usize];
        }
        assert_eq!((seen.len(), at), (100, 0));
    }

    #[test]
    fn every_benchmark_runs_and_counts_its_work() {
        let facts = CpuFacts::read();
        let team = Team::new(&facts.cores);
        for kind in [
            HostBenchmark::F64(1),
            HostBenchmark::F32(-1),
            HostBenchmark::Integer,
            HostBenchmark::SquareRoots,
            HostBenchmark::Read,
            HostBenchmark::Write,
            HostBenchmark::Copy,
            HostBenchmark::Triad,
            HostBenchmark::Chase,
        ] {
            let bench = Bench {
                kind,
                level: Level::L1,
                threads: 1,
            };
            let p = bench.prepare(&facts, &team, &|| true).unwrap();
            let run = p.run(0.01);
            assert!(run.iterations >= 1.0 && run.seconds > 0.0, "{kind:?}");
            // Ended by the user: one pass, not an hour.
            assert_eq!(p.run_while(3600.0, &|| false).iterations, 1.0);
            assert!(!p.work.is_empty());
        }
    }

    #[test]
    fn intensities_are_exact() {
        let facts = CpuFacts::read();
        let team = Team::new(&facts.cores);
        for (kind, want) in [
            (HostBenchmark::F64(0), 0.125),
            (HostBenchmark::F64(1), 0.25),
            (HostBenchmark::F32(-1), 0.125),
            (HostBenchmark::F32(0), 0.25),
            (HostBenchmark::F32(48), 24.0),
        ] {
            let bench = Bench {
                kind,
                level: Level::Dram,
                threads: 1,
            };
            let p = bench.prepare(&facts, &team, &|| true).unwrap();
            assert_eq!(p.work.intensity(), Some(want), "{}", bench.name());
        }
    }
}
