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

use crate::check::{in_range, verify};
use crate::commands::device::{RunDevice, check_kernels};
use crate::commands::input::{Input, Loaded, PrecisionArg, default_ncrit};
use crate::commands::{check_interrupt, drawing, predicted, wisdom};
use balance::Balance;
use clap::Args;
use distributed::Asked;
use gather::Gather;
use greenup_app::args::{FigureArgs, MachineArg};
use greenup_app::output::Output;
use greenup_app::ranks::{RanksArg, Team};
use greenup_app::{AppError, Result, print};
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_fmm::check::errors;
use greenup_fmm::hybrid::FIRST_NCRIT;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::files;
use greenup_fmm::precision::Real;
use greenup_fmm::{FmmError, cost_model};
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use ranks::{Evaluated, evaluate};
use report::{BoundMachine, Report, drawing, text};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    input: Input,
    /// Device that computes: several GPUs share the targets; with cuda+cpu the GPU computes P2P while the cores compute the
    /// other phases
    #[arg(
        long,
        default_value = "cpu",
        value_name = "cpu|cuda[:N,M,...|:all][+cpu]"
    )]
    device: RunDevice,
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
    let team = args.ranks.team(args.device.gpus((0, 1), gpus()).len())?;
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
    if let RunDevice::GpuAndCpu(_) = args.device {
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
        PrecisionArg::F32 => of::<f32>(args, &team, &loaded, figure.as_ref()),
        PrecisionArg::F64 => of::<f64>(args, &team, &loaded, figure.as_ref()),
    }
}

/// Whether ranks of this host use the same GPU.
fn shares_gpu(args: &RunArgs, team: &Team) -> bool {
    let (ranks, gpus) = match team {
        Team::World(r) => (r.local().1, gpus()),
        Team::Threads(n) => (*n, gpus()),
    };
    let used: BTreeSet<usize> = (0..ranks)
        .flat_map(|rank| args.device.gpus((rank, ranks), gpus))
        .collect();
    args.device.is_gpu() && gpus > 0 && used.len() < ranks
}

/// Number of GPUs of this host.
fn gpus() -> usize {
    // Without a driver, opening the first one says what is missing.
    Gpu::all().map_or(0, |all| all.len())
}

/// The options of a run; those of wisdom for the number of `points`, if that is given.
fn options(args: &RunArgs, points: Option<usize>) -> Result<Options> {
    let device = args.device.of_rank((0, 1), gpus());
    let tuned = match (args.ncrit, points) {
        (None, Some(n)) => wisdom::find(&args.input, device, n, args.m2l)?,
        _ => None,
    };
    let (ncrit, m2l) = tuned.unwrap_or_else(|| {
        let default = match args.device {
            RunDevice::GpuAndCpu(_) => FIRST_NCRIT,
            _ => default_ncrit(
                args.device.is_gpu(),
                args.input.precision,
                args.input.gradient,
            ),
        };
        (args.ncrit.unwrap_or(default), args.m2l.unwrap_or(M2l::Fft))
    });
    Ok(args.input.options(ncrit, m2l))
}

fn distributed<R: Real>(args: &RunArgs, team: &Team) -> Result {
    let asked = Asked {
        input: &args.input,
        kernels: &args.kernels,
        repeat: args.repeat,
        measure: args.measure,
        check: args.check,
        out: args.out.as_ref(),
        json: args.json,
    };
    distributed::run::<R>(&asked, &options(args, None)?, team, |ranks| {
        args.device.of_rank(ranks.local(), gpus())
    })
}

/// The plan of all points. On a GPU and the cores together `ncrit` is balanced, unless the user gives it.
fn plan<R: Real>(
    args: &RunArgs,
    team: &Team,
    l: &Loaded,
) -> Result<(Arc<Plan<R>>, Option<Balance>)> {
    if args.device.is_gpu() {
        let o = args.input.options(FIRST_NCRIT, M2l::Fft);
        check_kernels::<R>(o.kernel, o.gradient, &args.kernels)?;
    }
    // Ranks of several hosts would read the files of several.
    let points = (team.size() == 1).then(|| l.sources.len());
    let options = options(args, points)?;
    let first = Plan::<R>::new(&l.sources, l.targets.as_ref(), &options)?;
    match (&args.device, args.ncrit) {
        (RunDevice::GpuAndCpu(gpu), None) => {
            let (plan, balance) = balance::balanced(first, &l.charges, *gpu, &args.kernels)?;
            Ok((plan, Some(balance)))
        }
        _ => Ok((Arc::new(first), None)),
    }
}

