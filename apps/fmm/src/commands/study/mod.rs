//! `fmm study`: time and energy of evaluations, and on a GPU their hardware counters, recorded as a sweep that
//! `greenup explain` predicts (thesis, chapter 6: eight inputs at several settings).

mod case;
mod cases;
mod figure;
mod row;

use super::drawing;
use case::{Case, PARAMETERS};
use cases::{SEED, cases};
use clap::Args;
use greenup_app::args::FigureArgs;
use greenup_app::progress::{Bars, bar};
use greenup_app::study::{self, Bench, Record};
use greenup_app::{AppError, Result, interrupt, print, sensors};
use greenup_device::{DeviceSpec, Usable};
use greenup_files::Outputs;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use greenup_tune::counters::ncu;
use greenup_tune::sweep::{Counted, Folder};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  fmm study --device cuda\n  greenup explain sweeps/fmm -o explain.html"
)]
pub struct StudyArgs {
    /// Device that computes
    #[arg(long, default_value = "cuda", value_name = "cpu|cuda[:N]", value_parser = |text: &str| Usable::ONE.parse(text))]
    device: DeviceSpec,
    /// Output folder of the sweep; cases that it has are not measured again
    #[arg(short, long, default_value = "sweeps/fmm", value_name = "DIR")]
    out: PathBuf,
    /// Number of measurements per case
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Scale the number of points of every input
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    scale: f64,
    /// Measure only the first cases
    #[arg(long, value_name = "CASES")]
    first: Option<usize>,
    /// Leave out this number of the first cases, e.g. those of another GPU
    #[arg(long, default_value_t = 0, value_name = "CASES")]
    skip: usize,
    /// One window of half a second a measurement, for a counter that ticks ten times a second
    #[arg(long)]
    quick: bool,
    /// Measure time and energy only
    #[arg(long)]
    no_counters: bool,
    /// Draw time, energy and power of the cases: an HTML page or a figure
    #[arg(long, value_name = "FILE.html|.svg|.png|.pdf")]
    figure: Option<PathBuf>,
    /// Print the cases as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

/// Windows of `--quick`.
const QUICK: Policy = Policy {
    window_s: 0.5,
    min_ticks: 5,
    warmup_s: 0.25,
    warmup_ticks: 3,
    max_warmups: 1,
    min_repeats: 1,
    max_repeats: 1,
    rel_error: 0.005,
};

pub fn run(args: &StudyArgs) -> Result {
    let all = cases(args)?;
    let figure = drawing::check(&mut Outputs::new(), args.figure.as_deref())?;
    let mut provenance = Provenance::of_process().seeded(Some(SEED));
    let gpu = args.device.gpu();
    let device = match gpu {
        Some(n) => sensors::gpu(Some(&n.to_string()))?.name,
        None => greenup_device::Isa::best().to_string(),
    };
    let begin = Instant::now();
    let facts = study::facts(("fmm", &device), &PARAMETERS, None, &provenance);
    let mut record = Record::open(Some(&args.out), &facts)?;
    let policy = if args.quick { QUICK } else { Policy::quick() };
    let mut bench = Bench::new(&args.device, None, policy)?.noted();
    study::measure(
        &all,
        &mut record,
        &mut provenance,
        |case| case.measure(&mut bench.meter, args.repeat),
        |_, _| Ok(()),
    )?;
    if gpu.is_some() && !args.no_counters {
        count(&all, &args.out)?;
    }
    provenance.took("measurements", begin.elapsed().as_secs_f64());
    let sweep = Folder::read(&args.out)?;
    if args.json {
        print::json(&row::value(&sweep, &provenance))?;
    } else {
        row::print(&sweep);
    }
    if let Some(to) = &figure {
        figure::drawing(&sweep).write(to, &args.look.look(), &provenance)?;
    }
    study::complete()?;
    print::note(format!(
        "`greenup explain {}` predicts the energies of cases with counters",
        args.out.display()
    ));
    Ok(())
}

/// Measures the counters of cases that have none, each in a process of its own.
fn count(all: &[Case], dir: &Path) -> Result {
    let program = greenup_app::command::this_program()?;
    let mut left: Vec<&Case> = all.iter().collect();
    let counted = Folder::read(dir)?.trials.into_iter();
    for t in counted.filter(|t| !t.kernels.is_empty()) {
        left.retain(|c| c.config() != t.config);
    }
    let bar = bar(left.len() as u64, "");
    for case in left.iter().take_while(|_| !interrupt::requested()) {
        bar.set_message(format!("counters of {}", case.arguments().join(" ")));
        let log = dir.join("ncu.csv");
        let (counters, kernels) =
            ncu::of_program(&program, &case.arguments(), &log, &Bars::quiet())
                .map_err(|e| AppError::from(e).hint("--no-counters omits them"))?;
        let counted = Counted {
            config: case.config(),
            counters,
            kernels,
        };
        Folder::append_counters(dir, &counted)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
