//! `fmm run`.

use super::device::{engine, measured, meter};
use super::input::{Input, Loaded, RealName, usual_most};
use super::predicted::{self, Predicted, machine};
use super::{go_on, note, say, time};
use clap::Args;
use greenup_fmm::FmmError;
use greenup_fmm::check::{Errors, errors};
use greenup_fmm::cpu::Phases;
use greenup_fmm::plan::{M2l, Plan, Planned};
use greenup_fmm::points::files;
use greenup_fmm::real::Real;
use greenup_fmm::work::{self, Phase};
use greenup_meter::Measurement;
use greenup_report::si::si;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    input: Input,
    /// Most points of a box
    #[arg(short, long)]
    q: Option<usize>,
    /// How V lists are worked
    #[arg(long, value_enum, default_value = "fft")]
    m2l: M2l,
    /// Evaluations; times are of the fastest
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Choices of a GPU's U lists, NAME=NUMBER,...: threads, targets, tile, unroll, root, blocks, form, width
    #[arg(long, default_value = "", value_name = "CHOICES")]
    kernels: String,
    /// Measure time, power and energy of evaluations one after another
    #[arg(long)]
    measure: bool,
    /// Predict each phase by a machine: a name of `greenup machines`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Compare with direct sums at so many targets
    #[arg(long, default_value_t = 0, value_name = "TARGETS")]
    check: usize,
    /// Keep results: .csv, .npy, or .vtu for ParaView
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print all as JSON
    #[arg(long)]
    json: bool,
}

/// What a run was and took.
#[derive(Serialize)]
struct Report {
    kernel: String,
    real: &'static str,
    sources: usize,
    targets: usize,
    gradient: bool,
    accuracy: f64,
    edge: usize,
    most: usize,
    m2l: M2l,
    device: String,
    levels: Vec<usize>,
    planned: Planned,
    setup_s: f64,
    evaluation_s: f64,
    phases: Phases,
    work: Vec<Phase>,
    /// By the machine, phase by phase.
    predicted: Option<Vec<Predicted>>,
    /// Evaluations one after another, without what is moved to and from the device.
    measured: Option<Measurement>,
    errors: Option<Errors>,
}

pub fn run(args: &RunArgs) -> Result<(), FmmError> {
    args.input.pool()?;
    args.input.gpu()?;
    args.input.check_output(args.out.as_deref())?;
    let loaded = args.input.load()?;
    match args.input.real {
        RealName::F32 => of::<f32>(args, &loaded),
        RealName::F64 => of::<f64>(args, &loaded),
    }
}

fn of<R: Real>(args: &RunArgs, l: &Loaded) -> Result<(), FmmError> {
    let gpu = args.input.gpu()?;
    let machine = args.machine.as_deref().map(machine).transpose()?;
    let most = args
        .q
        .unwrap_or_else(|| usual_most(gpu.is_some(), args.input.real, args.input.gradient));
    let options = args.input.options(most, args.m2l);
    let begun = Instant::now();
    let plan = Plan::<R>::new(&l.sources, l.targets.as_ref(), &options)?;
    let (mut engine, device) = engine(&plan, gpu, &args.kernels)?;
    let setup_s = begun.elapsed().as_secs_f64();
    let (mut best, mut phases, mut results) = (f64::INFINITY, Phases::default(), Vec::new());
    for _ in 0..args.repeat.max(1) {
        go_on()?;
        let begun = Instant::now();
        results = engine.evaluate(&l.charges)?;
        let s = begun.elapsed().as_secs_f64();
        if s < best {
            (best, phases) = (s, engine.phases());
        }
    }
    let measured = match args.measure {
        true => Some(measured(&mut meter(gpu)?, &mut *engine)?),
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
    go_on()?;
    if let Some(path) = &args.out {
        files::write(
            path,
            targets,
            options.kernel.columns(options.gradient),
            &results,
        )?;
        note(&format!("wrote {}", path.display()));
    }
    let work = work::phases(&plan);
    let predicted = (machine.as_ref())
        .map(|m| predicted::phases::<R>(m, &work))
        .transpose()?;
    let report = Report {
        kernel: options.kernel.to_string(),
        real: R::NAME,
        sources: l.sources.len(),
        targets: targets.len(),
        gradient: options.gradient,
        accuracy: options.tolerance,
        edge: plan.order(),
        most,
        m2l: options.m2l,
        device,
        levels: plan
            .tree()
            .levels
            .iter()
            .map(ExactSizeIterator::len)
            .collect(),
        planned: plan.planned(),
        setup_s,
        evaluation_s: best,
        phases,
        work,
        predicted,
        measured,
        errors: compared,
    };
    if args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| FmmError(e.to_string()))?;
        say(&text);
    } else {
        say(text(&report).trim_end());
    }
    Ok(())
}

fn joules(j: Option<f64>) -> String {
    j.map_or_else(String::new, |j| format!(", {}", si(j, "J")))
}

fn text(r: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {}{}, {} sources, {} targets, to {:e} ({} points on an edge), on {}",
        r.kernel,
        r.real,
        if r.gradient { " with gradients" } else { "" },
        r.sources,
        r.targets,
        r.accuracy,
        r.edge,
        r.device
    );
    let _ = writeln!(
        out,
        "boxes of {} points at most, by level: {:?}",
        r.most, r.levels
    );
    let p = &r.planned;
    let _ = writeln!(
        out,
        "set-up      {:>9}  (sort {}, tree {}, lists {}, operators {})",
        time(r.setup_s),
        time(p.sort_s),
        time(p.tree_s),
        time(p.lists_s),
        time(p.operators_s)
    );
    let _ = writeln!(out, "evaluation  {:>9}", time(r.evaluation_s));
    let f = &r.phases;
    for (i, w) in r.work.iter().enumerate() {
        let s = match w.name {
            "up" => f.up_s,
            "forward" => f.forward_s,
            "product" => f.product_s,
            "back" => f.back_s,
            "down" => f.down_s,
            "local" => f.local_s,
            _ => f.direct_s,
        };
        let _ = write!(
            out,
            "  {:<8}  {:>9}  {:>12}  {:>10}  {:>8}",
            w.name,
            time(s),
            // A phase with nothing to do has no rate.
            si(if s > 0.0 { w.flops / s } else { 0.0 }, "flop/s"),
            si(w.flops, "flop"),
            si(w.bytes, "B")
        );
        if let Some(p) = &r.predicted {
            let _ = write!(
                out,
                "  by the machine {:>9}{}",
                time(p[i].time_s),
                joules(p[i].energy_j)
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "  order     {:>9}", time(f.order_s));
    if let Some(p) = &r.predicted {
        let time_s: f64 = p.iter().map(|p| p.time_s).sum();
        let energy_j: Option<f64> = p.iter().map(|p| p.energy_j).sum();
        let all = f.up_s + f.forward_s + f.product_s + f.back_s + f.down_s + f.local_s + f.direct_s;
        let _ = writeln!(
            out,
            "by the machine at least {}{}: phases took {:.2} times that",
            time(time_s),
            joules(energy_j),
            all / time_s.max(1e-12)
        );
    }
    if let Some(m) = &r.measured {
        let _ = write!(out, "again and again: {}", time(m.time_s.median));
        if let (Some(w), Some(j)) = (&m.power_w, &m.energy_j) {
            let _ = write!(
                out,
                ", {}, {}, {} a point",
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
