//! `fmm study`: time and energy of evaluations, and on a GPU their hardware counters, recorded as a sweep that
//! `greenup explain` predicts (thesis, chapter 6: eight inputs at several settings).

use super::input::{Input, KernelName, PrecisionArg};
use super::measure::{measured, meter};
use super::{drawing, study_figure};
use crate::options::M2l;
use crate::plan::Plan;
use crate::points::Distribution;
use crate::precision::Real;
use crate::session::engines::engine;
use clap::Args;
use greenup_app::args::{FigureArgs, ThreadsArg};
use greenup_app::progress::{Bars, bar};
use greenup_app::{AppError, Result, interrupt, print, sensors};
use greenup_device::{DeviceSpec, Usable};
use greenup_files::Outputs;
use greenup_meter::{Flag, Meter, Policy, Summary};
use greenup_report::provenance::Provenance;
use greenup_space::Value;
use greenup_tune::counters::ncu as counters;
use greenup_tune::sweep::{Counted, Folder, Outcome, SweepFacts, Trial};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

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

/// Distribution, number of points, ncrit.
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
const SETTINGS: [(PrecisionArg, f64, bool); 4] = [
    (PrecisionArg::F32, 1e-4, false),
    (PrecisionArg::F64, 1e-6, false),
    (PrecisionArg::F32, 1e-3, true),
    (PrecisionArg::F64, 1e-6, true),
];

/// Windows of `--quick`.
const QUICK: Policy = Policy {
    window_s: 0.5,
    min_ticks: 5,
    warmup_s: 0.25,
    max_warmups: 1,
    min_repeats: 1,
    max_repeats: 1,
    rel_error: 0.005,
};

/// Seed of points and charges.
const SEED: u64 = 1;

const PARAMETERS: [&str; 6] = ["points", "n", "ncrit", "precision", "accuracy", "gradient"];

struct Case {
    input: Input,
    device: DeviceSpec,
    ncrit: usize,
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
            Value::Int(self.ncrit as i64),
            Value::Str(name(&i.precision)),
            Value::Float(i.accuracy()),
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
            ("--ncrit", self.ncrit.to_string()),
            ("--precision", name(&i.precision)),
            ("-a", format!("{:e}", i.accuracy())),
            ("--device", self.device.to_string()),
        ] {
            out.extend([option.to_owned(), value]);
        }
        if i.gradient {
            out.push("--gradient".to_owned());
        }
        out
    }
}

fn all_cases() -> usize {
    SETTINGS.len() * INPUTS.len()
}

fn cases(args: &StudyArgs) -> Vec<Case> {
    let case = |(precision, accuracy, gradient), (distribution, n, ncrit)| Case {
        ncrit,
        device: args.device.of_rank((0, 1), 1),
        input: Input {
            points: None,
            targets: None,
            distribution,
            n: ((n as f64 * args.scale) as usize).max(1),
            seed: SEED,
            kernel: KernelName::Laplace,
            kappa: None,
            k: None,
            mu: None,
            accuracy: Some(accuracy),
            gradient,
            precision,
            order: None,
            threads: ThreadsArg::default(),
        },
    };
    (SETTINGS.iter())
        .flat_map(|s| INPUTS.iter().map(move |i| case(*s, *i)))
        .take(args.first.unwrap_or(usize::MAX).max(1))
        .skip(args.skip)
        .collect()
}

