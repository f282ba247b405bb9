//! `fmm run`.
//!
//! | module | contents |
//! |---|---|
//! | `balance` | points per leaf that balance a GPU and the cores |
//! | `ranks` | all points on each rank |
//! | `gather` | its results in the order of the input |
//! | `distributed` | a part of the points on each rank |
//! | `streamed` | its results to a file |
//! | `evaluation` | repeated evaluations of either |
//! | `report` | the result as text, page and figure |

mod balance;
mod distributed;
mod evaluation;
mod gather;
mod ranks;
mod report;
mod streamed;

use crate::FmmError;
use crate::check::{Errors, errors};
use crate::check::{in_range, verify};
use crate::commands::input::{Input, Loaded, PrecisionArg};
use crate::commands::{check_interrupt, drawing, predicted, wisdom};
use crate::cost_model;
use crate::hybrid::FIRST_NCRIT;
use crate::options::{M2l, Options, default_ncrit};
use crate::plan::Plan;
use crate::points::files;
use crate::precision::Real;
use crate::session::engines::check_kernels;
use balance::Balance;
use clap::Args;
use distributed::Asked;
use gather::Gather;
use greenup_app::args::{FigureArgs, MachineArg};
use greenup_app::output::Output;
use greenup_app::ranks::{RankTeam, RanksArg};
use greenup_app::{AppError, Result, print};
use greenup_device::cuda::Gpu;
use greenup_device::{CpuFacts, DeviceSpec, Usable};
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use ranks::{Evaluated, evaluate};
use report::{BoundMachine, Report, drawing};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  fmm run -n 1000000 --machine h200\n  fmm run -n 1000000 -a 1e-4   # -a is --accuracy: the relative error\n  fmm run --points apps/fmm/examples/charges.csv -o potentials.npy\n  fmm run -n 10000000 --device cuda+cpu --measure"
)]
pub struct RunArgs {
    #[command(flatten)]
    input: Input,
    /// Device that computes: several GPUs share the targets; with cuda+cpu the GPU computes P2P while the cores compute the
    /// other phases
    #[arg(
        long,
        default_value = "cpu",
        value_name = "cpu|cuda[:N,M,...|:all][+cpu]",
        value_parser = |text: &str| Usable::SEVERAL_OR_SHARED.parse(text)
    )]
    device: DeviceSpec,
    #[command(flatten)]
    ranks: RanksArg,
    /// Give each rank (of mpirun, --ranks or several GPUs) a part of the points, instead of all: for points that do not fit
    /// into one memory
    #[arg(long, conflicts_with_all = ["targets", "machine", "figure"])]
    distributed: bool,
    /// Maximum number of points per leaf [default: of wisdom (`fmm tune`), else by device and precision; with cuda+cpu balanced
    /// by measured times]
    #[arg(long, value_name = "N")]
    ncrit: Option<usize>,
    /// M2L method [default: that of wisdom with its ncrit, else fft]
    #[arg(long, value_enum)]
    m2l: Option<M2l>,
    /// Number of evaluations; times are of the fastest
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Tuning parameters of the GPU's P2P kernel, NAME=NUMBER,...: threads, targets, tile, unroll, root, blocks, form, width
    #[arg(long, default_value = "", value_name = "NAME=N,...")]
    kernels: String,
    /// Measure time, power and energy of repeated evaluations
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    machine: MachineArg,
    /// Compare with direct sums at this number of targets
    #[arg(long, default_value_t = 0, value_name = "TARGETS")]
    check: usize,
    /// Write the results: .csv, .npy, or .vtu for ParaView
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the times of the phases: an HTML page or a figure
    #[arg(long, value_name = "FILE.html|.svg|.png|.pdf")]
    figure: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

