//! What the cores of a host share: a triad in memory, reads of the shared cache, and multiply–adds in registers, on 1, 2, 4, …
//! active cores.

use crate::bench::{Bench, HostBenchmark, Level, Prepared};
use greenup_device::{CpuFacts, Team};
use greenup_meter::Observer;
use greenup_model::Op;
use greenup_model::machine::Estimate;
use greenup_model::network::Host;
use greenup_model::network::host::Active;

/// Working set of a core in reads of the shared cache, in caches of its own.
const BEYOND: usize = 4;

/// Benchmarks of a number of cores.
struct CoreBenches {
    cores: usize,
    benches: Vec<(Op, Prepared)>,
    /// Rates of each round, per benchmark.
    rates: Vec<Vec<f64>>,
}

/// Measures 1, 2, 4, … and all of the first `most` cores in interleaved rounds. A rate is the median of the rounds' best
/// passes: a pass in which another program took a core says nothing of the machine. `None` if the observer cancels before the
/// first round ends.
pub fn measure(
    facts: &CpuFacts,
    most: usize,
    quick: bool,
    observer: &dyn Observer,
) -> Option<Host> {
    let most = most.clamp(1, facts.cores.len().max(1));
    let team = Team::new(&facts.cores);
    let private = facts.caches.iter().filter(|c| c.shared_by <= 1);
    let private = private.map(|c| c.bytes).max();
    let all = facts.last_level_bytes();
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|n| *n < most)
        .collect();
    counts.push(most);
    let go = || !observer.cancelled();
    let mut rows: Vec<CoreBenches> = (counts.into_iter())
        .map(|cores| row(facts, &team, cores, (private.unwrap_or(1 << 20), all), &go))
        .collect();
    let (rounds, seconds) = if quick { (3, 0.08) } else { (7, 0.25) };
    observer.stage("memory of the host", rounds * rows.len());
    for round in 0..rounds {
        for row in &mut rows {
            if observer.cancelled() {
                if round == 0 {
                    return None;
                }
                break;
            }
            for ((op, bench), rates) in row.benches.iter().zip(&mut row.rates) {
                let passes = bench.pass_times(seconds);
                let best = passes.into_iter().fold(f64::INFINITY, f64::min);
                rates.push(bench.work.count(*op) / best);
            }
            observer.step(&format!("{} cores", row.cores));
        }
    }
    let active = (rows.into_iter())
        .filter_map(|row| {
            let rate = |op: Op| {
                let k = row.benches.iter().position(|b| b.0 == op)?;
                estimate(&row.rates[k])
            };
            Some(Active {
                cores: row.cores,
                memory_bytes_per_s: rate(Op::Dram)?,
                cache_bytes_per_s: rate(Op::L3),
                flops_per_s: rate(Op::F64),
            })
        })
        .collect();
    Some(Host {
        private_cache_bytes: private.map(|b| b as f64),
        shared_cache_bytes: (all > 0).then_some(all as f64),
        memory_bytes_per_s: None,
        active,
    })
}

fn row(
    facts: &CpuFacts,
    team: &Team,
    cores: usize,
    (private, shared): (usize, usize),
    go: &(dyn Fn() -> bool + Sync),
) -> CoreBenches {
    let bench = |kind, level| Bench {
        kind,
        level,
        threads: cores,
    };
    // Its three arrays together are twice all caches, and a small part of the memory: all rows are kept.
    let limit = facts.memory_bytes.map_or(usize::MAX, |m| m as usize / 32);
    let arrays = (2 * shared.max(8 << 20)).min(limit) / 3;
    let memory = bench(HostBenchmark::Triad, Level::Dram).prepare_with(arrays / cores, team, go);
    // Reads of all cores have room in the shared cache, or there is none.
    let each = BEYOND * private;
    let cached = (each * cores <= shared / 2)
        .then(|| bench(HostBenchmark::Read, Level::L3).prepare_with(each, team, go))
        .flatten();
    let peak = Bench::f64_peak(cores).prepare(facts, team, go);
    let benches: Vec<_> = [(Op::Dram, memory), (Op::L3, cached), (Op::F64, peak)]
        .into_iter()
        .filter_map(|(op, b)| Some((op, b?)))
        .collect();
    CoreBenches {
        cores,
        rates: vec![Vec::new(); benches.len()],
        benches,
    }
}

/// Median and range of some rates.
fn estimate(rates: &[f64]) -> Option<Estimate> {
    let mut all = rates.to_vec();
    all.sort_by(f64::total_cmp);
    let (lo, hi) = (*all.first()?, *all.last()?);
    Some(Estimate::with_interval(all[all.len() / 2], lo, hi))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::observe::Silent;

    #[test]
    fn rates_of_active_cores_are_those_of_a_machine() {
        let mut facts = CpuFacts::read();
        // A small host, so that its arrays are small.
        facts.memory_bytes = Some(64 << 20);
        let host = measure(&facts, 2, true, &Silent).unwrap();
        let cores: Vec<usize> = host.active.iter().map(|a| a.cores).collect();
        assert_eq!(
            cores,
            if facts.cores.len() > 1 {
                vec![1, 2]
            } else {
                vec![1]
            }
        );
        for a in &host.active {
            let flops = a.flops_per_s.as_ref().unwrap().value;
            assert!(a.memory_bytes_per_s.value > 1e8 && flops > 1e8, "{a:?}");
        }
        let machine = greenup_model::Machine::from_toml(
            "name='m'\ntitle='M'\n[cost.f64]\ntime_s={value=1e-12}",
        )
        .unwrap();
        let with = greenup_model::Machine {
            host: Some(host),
            ..machine
        };
        with.check().unwrap();
    }
}