pub fn run(args: &StudyArgs) -> Result {
    if !(args.scale.is_finite() && args.scale > 0.0) {
        return Err(AppError::new(format!(
            "invalid --scale {}: use a factor above 0",
            args.scale
        )));
    }
    if all_cases() <= args.skip || args.first.is_some_and(|first| first <= args.skip) {
        return Err(
            AppError::new(format!("--skip {}: no case is left", args.skip))
                .hint(format!("there are {} cases", all_cases())),
        );
    }
    let figure = drawing::check(&mut Outputs::new(), args.figure.as_deref())?;
    let mut provenance = Provenance::of_process().seeded(Some(SEED));
    let begin = Instant::now();
    let all = cases(args);
    let gpu = args.device.gpu();
    let device = match gpu {
        Some(n) => sensors::gpu(Some(&n.to_string()))?.name,
        None => greenup_device::Isa::best().to_string(),
    };
    let facts = SweepFacts {
        name: "fmm".into(),
        device,
        parameters: PARAMETERS.map(str::to_owned).to_vec(),
        flops: None,
        objective: None,
        more: [("greenup".to_owned(), provenance.version.clone())]
            .into_iter()
            .chain(provenance.pairs())
            .collect(),
        ..SweepFacts::default()
    };
    let (mut folder, old) = if Folder::exists(&args.out) {
        let was = Folder::read(&args.out)?.facts;
        if was.device != facts.device {
            return Err(AppError::new(format!(
                "{} is a study of {}, not of {}",
                args.out.display(),
                was.device,
                facts.device
            ))
            .hint("choose another folder with --out"));
        }
        let (folder, sweep) = Folder::resume(&args.out, &facts, &[])?;
        for warning in &sweep.warnings {
            print::warn(warning);
        }
        (folder, sweep.trials)
    } else {
        (Folder::create(&args.out, &facts)?, Vec::new())
    };
    let left: Vec<&Case> = (all.iter())
        .filter(|c| !old.iter().any(|t| t.config == c.config()))
        .collect();
    let mut meter = meter(&args.device)?;
    if args.quick {
        meter.policy = QUICK;
    }
    let counts = gpu.is_some() && !args.no_counters;
    let bar = bar((left.len() + if counts { all.len() } else { 0 }) as u64, "");
    for case in left {
        if interrupt::requested() {
            break;
        }
        bar.set_message(case.arguments().join(" "));
        let trial = match case.input.precision {
            PrecisionArg::F32 => measure::<f32>(case, &mut meter, args.repeat),
            PrecisionArg::F64 => measure::<f64>(case, &mut meter, args.repeat),
        };
        // An interrupted measurement is repeated.
        if interrupt::requested() {
            break;
        }
        let trial = trial?;
        folder.append(&trial)?;
        bar.inc(1);
    }
    if counts {
        count(&all, &args.out, &bar)?;
    }
    bar.finish_and_clear();
    provenance.took("measurements", begin.elapsed().as_secs_f64());
    let sweep = Folder::read(&args.out)?;
    if args.json {
        print::json(&study_figure::value(&sweep, &provenance))?;
    } else {
        study_figure::print(&sweep);
    }
    if let Some(to) = &figure {
        study_figure::drawing(&sweep).write(to, &args.look.look(), &provenance)?;
    }
    if interrupt::requested() {
        return Err(AppError::interrupted(
            "interrupted: the measurements are kept; the same command continues",
        ));
    }
    print::note(format!(
        "`greenup explain {}` predicts the energies of cases with counters",
        args.out.display()
    ));
    Ok(())
}

/// Standard deviation over the mean; 0 of a single value.
fn deviation(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0)).sqrt() / mean
}

fn measure<R: Real>(case: &Case, meter: &mut Meter, repeat: usize) -> Result<Trial> {
    let device = &case.device;
    let begun = Instant::now();
    let l = case.input.load()?;
    let options = case.input.options(case.ncrit, M2l::Fft);
    let plan = Plan::<R>::new(&l.sources, None, &options)?;
    let (mut engine, _) = engine(Arc::new(plan), device, "")?;
    engine.evaluate(&l.charges)?;
    let build_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let all = (0..repeat.max(1))
        .map(|_| measured(meter, &mut *engine))
        .collect::<Result<Vec<_>>>()?;
    let times_s: Vec<f64> = all.iter().map(|m| m.time_s.median).collect();
    let energies: Option<Vec<f64>> = (all.iter())
        .map(|m| m.energy_j.as_ref().map(|e| e.median))
        .collect();
    let mut metrics = all.last().map(|m| m.state_by_name()).unwrap_or_default();
    let spread = energies.as_deref().and_then(Summary::of);
    let energies = energies.unwrap_or_default();
    if let Some(s) = &spread {
        // Of one run nothing is known of the spread.
        if s.relative_error().is_finite() {
            metrics.insert("energy_error".to_owned(), s.relative_error());
            metrics.insert("energy_sd".to_owned(), deviation(&energies));
        }
    }
    let time = Summary::of(&times_s);
    Ok(Trial {
        config: case.config(),
        outcome: Outcome::Measured {
            time_s: time.as_ref().map_or(f64::NAN, |s| s.median),
            times_s,
            energy_j: spread.map(|s| s.median),
            time_error: time.map(|s| s.relative_error()).filter(|e| e.is_finite()),
        },
        metrics,
        device: None,
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

/// Measures the counters of cases that have none, each in a process of its own.
fn count(all: &[Case], dir: &Path, bar: &ProgressBar) -> Result {
    let program = greenup_app::command::this_program()?;
    let done = Folder::read(dir)?;
    let has = |config: &[Value]| {
        let mut same = done.trials.iter().filter(|t| t.config == config);
        same.any(|t| !t.kernels.is_empty())
    };
    for case in all {
        if interrupt::requested() {
            return Ok(());
        }
        let config = case.config();
        if !has(&config) {
            bar.set_message(format!("counters of {}", case.arguments().join(" ")));
            let log = dir.join("ncu.csv");
            let (counters, kernels) =
                counters::of_program(&program, &case.arguments(), &log, &Bars::quiet())
                    .map_err(|e| AppError::from(e).hint("--no-counters omits them"))?;
            let counted = Counted {
                config,
                counters,
                kernels,
            };
            Folder::append_counters(dir, &counted)?;
        }
        bar.inc(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::deviation;

    #[test]
    fn a_deviation_is_relative_to_the_mean() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squares 32.
        let x = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((deviation(&x) - (32.0f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(deviation(&[3.0]), 0.0);
    }
}
