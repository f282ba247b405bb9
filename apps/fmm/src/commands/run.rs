//! `fmm run`.

use super::device::{engine, measured, meter};
use super::input::{Input, Loaded, PrecisionArg, default_ncrit};
use super::predicted::{self, Predicted};
use super::{check_interrupt, time};
use clap::Args;
use greenup_app::args::MachineArg;
use greenup_app::{Result, print};
use greenup_fmm::check::{Errors, errors};
use greenup_fmm::cost_model::{self, PhaseWork};
use greenup_fmm::engine::PhaseTimes;
use greenup_fmm::options::M2l;
use greenup_fmm::plan::{Plan, SetupTimes};
use greenup_fmm::points::files;
use greenup_fmm::precision::Real;
use greenup_meter::Measurement;
use greenup_report::si::si;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    input: Input,
    /// Maximum number of points per leaf [default: by device and precision]
    #[arg(long, value_name = "N")]
    ncrit: Option<usize>,
    /// M2L method
    #[arg(long, value_enum, default_value = "fft")]
    m2l: M2l,
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
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Result of a run.
#[derive(Serialize)]
struct Report {
    kernel: String,
    precision: &'static str,
    sources: usize,
    targets: usize,
    gradient: bool,
    accuracy: f64,
    order: usize,
    ncrit: usize,
    m2l: M2l,
    device: String,
    levels: Vec<usize>,
    setup_times: SetupTimes,
    setup_s: f64,
    evaluation_s: f64,
    phases: PhaseTimes,
    work: Vec<PhaseWork>,
    /// By the machine model, phase by phase.
    predicted: Option<Vec<Predicted>>,
    /// Repeated evaluations, without copies to and from the device.
    measured: Option<Measurement>,
    errors: Option<Errors>,
}

pub fn run(args: &RunArgs) -> Result {
    args.input.threads.start()?;
    args.input.check_output(args.out.as_deref())?;
    let loaded = args.input.load()?;
    match args.input.precision {
        PrecisionArg::F32 => of::<f32>(args, &loaded),
        PrecisionArg::F64 => of::<f64>(args, &loaded),
    }
}

fn of<R: Real>(args: &RunArgs, l: &Loaded) -> Result {
    let device = args.input.device.device;
    let machine = args.machine.load()?;
    let ncrit = args.ncrit.unwrap_or_else(|| {
        default_ncrit(
            device.gpu().is_some(),
            args.input.precision,
            args.input.gradient,
        )
    });
    let options = args.input.options(ncrit, args.m2l);
    let start = Instant::now();
    let plan = Arc::new(Plan::<R>::new(&l.sources, l.targets.as_ref(), &options)?);
    let (mut engine, name) = engine(Arc::clone(&plan), device, &args.kernels)?;
    let setup_s = start.elapsed().as_secs_f64();
    let (mut best, mut phases, mut results) = (f64::INFINITY, PhaseTimes::default(), Vec::new());
    for _ in 0..args.repeat.max(1) {
        check_interrupt()?;
        let start = Instant::now();
        results = engine.evaluate(&l.charges)?;
        let s = start.elapsed().as_secs_f64();
        if s < best {
            (best, phases) = (s, engine.phases());
        }
    }
    let measured = match args.measure {
        true => Some(measured(&mut meter(device)?, &mut *engine)?),
        false => None,
    };
    let targets = l.targets.as_ref().unwrap_or(&l.sources);
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
    let predicted = (machine.as_ref())
        .map(|m| predicted::phases::<R>(m, &work))
        .transpose()?;
    let report = Report {
        kernel: options.kernel.to_string(),
        precision: R::NAME,
        sources: l.sources.len(),
        targets: targets.len(),
        gradient: options.gradient,
        accuracy: options.tolerance,
        order: plan.order(),
        ncrit,
        m2l: options.m2l,
        device: name,
        levels: plan
            .tree()
            .levels
            .iter()
            .map(ExactSizeIterator::len)
            .collect(),
        setup_times: plan.setup_times(),
        setup_s,
        evaluation_s: best,
        phases,
        work,
        predicted,
        measured,
        errors: compared,
    };
    if args.json {
        return print::json(&report);
    }
    print::line(text(&report).trim_end());
    Ok(())
}

fn joules(j: Option<f64>) -> String {
    j.map_or_else(String::new, |j| format!(", {}", si(j, "J")))
}

fn text(r: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {}{}, {} sources, {} targets, accuracy {:e} (surface order {}), on {}",
        r.kernel,
        r.precision,
        if r.gradient { " with gradients" } else { "" },
        r.sources,
        r.targets,
        r.accuracy,
        r.order,
        r.device
    );
    let _ = writeln!(out, "ncrit {}, boxes per level {:?}", r.ncrit, r.levels);
    let p = &r.setup_times;
    let _ = writeln!(
        out,
        "set-up            {:>9}  (sort {}, tree {}, lists {}, operators {})",
        time(r.setup_s),
        time(p.sort_s),
        time(p.tree_s),
        time(p.lists_s),
        time(p.operators_s)
    );
    let _ = writeln!(out, "evaluation        {:>9}", time(r.evaluation_s));
    for (i, w) in r.work.iter().enumerate() {
        let s = r.phases.of(w.phase);
        let _ = write!(
            out,
            "  {:<15} {:>9}  {:>12}  {:>10}  {:>8}",
            w.phase.name(),
            time(s),
            // A phase without work has no rate.
            si(if s > 0.0 { w.flops / s } else { 0.0 }, "flop/s"),
            si(w.flops, "flop"),
            si(w.bytes, "B")
        );
        if let Some(p) = &r.predicted {
            let _ = write!(
                out,
                "  predicted {:>9}{}",
                time(p[i].time_s),
                joules(p[i].energy_j)
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "  permutation     {:>9}", time(r.phases.permutation_s));
    if let Some(p) = &r.predicted {
        let time_s: f64 = p.iter().map(|p| p.time_s).sum();
        let energy_j: Option<f64> = p.iter().map(|p| p.energy_j).sum();
        let _ = writeln!(
            out,
            "predicted (machine model): {}{}; T / T_min {:.2}",
            time(time_s),
            joules(energy_j),
            r.phases.total_s() / time_s.max(1e-12)
        );
    }
    if let Some(m) = &r.measured {
        let _ = write!(out, "repeated evaluations: {}", time(m.time_s.median));
        if let (Some(w), Some(j)) = (&m.power_w, &m.energy_j) {
            let _ = write!(
                out,
                ", {}, {}, {} per point",
                si(w.median, "W"),
                si(j.median, "J"),
                si(j.median / r.targets as f64, "J")
            );
        }
        out.push('\n');
    }
    if let Some(e) = &r.errors {
        let _ = write!(
            out,
            "error at {} targets: potential {:.2e}",
            e.targets, e.potential
        );
        if let Some(g) = e.gradient {
            let _ = write!(out, ", gradient {g:.2e}");
        }
        out.push('\n');
    }
    out
}
