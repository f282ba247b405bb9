//! A short tuning run: the DGEMM kernel family on this host; the best kernel is compared with a library.

use crate::tradeoff::{SEARCH, Tradeoff, named};
use crate::tuned::{DEFAULT_CONFIG, Tuning, TuningError, unused};
use greenup_calibrate::bench::Bench;
use greenup_device::{CpuFacts, Team};
use greenup_gemm::{Faer, Kernel, Matrices, Product, Size, compare, family};
use greenup_meter::Observer;
use greenup_model::Op;
use greenup_space::{Index, Limits, Value};
use greenup_tune::points::Indexed;
use greenup_tune::search::Budget;
use greenup_tune::worker::launcher::Launcher;
use greenup_tune::{DEFAULT, Objective, Plan, SessionOptions, Setup, strategy, tune};
use std::path::PathBuf;

/// Settings of the tuning run.
pub struct TuningOptions {
    /// Folder for the sweep; if it already contains one, a numbered folder next to it is used.
    pub dir: PathBuf,
    /// Starts the worker processes that run the kernels.
    pub launcher: Launcher,
    /// Duration of the search, s.
    pub seconds: f64,
    /// Order of the matrices.
    pub n: usize,
    /// Whether the launcher's processes have an energy sensor: then the kernel is tuned for time and for energy.
    pub energy: bool,
}

/// Tunes the DGEMM kernel family and compares the best config with the default one and faer.
///
/// # Errors
/// There is no compiler, a file cannot be written, the search was stopped before its end, or a result is wrong.
pub fn run(
    options: &TuningOptions,
    facts: &CpuFacts,
    team: &Team,
    observer: &dyn Observer,
) -> Result<Tuning, TuningError> {
    let n = options.n;
    let size = Size { m: n, n, k: n };
    let dir = unused(&options.dir);
    let files = dir.join("family");
    let mut problem = family::problem(&files, size, facts)?;
    problem.measure.seconds = 0.15;
    let index = Index::build(&problem.space, &Limits::default())?;
    let plan = Plan::new(
        &problem,
        SessionOptions {
            objectives: if options.energy {
                vec![Objective::Time, Objective::Energy]
            } else {
                Vec::new()
            },
            budget: Budget::Seconds(options.seconds),
            finalists: if options.energy { 4 } else { 3 },
            ..SessionOptions::default()
        },
        Setup::of(options.launcher.clone(), facts.model.clone(), None),
        dir.clone(),
    );
    let mut search = strategy(if options.energy { SEARCH } else { DEFAULT }, None)?;
    let (found, sweep) = tune(
        &problem,
        &Indexed::new(&index),
        search.as_mut(),
        &plan,
        observer,
    )?;
    let best = found.finalists.first().ok_or(TuningError::Interrupted)?;
    let build =
        |config: &[Value], name| Kernel::build(&problem, config, name, &dir.join("kernels"));
    let default = family::untuned(&problem, facts);
    let default_kernel = build(&default, DEFAULT_CONFIG)?;
    let tuned = if best.config == default {
        None
    } else {
        Some(build(&best.config, "tuned kernel")?)
    };
    let faer = Faer {
        threads: facts.cores.len(),
    };
    let fma = Bench::f64_peak(team.len()).prepare(facts, team, &|| true);
    let peak = fma.as_ref().map(|b| || b.rate(Op::F64, 0.05));
    let own = tuned.iter().chain([&default_kernel]);
    let mut all: Vec<&dyn Product> = own.map(|k| k as &dyn Product).collect();
    all.push(&faer);
    let comparison = compare(
        &all,
        &mut Matrices::random(size, 1),
        7,
        0.05,
        peak.as_ref().map(|p| p as &dyn Fn() -> f64),
        observer,
    )?;
    if comparison.entries.len() < all.len() {
        return Err(TuningError::Interrupted);
    }
    let mut tuning = Tuning {
        size,
        points: index.len(),
        trials: found.trials,
        failed: found.failures.values().sum(),
        config: named(&sweep.facts.parameters, &best.config),
        tradeoff: Tradeoff::of(&sweep, None),
        comparison,
    };
    // Within the noise of the rounds the default stays.
    if !tuning.found_faster() {
        tuning.config = named(&sweep.facts.parameters, &default);
    }
    Ok(tuning)
}