pub fn run(args: &RunArgs) -> Result {
    if !args.kernels.is_empty() && !args.device.is_gpu() {
        return Err(AppError::new(
            "--kernels has no effect on CPUs: its parameters are of the GPU's P2P kernel",
        )
        .hint("add --device cuda"));
    }
    if args.repeat == 0 {
        return Err(AppError::new("invalid --repeat 0: use 1 or more"));
    }
    let team = args
        .ranks
        .team(args.device.gpus((0, 1), Gpu::count()).len())?;
    team.start_threads(args.input.threads)?;
    if shares_gpu(args, &team) {
        print::note(format!(
            "--device {}: ranks on the same GPU share its time, so times say nothing of several GPUs",
            args.device
        ));
    }
    if args.measure && team.size() > 1 && !args.device.is_gpu() {
        return Err(AppError::new(
            "--measure with several ranks on CPUs: a sensor of the host cannot tell them apart",
        )
        .hint("measure one rank, or GPUs: each board has its own counter"));
    }
    if args.device.is_shared() {
        let fix = "use --device cuda:all: each GPU computes all phases of its targets";
        for (flag, set) in [
            ("several ranks", team.size() > 1),
            ("--distributed", args.distributed),
        ] {
            if set {
                let what = format!("--device cuda+cpu does not work with {flag}");
                return Err(AppError::new(what).hint(fix));
            }
        }
    }
    let mut outputs = args.input.check_output(args.out.as_deref())?;
    let figure = drawing::check(&mut outputs, args.figure.as_deref())?;
    if args.distributed {
        return match args.input.precision {
            PrecisionArg::F32 => distributed::<f32>(args, &team),
            PrecisionArg::F64 => distributed::<f64>(args, &team),
        };
    }
    let loaded = args.input.load()?;
    match args.input.precision {
        PrecisionArg::F32 => run_in::<f32>(args, &team, &loaded, figure.as_ref()),
        PrecisionArg::F64 => run_in::<f64>(args, &team, &loaded, figure.as_ref()),
    }
}

/// Whether ranks of this host use the same GPU.
fn shares_gpu(args: &RunArgs, team: &RankTeam) -> bool {
    let (ranks, gpus) = match team {
        RankTeam::World(r) => (r.local().1, Gpu::count()),
        RankTeam::Threads(n) => (*n, Gpu::count()),
    };
    let used: BTreeSet<usize> = (0..ranks)
        .flat_map(|rank| args.device.gpus((rank, ranks), gpus))
        .collect();
    args.device.is_gpu() && gpus > 0 && used.len() < ranks
}

/// The options of a run; those of wisdom for the number of `points`, if that is given.
fn options<R: Real>(args: &RunArgs, points: Option<usize>) -> Result<Options> {
    let device = args.device.of_rank((0, 1), Gpu::count());
    let tuned = match (args.ncrit, points) {
        (None, Some(n)) => wisdom::find(&args.input, &device, n, args.m2l)?,
        _ => None,
    };
    let (ncrit, m2l) = tuned.unwrap_or_else(|| {
        let default = if args.device.is_shared() {
            FIRST_NCRIT
        } else {
            default_ncrit::<R>(args.device.is_gpu(), args.input.gradient)
        };
        (args.ncrit.unwrap_or(default), args.m2l.unwrap_or(M2l::Fft))
    });
    Ok(args.input.options(ncrit, m2l))
}

fn distributed<R: Real>(args: &RunArgs, team: &RankTeam) -> Result {
    let asked = Asked {
        input: &args.input,
        kernels: &args.kernels,
        repeat: args.repeat,
        measure: args.measure,
        check: args.check,
        out: args.out.as_ref(),
        json: args.json,
    };
    distributed::run::<R>(&asked, &options::<R>(args, None)?, team, |ranks| {
        args.device.of_rank(ranks.local(), Gpu::count())
    })
}

/// The plan of all points. On a GPU and the cores together `ncrit` is balanced, unless the user gives it.
fn plan<R: Real>(
    args: &RunArgs,
    team: &RankTeam,
    l: &Loaded,
) -> Result<(Arc<Plan<R>>, Option<Balance>)> {
    if args.device.is_gpu() {
        let o = args.input.options(FIRST_NCRIT, M2l::Fft);
        check_kernels::<R>(o.kernel, o.gradient, &args.kernels)?;
    }
    // Ranks of several hosts would read the files of several.
    let points = (team.size() == 1).then(|| l.sources.len());
    let options = options::<R>(args, points)?;
    let first = Plan::<R>::new(&l.sources, l.targets.as_ref(), &options)?;
    match (&args.device, args.ncrit) {
        (DeviceSpec::GpuAndCpu(gpu), None) => {
            let gpu = gpu.unwrap_or(0);
            let (plan, balance) = balance::balanced(first, &l.charges, gpu, &args.kernels)?;
            Ok((plan, Some(balance)))
        }
        _ => Ok((Arc::new(first), None)),
    }
}

/// Whether a machine's file names the device that ran: the name of one GPU, or the CPU's model.
fn ran_on(machine: &Machine, gpu: bool, device: &str) -> bool {
    let fact = |name: &str| machine.facts.get(name);
    if gpu {
        fact("gpu").is_some_and(|g| g == device)
    } else {
        fact("cpu").is_some_and(|c| *c == CpuFacts::read().model)
    }
}

