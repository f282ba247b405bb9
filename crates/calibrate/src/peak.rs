//! Arithmetic peaks against cores × flops per cycle × the clock measured at that moment.

use crate::bench::{Bench, HostBenchmark, Level};
use greenup_device::{CpuFacts, Team};
use greenup_meter::{Summary, stats};
use greenup_model::Op;
use serde::Serialize;

/// How close an arithmetic peak came to what the clock allows.
#[derive(Clone, Debug, Serialize)]
pub struct PeakCheck {
    /// Operation class.
    pub op: Op,
    /// All cores together, by the median pass.
    pub flops_per_s: f64,
    /// Measured over pipes × flops per instruction × clock, a value for each pass and core.
    pub share: Summary,
    /// Vector pipes a core seems to have.
    pub pipes: f64,
}

/// Measures f64 and f32 FMA peaks on all cores, each pass followed by a reading of its clock.
///
/// Two vector pipes are assumed, as all server and desktop cores of the last decade have; a core
/// that shows about half of that has one.
pub fn check(facts: &CpuFacts, team: &Team, seconds: f64) -> Vec<PeakCheck> {
    [
        (HostBenchmark::F64(480), Op::F64, 8),
        (HostBenchmark::F32(480), Op::F32, 4),
    ]
    .into_iter()
    .filter_map(|(kind, op, bytes)| {
        let bench = Bench {
            kind,
            level: Level::L1,
            threads: team.len(),
        };
        let prepared = bench.prepare(facts, team, &|| true)?;
        let pairs = prepared.with_clock(seconds);
        let flops = prepared.work.count(op) / prepared.threads() as f64;
        let per_cycle = facts.isa.flops_per_instruction(bytes);
        let one_pipe: Vec<f64> = pairs
            .iter()
            .map(|(t, hz)| flops / (t * per_cycle * hz))
            .collect();
        let pipes = if stats::median(&one_pipe) < 1.1 {
            1.0
        } else {
            2.0
        };
        let shares: Vec<f64> = one_pipe.iter().map(|s| s / pipes).collect();
        let times: Vec<f64> = pairs.iter().map(|(t, _)| *t).collect();
        Some(PeakCheck {
            op,
            flops_per_s: prepared.work.count(op) / stats::median(&times),
            share: Summary::of(&shares)?,
            pipes,
        })
    })
    .collect()
}
