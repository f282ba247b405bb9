//! `fmm direct`: direct sums, compared with the peak of their instruction mix.

mod gpu;

use super::input::{Input, Loaded, PrecisionArg};
use super::{check_interrupt, time};
use crate::plan::MAX_POINTS;
use crate::points::{Points, files};
use crate::precision::Real;
use crate::{FmmError, cost_model, direct};
use clap::Args;
use greenup_app::args::DeviceArg;
use greenup_app::{AppError, Result, print};
use greenup_device::HostIsa;
use greenup_report::provenance::Provenance;
use greenup_report::si::si;
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  fmm direct -n 20000\n  fmm direct --points apps/fmm/examples/charges.csv -o exact.csv\n  fmm direct -n 1000000 --precision f32 --device cuda"
)]
pub struct DirectArgs {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub device: DeviceArg,
    /// With a GPU: maximum number of points per leaf of the tree whose U lists are measured too [default: 256]
    #[arg(long, value_name = "N")]
    pub ncrit: Option<usize>,
    /// With a GPU: tuning parameters of the P2P kernel, as of `fmm run`
    #[arg(long, default_value = "", value_name = "NAME=N,...")]
    pub kernels: String,
    /// Write the sums, exact but for rounding, on CPUs: .csv, .npy, or .vtu for ParaView
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl DirectArgs {
    /// Sources and targets, at least one of each.
    fn load(&self) -> Result<Loaded> {
        let loaded = self.input.load()?;
        if loaded.sources.is_empty() || loaded.targets.as_ref().is_some_and(Points::is_empty) {
            return Err(AppError::new(
                "no pairs: there are no sources, or no targets",
            ));
        }
        Ok(loaded)
    }
}

/// Result of direct sums.
#[derive(Serialize)]
struct Report {
    provenance: Provenance,
    kernel: String,
    precision: &'static str,
    gradient: bool,
    isa: String,
    threads: usize,
    pairs: f64,
    /// Median of five, s.
    time_s: f64,
    pairs_per_s: f64,
    flops_per_s: f64,
    /// Peak of the instruction mix, pairs/s; only of Laplace without gradients.
    peak_pairs_per_s: Option<f64>,
}

pub fn run(args: &DirectArgs) -> Result {
    args.input.threads.start()?;
    args.input.check_output(args.out.as_deref())?;
    if args.out.is_some() && args.device.device.is_gpu() {
        return Err(AppError::new(
            "--out writes the sums of CPUs: without --device",
        ));
    }
    if let Some(ordinal) = args.device.device.gpu() {
        return match args.input.precision {
            PrecisionArg::F32 => gpu::run::<f32>(args, ordinal),
            PrecisionArg::F64 => gpu::run::<f64>(args, ordinal),
        };
    }
    let no_effect = [
        ("--accuracy", args.input.accuracy.is_some()),
        ("--order", args.input.order.is_some()),
        ("--ncrit", args.ncrit.is_some()),
        ("--kernels", !args.kernels.is_empty()),
    ];
    if let Some((flag, _)) = no_effect.into_iter().find(|(_, given)| *given) {
        return Err(AppError::new(format!(
            "{flag} has no effect on direct sums on CPUs: it is of the tree that `fmm direct --device cuda` measures too"
        )));
    }
    match args.input.precision {
        PrecisionArg::F32 => direct_in::<f32>(args),
        PrecisionArg::F64 => direct_in::<f64>(args),
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

fn direct_in<R: Real>(args: &DirectArgs) -> Result {
    let loaded = args.load()?;
    let kernel = args.input.kernel();
    kernel.check(args.input.gradient)?;
    loaded.sources.check("source")?;
    if let Some(t) = &loaded.targets {
        t.check("target")?;
    }
    if loaded.sources.len() > MAX_POINTS {
        return Err(FmmError::TooManyPoints(MAX_POINTS).into());
    }
    let mut provenance = Provenance::of_process().seeded(Some(args.input.seed));
    let begin = Instant::now();
    let real = |x: &[f64]| -> Vec<R> { x.iter().map(|&x| R::of(x)).collect() };
    let sources: [Vec<R>; 3] = std::array::from_fn(|a| real(&loaded.sources.x[a]));
    let at = loaded.targets.as_ref().unwrap_or(&loaded.sources);
    let targets: [Vec<R>; 3] = std::array::from_fn(|a| real(&at.x[a]));
    let charges = real(&loaded.charges);
    let isa = HostIsa::best();
    let parameter = kernel.parameter(1.0);
    let mut sums = Vec::new();
    let s = median(|| {
        sums = direct::sums(
            kernel,
            args.input.gradient,
            parameter,
            &targets,
            &sources,
            &charges,
            isa,
        );
    })?;
    if let Some(path) = &args.out {
        let columns = kernel.columns(args.input.gradient);
        let results: Vec<f64> = sums.iter().map(|&s| s.wide() * kernel.factor()).collect();
        files::write(path, at, columns, &results)?;
        print::note(files::written(path, columns));
    }
    let pairs = (sources[0].len() * targets[0].len()) as f64;
    let (flops, special) = cost_model::pair(kernel, args.input.gradient);
    let rate = pairs / s;
    provenance.took("sums", begin.elapsed().as_secs_f64());
    let threads = rayon::current_num_threads();
    if !args.json {
        print::line(format!(
            "{pairs} pairs in {}: {}, {} (a root counts as one flop), {isa}, {threads} threads",
            time(s),
            si(rate, "pairs/s"),
            si(rate * (flops + special), "flop/s"),
        ));
    }
    let known = args.input.kernel().name() == "laplace" && !args.input.gradient;
    let peak = known.then(|| peak::<R>(isa, threads)).transpose()?;
    if args.json {
        return print::json(&Report {
            provenance,
            kernel: kernel.to_string(),
            precision: R::NAME,
            gradient: args.input.gradient,
            isa: isa.to_string(),
            threads,
            pairs,
            time_s: s,
            pairs_per_s: rate,
            flops_per_s: rate * (flops + special),
            peak_pairs_per_s: peak,
        });
    }
    if let Some(peak) = peak {
        print::line(format!(
            "peak of the instruction mix: {}; the sums reach {:.1} %{}",
            si(peak, "pairs/s"),
            100.0 * rate / peak,
            if rate > peak {
                ": more than the peak, so the clock or the load of the host changed between them; repeat"
            } else {
                ""
            }
        ));
    }
    Ok(())
}

/// Pairs per second of the same arithmetic without loads (thesis, §3.4.4), on all threads: the fastest of several runs of the
/// best number of independent chains, since a peak is the most that is possible.
fn peak<R: Real>(isa: HostIsa, threads: usize) -> Result<f64> {
    let each = 50_000_000;
    let mix = R::kernels(isa).mix;
    let mut best = f64::INFINITY;
    for chains in [1, 2, 3, 4, 8].repeat(4) {
        check_interrupt()?;
        let t = Instant::now();
        (0..threads).into_par_iter().for_each(|_| {
            // SAFETY: the function takes counts alone, and this host has its instructions.
            std::hint::black_box(unsafe { mix(each, chains) });
        });
        best = best.min(t.elapsed().as_secs_f64());
    }
    Ok(threads as f64 * each as f64 / best)
}
