//! An evaluation by ranks: each has the whole tree and evaluates its part of the targets.

use super::check_interrupt;
use super::device::{engine, measured, meter};
use greenup_app::Result;
use greenup_app::args::Device;
use greenup_app::ranks::Boards;
use greenup_fmm::engine::PhaseTimes;
use greenup_fmm::plan::Plan;
use greenup_fmm::precision::Real;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use std::sync::Arc;
use std::time::Instant;

/// What ranks evaluated.
pub struct Evaluated {
    /// Name of the first rank's device.
    pub device: String,
    /// Time of the slowest rank's set-up of its device, s.
    pub setup_s: f64,
    /// Time of the fastest evaluation by all ranks, with the results gathered, s.
    pub best_s: f64,
    /// Longest time of each phase among the ranks.
    pub phases: PhaseTimes,
    /// Results at all targets, on the first rank.
    pub results: Vec<f64>,
    /// The first rank's measurement.
    pub measured: Option<Measurement>,
    /// Of several ranks.
    pub boards: Option<Boards>,
}

/// Evaluates `repeat` times, and measures if asked to.
pub fn evaluate<R: Real>(
    plan: &Arc<Plan<R>>,
    charges: &[f64],
    (ranks, device): (&dyn Ranks, Device),
    kernels: &str,
    (repeat, measure): (usize, bool),
) -> Result<Evaluated> {
    let start = Instant::now();
    let own = match ranks.size() {
        1 => Arc::clone(plan),
        n => Arc::new(plan.part(ranks.rank(), n)),
    };
    let (mut engine, name) = engine(Arc::clone(&own), device, kernels)?;
    let setup_s = longest(ranks, start.elapsed().as_secs_f64());
    let (mut best_s, mut phases, mut results) = (f64::INFINITY, PhaseTimes::default(), Vec::new());
    for _ in 0..repeat.max(1) {
        check_interrupt()?;
        ranks.barrier();
        let start = Instant::now();
        results = gathered(plan, &own, ranks, engine.evaluate(charges)?)?;
        let s = longest(ranks, start.elapsed().as_secs_f64());
        if s < best_s {
            (best_s, phases) = (s, slowest(ranks, engine.phases()));
        }
    }
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
        best_s,
        phases,
        results,
        measured: measurement,
        boards,
    })
}

fn longest(ranks: &dyn Ranks, seconds: f64) -> f64 {
    let mut all = [seconds];
    ranks.max(&mut all);
    all[0]
}

/// The results of all parts, on the first rank.
fn gathered<R: Real>(
    plan: &Plan<R>,
    own: &Plan<R>,
    ranks: &dyn Ranks,
    mut out: Vec<f64>,
) -> Result<Vec<f64>> {
    if ranks.size() == 1 {
        return Ok(out);
    }
    let Some(parts) = ranks.gather(&bytes(&own.own_results(&out))) else {
        return Ok(Vec::new());
    };
    for (rank, part) in parts.iter().enumerate().skip(1) {
        plan.part_targets(rank, parts.len())
            .put(&numbers(part), &mut out);
    }
    Ok(out)
}

fn bytes(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|w| f64::from_ne_bytes(*w)).collect()
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
    }
}
