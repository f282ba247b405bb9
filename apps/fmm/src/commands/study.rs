//! `fmm study`: time and energy of whole evaluations, and on a GPU their counters, kept as a sweep that
//! `greenup explain` predicts (thesis, chapter 6: eight inputs at several settings).

use super::device::{engine, measured, meter};
use super::input::{Input, KernelName, RealName};
use super::{note, say, time};
use clap::Args;
use greenup_app::interrupt;
use greenup_fmm::FmmError;
use greenup_fmm::plan::{M2l, Plan};
use greenup_fmm::points::Distribution;
use greenup_fmm::real::Real;
use greenup_meter::{Flag, Summary};
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::run::counters;
use greenup_tune::sweep::{Counted, Folder, Outcome, Sweep, SweepFacts, Trial};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  fmm study --device cuda\n  greenup explain sweeps/fmm -o explain.html"
)]
pub struct StudyArgs {
    /// cpu, or cuda or cuda:N for a GPU
    #[arg(long, default_value = "cuda")]
    device: String,
    /// Folder of the sweep; what is there already is not done again
    #[arg(short, long, default_value = "sweeps/fmm", value_name = "DIR")]
    out: PathBuf,
    /// Measurements of each case
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Points of every input over the study's own
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    scale: f64,
    /// Only the first cases
    #[arg(long, value_name = "CASES")]
    first: Option<usize>,
    /// Time and energy alone
    #[arg(long)]
    no_counters: bool,
}

/// Points, how many, and the most of a box.
const INPUTS: [(Distribution, usize, usize); 8] = [
    (Distribution::Cube, 250_000, 128),
    (Distribution::Cube, 250_000, 1024),
    (Distribution::Cube, 1_000_000, 64),
    (Distribution::Cube, 1_000_000, 384),
    (Distribution::Plummer, 250_000, 96),
    (Distribution::Plummer, 1_000_000, 256),
    (Distribution::Sphere, 500_000, 128),
    (Distribution::Clusters, 1_000_000, 192),
];

/// Precision, accuracy, gradients.
const SETTINGS: [(RealName, f64, bool); 4] = [
    (RealName::F32, 1e-4, false),
    (RealName::F64, 1e-6, false),
    (RealName::F32, 1e-3, true),
    (RealName::F64, 1e-6, true),
];

const PARAMETERS: [&str; 6] = ["points", "n", "q", "real", "accuracy", "gradient"];

struct Case {
    input: Input,
    q: usize,
}

fn name<T: clap::ValueEnum>(x: &T) -> String {
    x.to_possible_value()
        .map_or_else(String::new, |v| v.get_name().to_owned())
}

impl Case {
    fn config(&self) -> Vec<Value> {
        let i = &self.input;
        vec![
            Value::Str(name(&i.distribution)),
            Value::Int(i.n as i64),
            Value::Int(self.q as i64),
            Value::Str(name(&i.real)),
            Value::Float(i.accuracy),
            Value::Bool(i.gradient),
        ]
    }

    /// Of `fmm run`, for one evaluation.
    fn arguments(&self) -> Vec<String> {
        let i = &self.input;
        let mut out: Vec<String> = vec!["run".into()];
        for (option, value) in [
            ("--distribution", name(&i.distribution)),
            ("-n", i.n.to_string()),
            ("-q", self.q.to_string()),
            ("--real", name(&i.real)),
            ("-a", format!("{:e}", i.accuracy)),
            ("--device", i.device.clone()),
        ] {
            out.extend([option.to_owned(), value]);
        }
        if i.gradient {
            out.push("--gradient".to_owned());
        }
        out
    }
}

fn cases(args: &StudyArgs) -> Vec<Case> {
    let case = |(real, accuracy, gradient), (distribution, n, q)| Case {
        q,
        input: Input {
            points: None,
            targets: None,
            distribution,
            n: ((n as f64 * args.scale) as usize).max(1),
            seed: 1,
            kernel: KernelName::Laplace,
            kappa: 1.0,
            k: 1.0,
            mu: 1.0,
            accuracy,
            gradient,
            real,
            edge: None,
            threads: None,
            device: args.device.clone(),
        },
    };
    (SETTINGS.iter())
        .flat_map(|s| INPUTS.iter().map(move |i| case(*s, *i)))
        .take(args.first.unwrap_or(usize::MAX).max(1))
        .collect()
}

fn failed(e: &impl std::fmt::Display) -> FmmError {
    FmmError(e.to_string())
}

