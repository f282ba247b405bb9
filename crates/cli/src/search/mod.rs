//! A search on this host or its GPU, as the commands `tune` and `gemm` start it.

pub mod facts;
pub mod launchers;
pub mod result;
pub mod setup;
pub mod wisdom;

use crate::args::SearchArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{machine, print, sensors};
use greenup_device::CpuFacts;
use greenup_report::si::si;
use greenup_report::text;
use greenup_setting::setting;
use greenup_space::Facts;
use greenup_tune::build::compile::compiler_version;
use greenup_tune::problem::ProblemFile;
use greenup_tune::session::device_facts::{of_gpu, of_host, of_opencl};
use greenup_tune::session::{Estimate, Session, SessionError, SessionResult};
use greenup_tune::sweep::metric::ObjectiveError;
use greenup_tune::sweep::wisdom::device_facts;
use greenup_tune::sweep::{Folder, FolderError, FormatError, read_any};
use greenup_tune::worker::launcher::Launcher;
use greenup_tune::{Energies, Objective, Problem, SessionOptions, Sweep, TuneError};
use greenup_wisdom::Device;
use launchers::Launched;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The problem of a file with some constants overridden, for the device that it would run on.
pub fn problem(
    file: &ProblemFile,
    constants: &[(String, toml::Value)],
    gpu: Option<&str>,
) -> Result<Problem> {
    let opencl = facts::opencl_device(file, gpu)?;
    let facts = match &opencl {
        Some(device) => of_opencl(device),
        None => {
            let gpu = setup::first_gpu(gpu)?;
            if file.is_cuda() || gpu.is_some() {
                of_gpu(&sensors::gpu(gpu.as_deref())?)
            } else {
                of_host()
            }
        }
    };
    let mut problem = problem_with(file, constants, &facts)?;
    problem.opencl = opencl;
    Ok(problem)
}

/// The same with the facts of a device.
pub fn problem_with(
    file: &ProblemFile,
    constants: &[(String, toml::Value)],
    facts: &Facts,
) -> Result<Problem> {
    file.problem(facts, constants).map_err(|e| AppError {
        hint: e.hint.clone(),
        ..AppError::new(e.to_string())
    })
}

/// Sets the measuring time of a config, if one is given.
pub fn set_measure(problem: &mut Problem, seconds: Option<f64>) -> Result {
    let Some(seconds) = seconds else {
        return Ok(());
    };
    if !(seconds > 0.0 && seconds < problem.measure.timeout) {
        return Err(AppError::new(format!(
            "--measure {} must lie below the problem's timeout of {}",
            si(seconds, "s"),
            si(problem.measure.timeout, "s")
        )));
    }
    problem.measure.seconds = seconds;
    Ok(())
}

/// A search as a command asks for it.
pub struct Request {
    /// What is tuned.
    pub problem: Problem,
    /// Its file, which messages name.
    pub file: PathBuf,
    /// How it is searched.
    pub options: SessionOptions,
    /// Where another program requests configs, in place of a strategy; `-` is the standard input.
    pub requests: Option<PathBuf>,
    /// Whether to begin with the config of wisdom.
    pub from_wisdom: bool,
    /// GPUs with a worker each, or the device of kernels in OpenCL.
    pub devices: Option<String>,
    /// Energy sensor.
    pub sensor: Option<String>,
    /// Workers on the host.
    pub workers: usize,
    /// Workers that launchers started, in place of all others.
    pub launched: Vec<Launched>,
    /// How processes start without a sensor, with those that have started.
    pub plain: Launcher,
    /// Folder of the sweep.
    pub out: PathBuf,
    /// Without notes on what begins.
    pub quiet: bool,
}

impl Request {
    /// What the arguments of all searches say.
    ///
    /// # Errors
    /// The machine model cannot be read.
    pub fn new(problem: Problem, file: PathBuf, args: &SearchArgs, out: PathBuf) -> Result<Self> {
        let machine = args.machine.as_ref().filter(|_| problem.has_work());
        let sensor = args.sensor.sensor.as_deref().filter(|s| *s != "none");
        if let (Energies::None, Some(sensor)) = (args.energy, sensor) {
            return Err(AppError::new(format!(
                "--energy none measures no energy, and --sensor {sensor} names what measures it: leave one out"
            )));
        }
        Ok(Self {
            file,
            options: SessionOptions {
                objectives: args.objective.clone(),
                strategy: args.strategy.clone(),
                budget: args.budget,
                seed: args.seed,
                finalists: args.finalists,
                rounds: args.rounds,
                near_ties: args.near_ties,
                energy: args.energy,
                resume: args.resume,
                overwrite: args.overwrite,
                accept: args.accept.clone(),
                machine: machine.map(|name| machine::load(name)).transpose()?,
                ..SessionOptions::default()
            },
            requests: None,
            from_wisdom: args.from_wisdom,
            devices: args.gpu.clone(),
            sensor: match args.energy {
                Energies::None => Some("none".to_owned()),
                _ => args.sensor.sensor.clone(),
            },
            workers: 1,
            launched: Vec::new(),
            plain: setup::launcher(None)?,
            out,
            quiet: false,
            problem,
        })
    }