/// Whether a machine's file names the device that ran: the name of one GPU, or the CPU's model.
fn ran_on(machine: &Machine, gpu: bool, device: &str) -> bool {
    let fact = |name: &str| machine.facts.get(name);
    match gpu {
        true => fact("gpu").is_some_and(|g| g == device),
        false => fact("cpu").is_some_and(|c| *c == CpuFacts::read().model),
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

fn of<R: Real>(args: &RunArgs, team: &Team, l: &Loaded, figure: Option<&Output>) -> Result {
    let mut provenance = Provenance::of_process().seeded(Some(args.input.seed));
    let machine = args.machine.load()?;
    let start = Instant::now();
    let (plan, balance) = plan::<R>(args, team, l)?;
    let setup_s = start.elapsed().as_secs_f64() - balance.as_ref().map_or(0.0, |b| b.time_s);
    let options = plan.options();
    // Ranks that are threads of this process write into the same memory.
    let threads = matches!(team, Team::Threads(_));
    let outputs = options.kernel.outputs(options.gradient);
    let mut merged = vec![0.0; if threads { plan.targets() * outputs } else { 0 }];
    let gather = threads.then(|| Gather::new(&mut merged, plan.targets(), team.size()));
    let Evaluated {
        device,
        setup_s: device_s,
        timings,
        phases,
        results,
        measured,
        boards,
    } = team.run(|ranks| {
        let device = args.device.of_rank(ranks.local(), gpus());
        let times = (args.repeat, args.measure);
        let who = (&**ranks, device);
        evaluate(
            &plan,
            &l.charges,
            who,
            &args.kernels,
            times,
            gather.as_ref(),
        )
    })?;
    let results = match threads {
        true => merged,
        false => results,
    };
    if !team.has_first() {
        return Ok(());
    }
    let setup_s = setup_s + device_s;
    let targets = l.targets.as_ref().unwrap_or(&l.sources);
    in_range(options, &results, plan.unit)?;
    accepted(options, || {
        let from = (&l.sources, l.charges.as_slice());
        verify::<R>(options, from, targets, &results)
    })?;
    let compared = (args.check > 0 && !targets.is_empty() && !l.sources.is_empty()).then(|| {
        let from = (&l.sources, l.charges.as_slice());
        errors(
            options.kernel,
            options.gradient,
            from,
            targets,
            &results,
            args.check,
        )
    });
    check_interrupt()?;
    if let Some(path) = &args.out {
        files::write(
            path,
            targets,
            options.kernel.columns(options.gradient),
            &results,
        )?;
        print::note(format!("wrote {}", path.display()));
    }
    let work = cost_model::phases(&plan);
    let bound_machine = machine.as_ref().map(|m| BoundMachine {
        name: m.name.clone(),
        is_this: ran_on(m, args.device.is_gpu(), &device),
    });
    let bound = (machine.as_ref())
        .map(|m| predicted::phases::<R>(m, &work))
        .transpose()?;
    provenance.took("set-up", setup_s);
    provenance.took("evaluation", timings.evaluation_s);
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
        device,
        ranks: team.size(),
        levels: plan
            .tree()
            .levels
            .iter()
            .map(ExactSizeIterator::len)
            .collect(),
        setup_times: plan.setup_times(),
        setup_s,
        evaluation_s: timings.evaluation_s,
        timings,
        phases,
        balance,
        work,
        bound,
        bound_machine,
        measured,
        boards,
        errors: compared,
    };
    if let Some(to) = figure {
        drawing(&report).write(to, &args.look.look(), &report.provenance)?;
    }
    if args.json {
        return print::json(&report);
    }
    print::line(text(&report).trim_end());
    Ok(())
}
