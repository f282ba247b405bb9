//! An evaluation by ranks: each has the whole tree and evaluates its part of the targets.

use super::evaluation::{self, BetweenRanks, Timings, devices, fastest, longest};
use super::gather::{Gather, Processes};
use crate::engine::PhaseTimes;
use crate::plan::Plan;
use crate::precision::Real;
use crate::session::engines::any_engine;
use greenup_app::Result;
use greenup_app::ranks::Boards;
use greenup_device::DeviceSpec;
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

/// Evaluates `repeat` times, and measures if asked to. Ranks that are threads of this process gather by `gather`.
pub fn evaluate<R: Real>(
    plan: &Arc<Plan<R>>,
    charges: &[f64],
    (ranks, device): (&dyn Ranks, &DeviceSpec),
    kernels: &str,
    (repeat, measure): (usize, bool),
    gather: Option<&Gather<'_>>,
) -> Result<Evaluated> {
    let start = Instant::now();
    let own = match ranks.size() {
        1 => Arc::clone(plan),
        n => Arc::new(plan.part(ranks.rank(), n)),
    };
    let (mut engine, name) = any_engine(Arc::clone(&own), device, kernels)?;
    let processes = match gather {
        Some(g) => {
            g.targets(ranks.rank(), own.own_targets());
            None
        }
        None => Some(Processes::new(ranks, &own)),
    };
    let setup_s = longest(ranks, start.elapsed().as_secs_f64());
    let mut results = Vec::new();
    let (timings, phases) = fastest(ranks, repeat, || {
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
        let between = BetweenRanks {
            gather_s: evaluated.elapsed().as_secs_f64(),
            ..BetweenRanks::default()
        };
        Ok((engine.phases(), between))
    })?;
    let measured = if measure {
        Some(evaluation::measure(ranks, device, &mut *engine)?)
    } else {
        None
    };
    let (measured, boards) = measured.map_or((None, None), |(m, boards)| (Some(m), boards));
    Ok(Evaluated {
        device: devices(name, ranks.size()),
        setup_s,
        timings,
        phases,
        results,
        measured,
        boards,
    })
}
