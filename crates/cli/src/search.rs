//! A search on this host or its GPU, as the commands `tune` and `gemm` start it.

use crate::args::{BudgetArg, SearchArgs};
use crate::keep;
use crate::launched::{self, Launched};
use crate::{facts, setup};
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{machine, print};
use greenup_device::CpuFacts;
use greenup_setting::setting;
use greenup_space::{Facts, Value};
use greenup_tune::build::compile::compiler_version;
use greenup_tune::session::device_facts::of_opencl;
use greenup_tune::session::{
    Budget, Estimate, Session, SessionError, SessionOptions, SessionResult,
};
use greenup_tune::shard::Shard;
use greenup_tune::sweep::metric::ObjectiveError;
use greenup_tune::sweep::{FolderError, FormatError, read_any, wisdom};
use greenup_tune::{Objective, Problem, Sweep, TuneError};
use greenup_wisdom::Device;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a problem with some constants overridden.
pub fn problem(
    file: &Path,
    constants: &[(String, toml::Value)],
    gpu: Option<&str>,
) -> Result<Problem> {
    let text = greenup_files::read_text(file)?;
    if let Some(device) = facts::opencl_device(&text, gpu)? {
        let mut problem = problem_with(file, constants, &of_opencl(&device))?;
        problem.opencl = Some(device);
        return Ok(problem);
    }
    let gpu = setup::first_gpu(gpu)?;
    problem_with(file, constants, &facts::facts_for(file, gpu.as_deref())?)
}

/// The same with the facts of a device.
pub fn problem_with(
    file: &Path,
    constants: &[(String, toml::Value)],
    facts: &Facts,
) -> Result<Problem> {
    Problem::read_with(file, facts, constants).map_err(|e| {
        let out = AppError::new(e.to_string());
        match e.hint {
            Some(h) => out.hint(h),
            None => out,
        }
    })
}

/// How a search is spread over devices and jobs.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    /// GPUs with a worker each, in place of those of the search.
    pub gpus: Option<String>,
    /// Part of the space.
    pub shard: Option<Shard>,
    /// Workers on the host.
    pub workers: usize,
    /// Workers that launchers started, in place of all others.
    pub launched: Vec<Launched>,
    /// Configs that are measured first, and again beside the finalists.
    pub first: Vec<Vec<Value>>,
}

/// Sets the measuring time of a config, if one is given.
pub fn set_measure(problem: &mut Problem, seconds: Option<f64>) -> Result {
    let Some(seconds) = seconds else {
        return Ok(());
    };
    if !(seconds > 0.0 && seconds < problem.measure.timeout) {
        return Err(AppError::new(format!(
            "--measure must lie between 0 and the problem's timeout of {} s",
            problem.measure.timeout
        )));
    }
    problem.measure.seconds = seconds;
    Ok(())
}