    /// Searches the space, measures on this host or by the launched workers, and writes the sweep.
    pub fn run(mut self) -> Result<SessionResult> {
        let bars = Bars::new();
        let (file, dir) = (&self.file, self.out.as_path());
        let (devices, sensor) = (self.devices.as_deref(), self.sensor.as_deref());
        let setup = match self.launched.as_slice() {
            [] => setup::setup_all(&self.problem, devices, sensor, self.workers, self.plain)?,
            launched => launchers::setup(&self.problem, launched)?,
        };
        let cpu = CpuFacts::read();
        let options = &mut self.options;
        if self.requests.is_some() {
            // Who requests a config wants all of it.
            options.energy = Energies::All;
        }
        options.facts = facts(options, &cpu, setup.sensor.as_deref());
        if setup.gpu.is_none() && self.launched.is_empty() {
            (options.facts).extend(device_facts(&Device::of_cpu(&cpu)));
        }
        if self.from_wisdom {
            let device = match &setup.gpu {
                Some(on) => Device::of_gpu(&on.gpu),
                None => Device::of_cpu(&cpu),
            };
            let objective = (options.objectives.first().copied()).unwrap_or(self.problem.objective);
            (options.first).extend(wisdom::first(&self.problem, &device, objective)?);
        }
        if self.requests.is_some() {
            (options.facts).insert("strategy".to_owned(), "requests".to_owned());
        }
        let strategy = options.facts.get("strategy").cloned().unwrap_or_default();
        let mut session = Session::new(self.problem, self.options, setup, dir, &bars)
            .map_err(|e| refused(e, file, dir))?;
        if let Some(from) = &self.requests {
            session.take_requests(requests(from)?);
        }
        let problem = session.problem();
        print::detail(|| {
            format!(
                "device {}, compiler {}, flags {:?}, {} s of measuring a config",
                session.device(),
                compiler_version(&problem.build),
                problem.build.flags(),
                problem.measure.seconds
            )
        });
        if !self.quiet {
            print::note(format!(
                "{}: {} points, {} by `{strategy}`, into {}",
                problem.space.name,
                text::grouped(u128::from(session.points())),
                session.objective(),
                dir.display()
            ));
            estimate(session.estimate());
        }
        if !problem.verified() {
            print::warn(UNVERIFIED);
        }
        // The bar is removed before anything is printed.
        let result = session.execute(&bars);
        drop(bars);
        result.map_err(|e| failed(e, dir))
    }
}

/// The input that requests configs.
fn requests(from: &Path) -> Result<Box<dyn BufRead + Send>> {
    if from == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = std::fs::File::open(from)
        .map_err(|e| AppError::new(format!("--requests {}: {e}", from.display())))?;
    Ok(Box::new(BufReader::new(file)))
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
        Some(0) => print::at_least(
            e.finals_s,
            format!("all trials are recorded, the finalists take {finals}"),
        ),
        Some(n) if e.stops => print::estimate(
            e.search_s + e.finals_s,
            format!(
                "{n} trials measure up to {} each, and those that cannot win are stopped; the finalists {finals}; builds and verification come on top",
                print::duration(e.trial_s)
            ),
        ),
        Some(n) => print::at_least(
            e.search_s + e.finals_s,
            format!(
                "{n} trials measure up to {} each, the finalists {finals}; builds and verification come on top",
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
        SessionError::NoEnergy { .. } => {
            AppError::new(message).hint("tune for time, or name a meter with --sensor")
        }
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
fn facts(
    options: &SessionOptions,
    cpu: &CpuFacts,
    sensor: Option<&str>,
) -> BTreeMap<String, String> {
    let version = greenup_report::version::version();
    let mut more = BTreeMap::from([
        ("greenup".to_owned(), version.version.to_owned()),
        ("commit".to_owned(), version.commit.to_owned()),
        ("strategy".to_owned(), options.strategy.clone()),
        ("seed".to_owned(), options.seed.to_string()),
        ("cores".to_owned(), cpu.cores.len().to_string()),
        (
            "sensor".to_owned(),
            sensor.unwrap_or("none: time only").to_owned(),
        ),
        (
            "command".to_owned(),
            greenup_report::provenance::arguments(),
        ),
    ]);
    more.insert("host".to_owned(), greenup_report::provenance::host_name());
    if let Some(g) = &cpu.governor {
        more.insert("governor".into(), g.clone());
    }
    more
}

/// The error of a sweep, with its suggestion.
pub fn failed(e: TuneError, dir: &Path) -> AppError {
    match e {
        TuneError::File(e) => e.into(),
        TuneError::Folder(e) => folder(e),
        e @ TuneError::Nothing(_) => {
            AppError::new(e.to_string()).hint(if Folder::has_successes(dir) {
                format!("the earlier sweep in {} is kept", dir.display())
            } else {
                let file = dir.join("trials.jsonl");
                format!("{} lists every failure", file.display())
            })
        }
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
pub fn folder(e: FolderError) -> AppError {
    let out = AppError::new(e.to_string());
    let resume = setting("resume").on();
    let other = format!("choose another folder with {}", setting("out"));
    match e {
        FolderError::File(e) => e.into(),
        FolderError::Exists(_) => out.hint(format!(
            "continue it with {resume}, replace it with {}, or {other}",
            setting("overwrite").on()
        )),
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
        FormatError::Folder(e) => folder(e),
        FormatError::File(e) => e.into(),
        FormatError::NoSweep(ref inside) => {
            let hint = match inside.is_empty() {
                true => "`greenup tune` writes a sweep with `--out`; `greenup sweeps list` lists those of a folder",
                false => "name one of them; `greenup sweeps list` tells what they hold",
            };
            AppError::new(e.to_string()).hint(hint)
        }
        _ => AppError::new(e.to_string()),
    })?;
    for w in &sweep.warnings {
        print::warn(w);
    }
    result::implausible(&sweep);
    if sweep.facts.verified == Some(false) {
        print::warn(
            "the sweep's results were not verified: its problem said nothing of right results",
        );
    }
    Ok(sweep)
}