pub fn run(args: &StudyArgs) -> Result<(), FmmError> {
    if !(args.scale.is_finite() && args.scale > 0.0) {
        return Err(FmmError(format!(
            "--scale is a factor above 0, not {}",
            args.scale
        )));
    }
    let all = cases(args);
    let gpu = all[0].input.gpu()?;
    let device = match gpu {
        Some(n) => {
            greenup_device::cuda::Gpu::numbered(n)
                .map_err(|e| failed(&e.words()))?
                .name
        }
        None => greenup_device::Isa::best().to_string(),
    };
    let facts = SweepFacts {
        name: "fmm".into(),
        device,
        parameters: PARAMETERS.map(str::to_owned).to_vec(),
        flops: None,
        objective: None,
        more: BTreeMap::from([
            ("greenup".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            (
                "command".to_owned(),
                std::env::args_os()
                    .skip(1)
                    .map(|a| a.to_string_lossy().into_owned())
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        ]),
        ..SweepFacts::default()
    };
    let (mut folder, old) = if Folder::exists(&args.out) {
        let was = Folder::read(&args.out)
            .map_err(|e| failed(&e))?
            .facts
            .device;
        if was != facts.device {
            return Err(FmmError(format!(
                "{} is a study of {was}, not of {}: take another --out",
                args.out.display(),
                facts.device
            )));
        }
        let (folder, sweep) = Folder::resume(&args.out, &facts, &[]).map_err(|e| failed(&e))?;
        for warning in &sweep.warnings {
            note(warning);
        }
        (folder, sweep.trials)
    } else {
        let new = Folder::create(&args.out, &facts).map_err(|e| failed(&e))?;
        (new, Vec::new())
    };
    let left: Vec<&Case> = (all.iter())
        .filter(|c| !old.iter().any(|t| t.config == c.config()))
        .collect();
    let counts = gpu.is_some() && !args.no_counters;
    let bar = ProgressBar::new((left.len() + if counts { all.len() } else { 0 }) as u64);
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {elapsed} (about {eta} left)")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    for case in left {
        if interrupt::requested() {
            break;
        }
        bar.set_message(case.arguments().join(" "));
        let trial = match case.input.real {
            RealName::F32 => measure::<f32>(case, gpu, args.repeat),
            RealName::F64 => measure::<f64>(case, gpu, args.repeat),
        };
        // What was not measured to its end is measured anew.
        if interrupt::requested() {
            break;
        }
        let trial = trial?;
        folder.append(&trial).map_err(|e| failed(&e))?;
        bar.inc(1);
    }
    if counts {
        count(&all, &args.out, &bar)?;
    }
    bar.finish_and_clear();
    print(&Folder::read(&args.out).map_err(|e| failed(&e))?);
    if interrupt::requested() {
        let words = "interrupted: what was measured is kept; the same command goes on";
        return Err(FmmError(words.to_owned()));
    }
    note(&format!(
        "`greenup explain {}` predicts what has counters",
        args.out.display()
    ));
    Ok(())
}

fn measure<R: Real>(case: &Case, gpu: Option<usize>, repeat: usize) -> Result<Trial, FmmError> {
    let begun = Instant::now();
    let l = case.input.load()?;
    let options = case.input.options(case.q, M2l::Fft);
    let plan = Plan::<R>::new(&l.sources, None, &options)?;
    let (mut engine, _) = engine(&plan, gpu, "")?;
    engine.evaluate(&l.charges)?;
    let build_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut meter = meter(gpu)?;
    let all = (0..repeat.max(1))
        .map(|_| measured(&mut meter, &mut *engine))
        .collect::<Result<Vec<_>, _>>()?;
    let times_s: Vec<f64> = all.iter().map(|m| m.time_s.median).collect();
    let energies: Option<Vec<f64>> = (all.iter())
        .map(|m| m.energy_j.as_ref().map(|e| e.median))
        .collect();
    let mut metrics = all.last().map(|m| m.state_by_name()).unwrap_or_default();
    let spread = energies.as_deref().and_then(Summary::of);
    if let Some(s) = &spread {
        metrics.insert("energy_error".to_owned(), s.relative_error());
    }
    let time = Summary::of(&times_s);
    Ok(Trial {
        config: case.config(),
        outcome: Outcome::Measured {
            time_s: time.as_ref().map_or(f64::NAN, |s| s.median),
            times_s,
            energy_j: spread.map(|s| s.median),
            time_error: time.map(|s| s.relative_error()),
        },
        metrics,
        kernels: BTreeMap::new(),
        effort: 1.0,
        build_s,
        verify_s: 0.0,
        measure_s: begun.elapsed().as_secs_f64(),
        flags: (all.iter().flat_map(|m| &m.flags))
            .filter(|f| !matches!(f, Flag::NoEnergy))
            .map(ToString::to_string)
            .collect(),
        at: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |d| d.as_secs_f64()),
    })
}

/// Counters of the cases that have none yet, each from a process of its own.
fn count(all: &[Case], dir: &Path, bar: &ProgressBar) -> Result<(), FmmError> {
    let program = std::env::current_exe().map_err(|e| failed(&e))?;
    let done = Folder::read(dir).map_err(|e| failed(&e))?;
    let has = |config: &[Value]| {
        let mut own = done.trials.iter().filter(|t| t.config == config);
        own.any(|t| !t.kernels.is_empty())
    };
    for case in all {
        if interrupt::requested() {
            return Ok(());
        }
        let config = case.config();
        if !has(&config) {
            bar.set_message(format!("counters of {}", case.arguments().join(" ")));
            let log = dir.join("ncu.csv");
            let (counters, kernels) = counters::of_program(&program, &case.arguments(), &log)
                .map_err(|e| FmmError(format!("{e}; --no-counters does without")))?;
            let counted = Counted {
                config,
                counters,
                kernels,
            };
            Folder::append_counters(dir, &counted).map_err(|e| failed(&e))?;
        }
        bar.inc(1);
    }
    Ok(())
}

fn print(sweep: &Sweep) {
    say("points           n     q  real  accuracy  gradient      time    energy     power");
    for t in &sweep.trials {
        let Some(cost) = t.cost() else { continue };
        let c: Vec<String> = t.config.iter().map(ToString::to_string).collect();
        let of = |x: Option<f64>, unit| x.map_or_else(|| "-".to_owned(), |x| si(x, unit));
        say(&format!(
            "{:<8} {:>9} {:>5}  {:<4}  {:>8}  {:<8} {:>9} {:>9} {:>9}",
            c[0],
            c[1],
            c[2],
            c[3],
            c[4],
            c[5],
            time(cost.time_s),
            of(cost.energy_j, "J"),
            of(cost.energy_j.map(|j| j / cost.time_s), "W")
        ));
    }
}