/// Searches the space of a problem, measures on this host, and writes the sweep into `dir`.
pub fn sweep(
    problem: &Problem,
    file: &Path,
    search: &SearchArgs,
    spread: &Spread,
    dir: &Path,
    quiet: bool,
) -> Result<SessionResult> {
    let bars = Bars::new();
    let mut options = SessionOptions {
        objectives: search.objective.clone(),
        strategy: search.strategy.clone(),
        budget: match search.budget {
            BudgetArg::Evaluations(n) => Budget::Evaluations(n),
            BudgetArg::Seconds(s) => Budget::Seconds(s),
            BudgetArg::Share(x) => Budget::Share(x),
        },
        seed: search.seed,
        finalists: search.finalists,
        rounds: search.rounds,
        near_ties: search.near_ties,
        resume: search.resume,
        accept: search.accept.clone(),
        machine: None,
        facts: BTreeMap::new(),
        shard: spread.shard,
        first: spread.first.clone(),
    };
    if let Some(name) = search.machine.as_ref().filter(|_| problem.has_work()) {
        options.machine = Some(machine::load(name)?);
    }
    let cannot = |e: SessionError| refused(e, file, dir);
    let gpus = spread.gpus.as_deref().or(search.gpu.as_deref());
    let sensor = search.sensor.sensor.as_deref();
    let setup = match spread.launched.as_slice() {
        [] => setup::setup_all(problem, gpus, sensor, spread.workers)?,
        launched => launched::setup(problem, launched)?,
    };
    let cpu = CpuFacts::read();
    options.facts = facts(search, &cpu, setup.sensor.as_deref());
    if setup.gpu.is_none() && spread.launched.is_empty() {
        (options.facts).extend(wisdom::device_facts(&Device::of_cpu(&cpu)));
    }
    if search.from_wisdom {
        let device = match &setup.gpu {
            Some(on) => Device::of_gpu(&on.gpu),
            None => Device::of_cpu(&cpu),
        };
        let objective = (search.objective.first().copied()).unwrap_or(problem.objective);
        options
            .first
            .extend(keep::first(problem, &device, objective)?);
    }
    let session = Session::new(problem, options, &bars).map_err(cannot)?;
    print::detail(|| {
        format!(
            "device {}, compiler {}, flags {:?}, {} s of measuring a config",
            setup.device,
            compiler_version(&problem.build),
            problem.build.flags(),
            problem.measure.seconds
        )
    });
    let (points, objective) = (session.points(), session.objective());
    let run = session.prepare(setup, dir).map_err(cannot)?;
    if !quiet {
        print::note(format!(
            "{}: {} points, {objective} by `{}`, into {}",
            problem.space.name,
            print::grouped(u128::from(points)),
            search.strategy,
            dir.display()
        ));
    }
    if !quiet {
        estimate(run.estimate());
    }
    if !problem.verified() {
        print::warn(UNVERIFIED);
    }
    // The bar is removed before anything is printed.
    let result = run.execute(&bars);
    drop(bars);
    result.map_err(|e| failed(e, dir))
}

/// Prints how long a session takes.
fn estimate(e: Estimate) {
    let finals = print::duration(e.finals_s);
    match e.trials {
        None => print::at_least(
            e.search_s + e.finals_s,
            format!(
                "{} of search, {finals} for the finalists; inputs and the reference come on top",
                print::duration(e.search_s)
            ),
        ),
        Some(n) => print::at_least(
            e.search_s + e.finals_s,
            format!(
                "{n} trials measure {} each, the finalists {finals}; builds and verification come on top",
                print::duration(e.trial_s)
            ),
        ),
    }
}

/// A session that cannot start, with the fix.
fn refused(e: SessionError, file: &Path, dir: &Path) -> AppError {
    let message = e.to_string();
    let named = || AppError::new(format!("{}: {message}", file.display()));
    match e {
        SessionError::Tune(e) => failed(e, dir),
        SessionError::Space(_) => named(),
        SessionError::Empty => named().hint(format!(
            "`greenup space {}` shows which filter rejects all points",
            file.display()
        )),
        SessionError::OutOfMemory => AppError::new(message)
            .hint("add filters; `greenup space` shows what each filter prunes"),
        SessionError::NoEnergy { .. } => AppError::new(message).hint(format!(
            "tune for time, or name a meter with {}",
            setting("sensor")
        )),
        SessionError::Unpredictable { .. } => AppError::new(message)
            .hint("the machine must have every operation class of [work], and energy for energy"),
        SessionError::EmptyShard { .. } => named().hint("use a smaller N in --shard I/N"),
        SessionError::Objective(_) => named(),
        SessionError::Interrupted | SessionError::Strategy(_) | SessionError::MetricAlone => {
            AppError::new(message)
        }
    }
}

