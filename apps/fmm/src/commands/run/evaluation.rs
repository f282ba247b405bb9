//! Repeated evaluations by ranks: times of the fastest, and measurements.

use crate::commands::check_interrupt;
use crate::commands::measure::{measured, meter};
use crate::engine::{Engine, PhaseTimes};
use greenup_app::ranks::Boards;
use greenup_app::{AppError, Result};
use greenup_device::DeviceSpec;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use serde::Serialize;
use std::time::Instant;

/// Where the time of an evaluation goes: of each part the longest time among the ranks, s.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timings {
    /// From the charges to the results in their place, of the fastest evaluation.
    pub evaluation_s: f64,
    /// The same of the slowest.
    pub slowest_s: f64,
    /// How many there were.
    pub evaluations: usize,
    /// The phases of the method.
    pub compute_s: f64,
    /// Permuting and converting charges and results.
    pub permutation_s: f64,
    /// Copies to and from the device.
    pub transfers_s: f64,
    /// Exchanges of charges and equivalent charges between ranks whose points are distributed.
    pub exchange_s: f64,
    /// Gathering the results of all ranks.
    pub gather_s: f64,
    /// Distributed points, after the evaluation: sending results to the ranks that gave the points.
    pub results_exchange_s: f64,
}

/// Times between ranks of an evaluation, s.
#[derive(Clone, Copy, Debug, Default)]
pub struct BetweenRanks {
    pub exchange_s: f64,
    pub gather_s: f64,
}

/// Evaluates `repeat` times: times of the fastest, and the longest time of each phase in it. `evaluate` returns the times
/// of the phases.
pub fn fastest(
    ranks: &dyn Ranks,
    repeat: usize,
    mut evaluate: impl FnMut() -> Result<(PhaseTimes, BetweenRanks)>,
) -> Result<(Timings, PhaseTimes)> {
    let mut best: Option<(Timings, PhaseTimes)> = None;
    let mut slowest_s = 0.0f64;
    for _ in 0..repeat.max(1) {
        check_interrupt()?;
        ranks.barrier();
        let start = Instant::now();
        let (phases, other) = evaluate()?;
        let new = timings(ranks, start, (&phases, other));
        slowest_s = slowest_s.max(new.0.evaluation_s);
        if best.is_none_or(|b| new.0.evaluation_s < b.0.evaluation_s) {
            best = Some(new);
        }
    }
    let (timings, phases) = best.ok_or_else(|| AppError::new("no evaluation"))?;
    let timings = Timings {
        slowest_s,
        evaluations: repeat.max(1),
        ..timings
    };
    Ok((timings, phases))
}

/// Measures repeated evaluations of all ranks at the same time: this rank's measurement, and of several ranks those of all
/// boards.
pub fn measure(
    ranks: &dyn Ranks,
    device: &DeviceSpec,
    engine: &mut dyn Engine,
) -> Result<(Measurement, Option<Boards>)> {
    ranks.barrier();
    let m = measured(&mut meter(device)?, engine)?;
    let boards = match ranks.size() {
        1 => None,
        _ => {
            let energy = m.energy_j.as_ref().map(|e| e.median);
            Boards::of(ranks, m.time_s.median, energy)?
        }
    };
    Ok((m, boards))
}

/// The first rank's device, and the number of ranks if there are several.
pub fn devices(name: String, ranks: usize) -> String {
    match ranks {
        1 => name,
        n => format!("{name}, {n} ranks"),
    }
}

/// Where the time of an evaluation since `start` went, and the longest time of each phase.
fn timings(
    ranks: &dyn Ranks,
    start: Instant,
    (phases, other): (&PhaseTimes, BetweenRanks),
) -> (Timings, PhaseTimes) {
    let mut timings = Timings {
        evaluation_s: start.elapsed().as_secs_f64(),
        slowest_s: 0.0,
        evaluations: 1,
        compute_s: phases.total_s(),
        permutation_s: phases.permutation_s,
        transfers_s: phases.transfers_s,
        exchange_s: other.exchange_s,
        gather_s: other.gather_s,
        results_exchange_s: 0.0,
    };
    let mut phases = *phases;
    let t = &mut timings;
    slowest(
        ranks,
        [
            &mut t.evaluation_s,
            &mut t.compute_s,
            &mut t.permutation_s,
            &mut t.transfers_s,
            &mut t.exchange_s,
            &mut t.gather_s,
        ],
    );
    slowest(ranks, phases.values_mut());
    (timings, phases)
}

/// The longest of each time among the ranks.
fn slowest<const N: usize>(ranks: &dyn Ranks, times: [&mut f64; N]) {
    let mut all = times.each_ref().map(|t| **t);
    ranks.max(&mut all);
    for (to, longest) in times.into_iter().zip(all) {
        *to = longest;
    }
}

/// The longest time among the ranks.
pub fn longest(ranks: &dyn Ranks, mut seconds: f64) -> f64 {
    slowest(ranks, [&mut seconds]);
    seconds
}
