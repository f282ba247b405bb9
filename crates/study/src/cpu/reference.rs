//! Roofs re-measured next to each kernel: on a shared host, or with a variable clock, they differ from the calibration
//! (BEAST ran cuBLAS for the same reason).

use greenup_calibrate::bench::{Bench, Kind, Level, Prepared};
use greenup_device::{CpuFacts, Team};
use greenup_model::{Bound, Machine, Op};

/// Duration of each reference measurement, s.
const SECONDS: f64 = 0.1;

/// Microbenchmarks that re-measure the roofs of a host.
pub struct References {
    benches: Vec<Prepared>,
}

impl References {
    /// Prepares the microbenchmarks on the cores of a team, without those that `go` stopped.
    pub fn new(facts: &CpuFacts, team: &Team, go: &(dyn Fn() -> bool + Sync)) -> Self {
        let prepare = |(kind, level)| {
            let bench = Bench {
                kind,
                level,
                threads: team.len(),
            };
            bench.prepare(facts, team, go)
        };
        let kinds = [
            (Kind::F64(480), Level::L1),
            (Kind::Read, Level::Dram),
            (Kind::Copy, Level::Dram),
        ];
        Self {
            benches: kinds.into_iter().filter_map(prepare).collect(),
        }
    }

    /// The current roof of `bound` divided by the calibrated one: 1 is unchanged, 0.5 is half the rate. `None` for a
    /// bound without a microbenchmark.
    pub fn roof_now(&self, machine: &Machine, bound: Bound) -> Option<f64> {
        let op = match bound {
            Bound::Op(op @ (Op::F64 | Op::Dram)) => op,
            _ => return None,
        };
        let roof = 1.0 / machine.time_of(op).ok()?;
        self.benches
            .iter()
            .filter(|b| b.work.count(op) > 0.0)
            .map(|b| b.rate(op, SECONDS) / roof)
            .reduce(f64::max)
    }
}