/// Refuses results that are less accurate than asked for; with a surface order, which decides instead, it is a note.
fn accepted(o: &Options, verify: impl FnOnce() -> std::result::Result<(), FmmError>) -> Result {
    match verify() {
        Err(e @ FmmError::Inaccurate { .. }) if o.order.is_some() => {
            print::note(format!("--order decides the accuracy: {e}"));
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Evaluates on all ranks of this process; the results of all are on the first.
fn evaluated<R: Real>(
    args: &RunArgs,
    team: &RankTeam,
    plan: &Arc<Plan<R>>,
    charges: &[f64],
) -> Result<Evaluated> {
    let options = plan.options();
    // Ranks that are threads of this process write into the same memory.
    let threads = matches!(team, RankTeam::Threads(_));
    let outputs = options.kernel.outputs(options.gradient);
    let mut merged = vec![0.0; if threads { plan.targets() * outputs } else { 0 }];
    let gather = threads.then(|| Gather::new(&mut merged, plan.targets(), team.size()));
    let mut all = team.run(|ranks| {
        let device = args.device.of_rank(ranks.local(), Gpu::count());
        let times = (args.repeat, args.measure);
        let who = (&**ranks, &device);
        evaluate(plan, charges, who, &args.kernels, times, gather.as_ref())
    })?;
    if threads {
        all.results = merged;
    }
    Ok(all)
}

/// Refuses wrong results; compares them with direct sums if asked to.
fn checked<R: Real>(
    args: &RunArgs,
    plan: &Plan<R>,
    l: &Loaded,
    results: &[f64],
) -> Result<Option<Errors>> {
    let o = plan.options();
    let from = (&l.sources, l.charges.as_slice());
    let targets = l.targets.as_ref().unwrap_or(&l.sources);
    in_range(o, results, plan.unit)?;
    accepted(o, || verify::<R>(o, from, targets, results))?;
    let compares = args.check > 0 && !targets.is_empty() && !l.sources.is_empty();
    let compared =
        compares.then(|| errors(o.kernel, o.gradient, from, targets, results, args.check));
    check_interrupt()?;
    Ok(compared)
}

fn run_in<R: Real>(args: &RunArgs, team: &RankTeam, l: &Loaded, figure: Option<&Output>) -> Result {
    let mut provenance = Provenance::of_process().seeded(Some(args.input.seed));
    let machine = args.machine.load()?;
    let start = Instant::now();
    let (plan, balance) = plan::<R>(args, team, l)?;
    let setup_s = start.elapsed().as_secs_f64() - balance.as_ref().map_or(0.0, |b| b.time_s);
    let e = evaluated(args, team, &plan, &l.charges)?;
    if !team.has_first() {
        return Ok(());
    }
    let setup_s = setup_s + e.setup_s;
    let options = plan.options();
    let targets = l.targets.as_ref().unwrap_or(&l.sources);
    let errors = checked(args, &plan, l, &e.results)?;
    if let Some(path) = &args.out {
        let columns = options.kernel.columns(options.gradient);
        files::write(path, targets, columns, &e.results)?;
        print::note(files::written(path, columns));
    }
    let work = cost_model::phases(&plan);
    let bound_machine = machine.as_ref().map(|m| BoundMachine {
        name: m.name.clone(),
        is_this: ran_on(m, args.device.is_gpu(), &e.device),
    });
    let bound = (machine.as_ref())
        .map(|m| predicted::phases::<R>(m, &work))
        .transpose()?;
    provenance.took("set-up", setup_s);
    provenance.took("evaluation", e.timings.evaluation_s);
    let report = Report {
        provenance,
        kernel: options.kernel.to_string(),
        precision: R::NAME,
        sources: l.sources.len(),
        targets: targets.len(),
        gradient: options.gradient,
        accuracy: options.tolerance,
        order: plan.order(),
        ncrit: options.ncrit,
        m2l: options.m2l,
        device: e.device,
        ranks: team.size(),
        levels: plan
            .tree()
            .levels
            .iter()
            .map(ExactSizeIterator::len)
            .collect(),
        setup_times: plan.setup_times(),
        setup_s,
        evaluation_s: e.timings.evaluation_s,
        timings: e.timings,
        phases: e.phases,
        balance,
        work,
        bound,
        bound_machine,
        measured: e.measured,
        boards: e.boards,
        errors,
        columns: args
            .out
            .as_ref()
            .map(|_| options.kernel.columns(options.gradient)),
    };
    if let Some(to) = figure {
        drawing(&report).write(to, &args.look.look(), &report.provenance)?;
    }
    if args.json {
        return print::json(&report);
    }
    report::print(&report);
    Ok(())
}
