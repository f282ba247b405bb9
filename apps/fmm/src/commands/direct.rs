//! `fmm direct`: direct sums, compared with the peak of their instruction mix.

use super::input::{Input, PrecisionArg};
use super::{check_interrupt, time};
use clap::Args;
use greenup_app::{AppError, Result, print};
use greenup_device::HostIsa;
use greenup_fmm::plan::MAX_POINTS;
use greenup_fmm::points::Points;
use greenup_fmm::precision::Real;
use greenup_fmm::{FmmError, cost_model, direct};
use greenup_report::si::si;
use rayon::prelude::*;
use std::time::Instant;

#[derive(Args)]
pub struct DirectArgs {
    #[command(flatten)]
    input: Input,
}

pub fn run(args: &DirectArgs) -> Result {
    args.input.threads.start()?;
    match args.input.precision {
        PrecisionArg::F32 => of::<f32>(args),
        PrecisionArg::F64 => of::<f64>(args),
    }
}

/// The median of five runs, s.
fn median(mut once: impl FnMut()) -> Result<f64> {
    once();
    let all = (0..5)
        .map(|_| {
            check_interrupt()?;
            let t = Instant::now();
            once();
            Ok(t.elapsed().as_secs_f64())
        })
        .collect::<Result<Vec<f64>>>()?;
    Ok(greenup_meter::stats::median(&all))
}

fn of<R: Real>(args: &DirectArgs) -> Result {
    let loaded = args.input.load()?;
    let kernel = args.input.kernel();
    kernel.check(args.input.gradient)?;
    loaded.sources.check("source")?;
    if let Some(t) = &loaded.targets {
        t.check("target")?;
    }
    if loaded.sources.is_empty() || loaded.targets.as_ref().is_some_and(Points::is_empty) {
        return Err(AppError::new(
            "no pairs: there are no sources, or no targets",
        ));
    }
    if loaded.sources.len() > MAX_POINTS {
        return Err(FmmError::TooManyPoints(MAX_POINTS).into());
    }
    let real = |x: &[f64]| -> Vec<R> { x.iter().map(|&x| R::of(x)).collect() };
    let sources: [Vec<R>; 3] = std::array::from_fn(|a| real(&loaded.sources.x[a]));
    let at = loaded.targets.as_ref().unwrap_or(&loaded.sources);
    let targets: [Vec<R>; 3] = std::array::from_fn(|a| real(&at.x[a]));
    let charges = real(&loaded.charges);
    let isa = HostIsa::best();
    let parameter = kernel.parameter(1.0);
    let s = median(|| {
        std::hint::black_box(direct::sums(
            kernel,
            args.input.gradient,
            parameter,
            &targets,
            &sources,
            &charges,
            isa,
        ));
    })?;
    let pairs = (sources[0].len() * targets[0].len()) as f64;
    let (flops, special) = cost_model::pair(kernel, args.input.gradient);
    let rate = pairs / s;
    print::line(format!(
        "{pairs} pairs in {}: {}, {} (a root counts as one flop), {isa}, {} threads",
        time(s),
        si(rate, "pairs/s"),
        si(rate * (flops + special), "flop/s"),
        rayon::current_num_threads()
    ));
    if args.input.kernel().name() == "laplace" && !args.input.gradient {
        // The same arithmetic unrolled, without loads (thesis, §3.4.4), on all threads.
        let threads = rayon::current_num_threads();
        let each = 200_000_000;
        let mix = R::kernels(isa).mix;
        let s = median(|| {
            (0..threads).into_par_iter().for_each(|_| {
                // SAFETY: the function takes a count alone, and this host has its instructions.
                std::hint::black_box(unsafe { mix(each) });
            });
        })?;
        let peak = threads as f64 * each as f64 / s;
        print::line(format!(
            "peak of the instruction mix: {}; the sums reach {:.1} %",
            si(peak, "pairs/s"),
            100.0 * rate / peak
        ));
    }
    Ok(())
}