/// Facts recorded with a sweep, to make it reproducible.
fn facts(search: &SearchArgs, cpu: &CpuFacts, sensor: Option<&str>) -> BTreeMap<String, String> {
    let version = greenup_app::version();
    let mut more = BTreeMap::from([
        ("greenup".to_owned(), version.version.to_owned()),
        ("commit".to_owned(), version.commit.to_owned()),
        ("strategy".to_owned(), search.strategy.clone()),
        ("seed".to_owned(), search.seed.to_string()),
        ("cores".to_owned(), cpu.cores.len().to_string()),
        (
            "sensor".to_owned(),
            sensor.unwrap_or("none: time only").to_owned(),
        ),
        ("command".to_owned(), greenup_app::command::arguments()),
    ]);
    more.insert("host".to_owned(), greenup_app::provenance::host_name());
    if let Some(g) = &cpu.governor {
        more.insert("governor".into(), g.clone());
    }
    more
}

/// The error of a sweep, with its suggestion.
pub fn failed(e: TuneError, dir: &Path) -> AppError {
    match e {
        TuneError::File(e) | TuneError::Folder(FolderError::File(e)) => e.into(),
        TuneError::Folder(e) => folder(&e),
        e @ TuneError::Nothing(_) => AppError::new(e.to_string()).hint(format!(
            "{} lists every failure",
            dir.join("trials.jsonl").display()
        )),
        e @ (TuneError::Environment(_) | TuneError::NoWorker(_)) => AppError::new(e.to_string())
            .hint(format!(
                "the measurements are kept; fix the cause and run the command again (tune with {})",
                setting("resume").on()
            )),
        e => AppError::new(e.to_string()),
    }
}

/// Warning for problems without a reference.
const UNVERIFIED: &str = "the problem says nothing of right results: they are not verified";

/// A sweep's folder that cannot be used, with the fix.
pub fn folder(e: &FolderError) -> AppError {
    let out = AppError::new(e.to_string());
    let resume = setting("resume").on();
    let other = format!("choose another folder with {}", setting("out"));
    match e {
        FolderError::File(file) => match file.hint() {
            Some(h) => out.hint(h),
            None => out,
        },
        FolderError::Exists(_) => {
            out.hint(format!("continue it with {resume}, or {other}"))
        }
        FolderError::Other { .. } => out.hint(format!(
            "{other}; or, if trials remain comparable, continue with {resume} --accept NAME,… (or all)"
        )),
        FolderError::NotOfSweep(_) => out.hint(other),
        FolderError::NoFacts(_) => out.hint(format!("restore its sweep.json, or {other}")),
        FolderError::Csv { .. } | FolderError::Json { .. } | FolderError::Implausible { .. } => out,
        FolderError::Broken { .. } => out.hint("restore the file, or choose another folder"),
    }
}

/// A sweep with the values of an objective, by default its own; and the objective.
///
/// # Errors
/// The sweep has no metric of that name, or what is better of it is not known.
pub fn aimed(sweep: Sweep, objective: Option<Objective>) -> Result<(Sweep, Objective)> {
    let refused = |e: ObjectiveError| AppError::new(e.to_string());
    let objective = objective.map_or_else(|| sweep.own_objective(), Ok);
    let objective = objective.map_err(refused)?;
    let before = sweep.warnings.len();
    let out = sweep.aimed(objective).map_err(refused)?.into_owned();
    for w in &out.warnings[before..] {
        print::warn(w);
    }
    Ok((out, objective))
}

/// Reads a recorded sweep, with a warning for each line that is left out.
pub fn recorded(path: &Path) -> Result<Sweep> {
    let sweep = read_any(path).map_err(|e| match e.cause {
        FormatError::Folder(e) => folder(&e),
        FormatError::File(e) => e.into(),
        _ => AppError::new(e.to_string()),
    })?;
    for w in &sweep.warnings {
        print::warn(w);
    }
    if sweep.facts.verified == Some(false) {
        print::warn(
            "the sweep's results were not verified: its problem said nothing of right results",
        );
    }
    Ok(sweep)
}
