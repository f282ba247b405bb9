//! `fmm direct`: sums without the method, against what their instruction mix permits.

use super::input::{Input, RealName};
use super::{go_on, say, time};
use clap::Args;
use greenup_device::HostIsa;
use greenup_fmm::plan::MOST_POINTS;
use greenup_fmm::points::Points;
use greenup_fmm::real::Real;
use greenup_fmm::{FmmError, direct, work};
use greenup_report::si::si;
use rayon::prelude::*;
use std::time::Instant;

#[derive(Args)]
pub struct DirectArgs {
    #[command(flatten)]
    input: Input,
}

pub fn run(args: &DirectArgs) -> Result<(), FmmError> {
    args.input.pool()?;
    match args.input.real {
        RealName::F32 => of::<f32>(args),
        RealName::F64 => of::<f64>(args),
    }
}

/// The median of five runs, s.
fn median(mut once: impl FnMut()) -> Result<f64, FmmError> {
    once();
    let mut all = (0..5)
        .map(|_| {
            go_on()?;
            let t = Instant::now();
            once();
            Ok(t.elapsed().as_secs_f64())
        })
        .collect::<Result<Vec<f64>, FmmError>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[2])
}

fn of<R: Real>(args: &DirectArgs) -> Result<(), FmmError> {
    let loaded = args.input.load()?;
    let kernel = args.input.kernel();
    kernel.check(args.input.gradient)?;
    loaded.sources.check("source")?;
    if let Some(t) = &loaded.targets {
        t.check("target")?;
    }
    if loaded.sources.is_empty() || loaded.targets.as_ref().is_some_and(Points::is_empty) {
        return Err(FmmError(
            "no pairs: there are no sources, or no targets".to_owned(),
        ));
    }
    if loaded.sources.len() > MOST_POINTS {
        return Err(FmmError(format!("more than {MOST_POINTS} points")));
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
    let (flops, special) = work::pair(kernel, args.input.gradient);
    let rate = pairs / s;
    say(&format!(
        "{pairs} pairs in {}: {}, {} (a root counted as one), {isa}, {} threads",
        time(s),
        si(rate, "pairs/s"),
        si(rate * (flops + special), "flop/s"),
        rayon::current_num_threads()
    ));
    if args.input.kernel().name() == "laplace" && !args.input.gradient {
        // The same arithmetic unrolled, nothing loaded (thesis, §3.4.4), on all threads.
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
        say(&format!(
            "the mix alone: {}; the sums reach {:.1} %",
            si(peak, "pairs/s"),
            100.0 * rate / peak
        ));
    }
    Ok(())
}
