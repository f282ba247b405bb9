//! `fmm direct --device cuda`: the P2P kernel on direct sums and on the U lists of a tree, compared with the peak of its
//! instructions (thesis, section 3.4.4).

use super::DirectArgs;
use crate::commands::check_interrupt;
use crate::cost_model;
use crate::engine::Phase;
use crate::gpu::{InstructionMix, MixRates};
use crate::options::M2l;
use crate::plan::Plan;
use crate::precision::Real;
use crate::session::engines::{config, engine};
use greenup_app::{AppError, Result, print};
use greenup_report::provenance::Provenance;
use greenup_report::si::{percent, si};
use serde::Serialize;
use std::sync::Arc;

/// The P2P kernel on one set of lists.
#[derive(Serialize)]
struct Rate {
    /// Maximum number of points per leaf.
    ncrit: usize,
    leaves: usize,
    pairs: f64,
    /// Median of nine, s.
    time_s: f64,
    pairs_per_s: f64,
}

#[derive(Serialize)]
struct Report {
    provenance: Provenance,
    device: String,
    kernel: String,
    precision: &'static str,
    gradient: bool,
    /// Flops of a pair, a root counted as one.
    flops_per_pair: f64,
    /// All sources at all targets: one leaf.
    direct: Rate,
    /// U lists of a tree.
    tree: Rate,
    mix: MixRates,
}

pub fn run<R: Real>(args: &DirectArgs, ordinal: usize) -> Result {
    let loaded = args.load()?;
    let mut provenance = Provenance::of_process().seeded(Some(args.input.seed));
    let begin = std::time::Instant::now();
    let kernel = args.input.kernel();
    let mut device = String::new();
    let mut measure = |ncrit: usize| {
        let options = args.input.options(ncrit, M2l::Fft);
        let plan = Plan::<R>::new(&loaded.sources, loaded.targets.as_ref(), &options)?;
        let work = cost_model::phases(&plan);
        let pairs = work.iter().filter(|w| w.phase == Phase::P2p);
        let pairs: f64 = pairs.map(|w| w.pairs).sum();
        let leaves = plan.tree().leaves().count();
        let (mut engine, name) = engine(Arc::new(plan), &args.device.device, &args.kernels)?;
        device = name;
        let (mut times, mut out) = (Vec::new(), Vec::new());
        // The first starts the clocks.
        for k in 0..10 {
            check_interrupt()?;
            engine.evaluate_into(&loaded.charges, &mut out)?;
            if k > 0 {
                times.push(engine.phases().p2p_s);
            }
        }
        let time_s = greenup_meter::stats::median(&times);
        Ok::<_, AppError>(Rate {
            ncrit,
            leaves,
            pairs,
            time_s,
            pairs_per_s: pairs / time_s,
        })
    };
    let points = loaded.sources.len();
    let points = points.max(loaded.targets.as_ref().map_or(0, |t| t.len()));
    let direct = measure(points)?;
    let tree = measure(args.ncrit.unwrap_or(256))?;
    let config = config::<R>(kernel, args.input.gradient, ordinal, &args.kernels)?;
    let mix = InstructionMix::<R>::open(kernel, args.input.gradient, ordinal, config)?.rates();
    let mix = mix.map_err(crate::FmmError::from)?;
    provenance.took("sums", begin.elapsed().as_secs_f64());
    let (flops, special) = cost_model::pair(kernel, args.input.gradient);
    let r = Report {
        provenance,
        device,
        kernel: kernel.to_string(),
        precision: R::NAME,
        gradient: args.input.gradient,
        flops_per_pair: flops + special,
        direct,
        tree,
        mix,
    };
    if args.json {
        return print::json(&r);
    }
    print::line(format!("{}, {}, {}", r.kernel, r.precision, r.device));
    let line = |what: &str, rate: f64| {
        print::line(format!(
            "{what:<42} {:>13}  {:>12}  {:>7} of the mix, {:>7} of its loop",
            si(rate, "pairs/s"),
            si(rate * r.flops_per_pair, "flop/s"),
            percent(rate / r.mix.unrolled_pairs_per_s),
            percent(rate / r.mix.loop_pairs_per_s),
        ));
    };
    line("instruction mix, unrolled", r.mix.unrolled_pairs_per_s);
    line("the same in the loop of the kernel", r.mix.loop_pairs_per_s);
    line("P2P kernel, direct sums", r.direct.pairs_per_s);
    let what = format!(
        "P2P kernel, {} leaves (ncrit {})",
        r.tree.leaves, r.tree.ncrit
    );
    line(&what, r.tree.pairs_per_s);
    Ok(())
}
