//! An evaluation by ranks: each has the whole tree and evaluates its part of the targets.

use super::check_interrupt;
use super::device::{engine, measured, meter};
use super::gather::{Gather, Processes};
use greenup_app::args::Device;
use greenup_app::ranks::Boards;
use greenup_app::{AppError, Result};
use greenup_fmm::engine::PhaseTimes;
use greenup_fmm::plan::Plan;
use greenup_fmm::precision::Real;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// What ranks evaluated.
pub struct Evaluated {
    /// Name of the first rank's device.
    pub device: String,
    /// Time of the slowest rank's set-up of its device, s.
    pub setup_s: f64,
    /// Times of the fastest evaluation.
    pub timings: Timings,
    /// Longest time of each phase among the ranks.
    pub phases: PhaseTimes,
    /// Results at all targets, on the first rank; empty if they were gathered elsewhere.
    pub results: Vec<f64>,
    /// The first rank's measurement.
    pub measured: Option<Measurement>,
    /// Of several ranks.
    pub boards: Option<Boards>,
}

/// Where the time of an evaluation goes: of each part the longest time among the ranks, s.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timings {
    /// From the charges to the results in their place.
    pub evaluation_s: f64,
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
}

/// Evaluates `repeat` times, and measures if asked to. Ranks that are threads of this process gather by `gather`.
pub fn evaluate<R: Real>(
    plan: &Arc<Plan<R>>,
    charges: &[f64],
    (ranks, device): (&dyn Ranks, Device),
    kernels: &str,
    (repeat, measure): (usize, bool),
    gather: Option<&Gather<'_>>,
) -> Result<Evaluated> {
    let start = Instant::now();
    let own = match ranks.size() {
        1 => Arc::clone(plan),
        n => Arc::new(plan.part(ranks.rank(), n)),
    };
    let (mut engine, name) = engine(Arc::clone(&own), device, kernels)?;
    let processes = match gather {
        Some(g) => {
            g.targets(ranks.rank(), own.own_targets());
            None
        }
        None => Some(Processes::new(ranks, &own)),
    };
    let setup_s = longest(ranks, start.elapsed().as_secs_f64());
    let mut best: Option<(Timings, PhaseTimes)> = None;
    let mut results = Vec::new();
    for _ in 0..repeat.max(1) {
        check_interrupt()?;
        ranks.barrier();
        let start = Instant::now();
        let evaluated = match (gather, &processes) {
            (Some(g), _) => {
                g.evaluate(ranks.rank(), |out| engine.evaluate_into(charges, out))?;
                let evaluated = Instant::now();
                ranks.barrier();
                g.merge(ranks.rank());
                evaluated
            }
            (None, p) => {
                engine.evaluate_into(charges, &mut results)?;
                let evaluated = Instant::now();
                if let Some(p) = p {
                    p.gather(ranks, &mut results);
                }
                evaluated
            }
        };
        let gather_s = evaluated.elapsed().as_secs_f64();
        let new = timings(ranks, start, (&engine.phases(), 0.0, gather_s));
        if best.is_none_or(|b| new.0.evaluation_s < b.0.evaluation_s) {
            best = Some(new);
        }
    }
    let (timings, phases) = best.ok_or_else(|| AppError::new("no evaluation"))?;
    let (mut measurement, mut boards) = (None, None);
    if measure {
        ranks.barrier();
        let m = measured(&mut meter(device)?, &mut *engine)?;
        if ranks.size() > 1 {
            let energy = m.energy_j.as_ref().map(|e| e.median);
            boards = Boards::of(ranks, m.time_s.median, energy)?;
        }
        measurement = Some(m);
    }
    Ok(Evaluated {
        device: match ranks.size() {
            1 => name,
            n => format!("{name}, {n} ranks"),
        },
        setup_s,
        timings,
        phases,
        results,
        measured: measurement,
        boards,
    })
}

/// Where the time of an evaluation since `start` went, and the longest time of each phase.
pub fn timings(
    ranks: &dyn Ranks,
    start: Instant,
    (phases, exchange_s, gather_s): (&PhaseTimes, f64, f64),
) -> (Timings, PhaseTimes) {
    let mut all = [
        start.elapsed().as_secs_f64(),
        phases.total_s(),
        phases.permutation_s,
        phases.transfers_s,
        exchange_s,
        gather_s,
    ];
    ranks.max(&mut all);
    let [
        evaluation_s,
        compute_s,
        permutation_s,
        transfers_s,
        exchange_s,
        gather_s,
    ] = all;
    let timings = Timings {
        evaluation_s,
        compute_s,
        permutation_s,
        transfers_s,
        exchange_s,
        gather_s,
    };
    (timings, slowest(ranks, *phases))
}

pub fn longest(ranks: &dyn Ranks, seconds: f64) -> f64 {
    let mut all = [seconds];
    ranks.max(&mut all);
    all[0]
}

/// The longest time of each phase.
fn slowest(ranks: &dyn Ranks, p: PhaseTimes) -> PhaseTimes {
    let mut all = [
        p.p2m_m2m_s,
        p.m2l_fft_s,
        p.m2l_hadamard_s,
        p.m2l_inverse_fft_s,
        p.m2l_compressed_s,
        p.p2l_l2l_s,
        p.l2p_m2p_s,
        p.p2p_s,
        p.permutation_s,
        p.transfers_s,
    ];
    ranks.max(&mut all);
    let [
        p2m_m2m_s,
        m2l_fft_s,
        m2l_hadamard_s,
        m2l_inverse_fft_s,
        m2l_compressed_s,
        p2l_l2l_s,
        l2p_m2p_s,
        p2p_s,
        permutation_s,
        transfers_s,
    ] = all;
    PhaseTimes {
        p2m_m2m_s,
        m2l_fft_s,
        m2l_hadamard_s,
        m2l_inverse_fft_s,
        m2l_compressed_s,
        p2l_l2l_s,
        l2p_m2p_s,
        p2p_s,
        permutation_s,
        transfers_s,
    }
}
