//! Workers of `greenup tune --launcher CMD`.

mod command;

use crate::args::TuneArgs;
use crate::search::setup::launcher;
use greenup_app::error::{AppError, Result};
use greenup_app::{folders, interrupt, print};
use greenup_device::CpuFacts;
use greenup_device::cuda::Compiler;
use greenup_process::capture::output;
use greenup_space::Facts;
use greenup_tune::command::Runnable;
use greenup_tune::plan::{GpuTarget, Setup, WorkerSetup};
use greenup_tune::problem::ProblemFile;
use greenup_tune::session::device_facts::{of_gpu, of_host};
use greenup_tune::worker::launcher::{Ahead, Launcher};
use greenup_tune::worker::protocol::{Introduction, Question};
use greenup_tune::worker::remote::VERSION;
use greenup_tune::{Energies, Problem};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A worker that introduced itself.
#[derive(Clone, Debug)]
pub struct Launched {
    command: String,
    launcher: Launcher,
    about: Introduction,
}

impl Launched {
    /// What `device.NAME` means.
    pub fn facts(&self) -> Facts {
        self.about.gpu().map_or_else(of_host, of_gpu)
    }

    /// Model of the device that it measures on.
    fn device(&self) -> &str {
        self.about.gpu().map_or(&self.about.cpu, |gpu| &gpu.name)
    }
}

/// Time for a launched program to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(3);

/// Starts a worker by each launcher, or one for each GPU of its host, to learn what they are.
///
/// # Errors
/// One does not introduce itself or has another version, their devices differ, or two have one GPU.
pub fn start(args: &TuneArgs, file: &ProblemFile) -> Result<Vec<Launched>> {
    let on_gpu = file.is_cuda();
    if file.is_opencl() && !args.launcher.is_empty() {
        return Err(AppError::new(
            "the kernels are in OpenCL, which --launcher does not run on other hosts",
        )
        .hint("run `greenup tune` on the other host without --launcher, as in `ssh HOST greenup tune …`; several hosts can take a part each by --shard I/N"));
    }
    let list = args.gpus.as_deref().or(args.search.gpu.as_deref());
    if !on_gpu && list.is_some() && !args.launcher.is_empty() {
        print::warn("the kernels are not CUDA: they run on CPUs, --device has no effect");
    }
    let mut all: Vec<Launched> = Vec::new();
    for command in &args.launcher {
        let list = list.filter(|_| on_gpu).map(str::to_owned);
        let first = introduced(args, command, on_gpu, list)?;
        let gpus = first.about.gpus.clone();
        if file.is_command() {
            runs_there(&first, file)?;
        } else {
            fits(&first, on_gpu)?;
        }
        alike(&first, all.first())?;
        let named = args.search.sensor.sensor.as_deref();
        if let Some(id) = named.filter(|s| *s != "none" && gpus.len() > 1) {
            return Err(AppError::new(format!(
                "--sensor {id} names one sensor, and each of {} GPUs of {} needs its own",
                gpus.len(),
                first.about.host
            ))
            .hint(
                "leave it out, so that each GPU has its own energy counter, or use --sensor none",
            ));
        }
        all.push(first);
        for gpu in gpus.iter().skip(1) {
            let more = introduced(args, command, on_gpu, Some(gpu.ordinal.to_string()))?;
            fits(&more, on_gpu)?;
            alike(&more, all.first())?;
            all.push(more);
        }
    }
    twice(&all)?;
    Ok(all)
}

/// Starts a worker for the first GPU of a list, and ends it when it has said what it is.
fn introduced(
    args: &TuneArgs,
    command: &str,
    on_gpu: bool,
    gpus: Option<String>,
) -> Result<Launched> {
    let program = &args.remote_program;
    let line = |arguments: &[&str]| command::line(command, program, arguments);
    let question = Question {
        on_gpu,
        gpus,
        sensor: match args.search.energy {
            Energies::None => Some("none".to_owned()),
            _ => args.search.sensor.sensor.clone(),
        },
        timeout_s: args.launcher_timeout,
    };
    let mut launcher = Launcher {
        program: "sh".into(),
        arguments: vec!["-c".into(), line(&["trial-worker", "--remote"])],
        remote: Some(question.clone()),
        ahead: Ahead::default(),
    };
    let failed = |why: String| AppError::new(format!("--launcher '{command}': {why}"));
    let worker = match launcher.start(&interrupt::requested) {
        Ok(worker) => worker,
        Err(_) if interrupt::requested() => {
            return Err(AppError::interrupted("stopped before the search began"));
        }
        Err(e) => {
            if let Some(other) = other_version(&line(&["--version"])) {
                return Err(failed(format!(
                    "greenup there has version {other}, this one {VERSION}: {e}"
                ))
                .hint("install the same version there; --remote-program names its path"));
            }
            let asked = command::is_ssh(command) && e.0.contains("code 255");
            let known = if asked {
                "; ssh must not ask for a password or a new host key: log in by a key once before"
            } else {
                ""
            };
            return Err(failed(e.to_string()).hint(format!(
                "check that `{command} {} --version` prints the version of greenup there; --remote-program names its path{known}",
                command::quoted(program)
            )));
        }
    };
    let skipped = worker.skipped();
    if skipped.bytes > 0 {
        print::note(format!(
            "--launcher '{command}': {} bytes of other output are skipped, which begin with `{}`",
            skipped.bytes, skipped.first
        ));
    }
    let Some(about) = worker.introduction().cloned() else {
        return Err(failed("the worker did not introduce itself".into()));
    };
    worker.finish(5.0);
    let here = greenup_report::version::version().commit;
    if about.commit != here {
        print::warn(format!(
            "--launcher '{command}': greenup on {} is of commit {}, this one of {here}: install the same if they measure differently",
            about.host, about.commit
        ));
    }
    // Later starts take the same GPU, whatever the list.
    launcher.remote = Some(Question {
        gpus: about.gpu().map(|g| g.ordinal.to_string()),
        ..question
    });
    Ok(Launched {
        command: command.to_owned(),
        launcher,
        about,
    })
}

/// The version of the program that a line starts, if it prints one that is not this one's.
fn other_version(line: &str) -> Option<String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    let out = output(&mut command, VERSION_LIMIT, &interrupt::requested).ok()?;
    let version = (out.stdout.lines()).find_map(|l| l.strip_prefix("greenup "))?;
    (version != VERSION).then(|| version.to_owned())
}

/// Refuses two workers of one GPU: their measurements would disturb each other.
fn twice(all: &[Launched]) -> Result {
    let uuid = |l: &Launched| l.about.gpu().map(|g| g.uuid.clone());
    for (i, l) in all.iter().enumerate() {
        let same = |o: &&Launched| uuid(o) == uuid(l) && o.about.host == l.about.host;
        if uuid(l).is_some_and(|u| !u.is_empty())
            && let Some(other) = all[..i].iter().find(same)
        {
            return Err(AppError::new(format!(
                "--launcher '{}' and --launcher '{}' both give a worker {} of {}",
                other.command,
                l.command,
                l.about.gpu().map_or("", |g| &g.uuid),
                l.about.host
            ))
            .hint("name a host once with --device cuda:all, or set CUDA_VISIBLE_DEVICES in each launcher"));
        }
    }
    Ok(())
}

fn differs(new: &Launched, what: &str) -> Result {
    let launcher = &new.command;
    Err(AppError::new(format!("--launcher '{launcher}': {what}")))
}

/// Refuses a processor for which a command's space would have other values.
fn runs_there(new: &Launched, file: &ProblemFile) -> Result {
    let (about, here) = (&new.about, CpuFacts::read());
    if about.cpu == here.model || !file.names_device() {
        return Ok(());
    }
    differs(
        new,
        &format!(
            "{} has a {}, this host a {}, whose values `device.` in the problem file has: run `greenup tune` on a host of the same model",
            about.host, about.cpu, here.model
        ),
    )
}

/// Refuses a processor on which kernels that are built here might not run.
fn fits(new: &Launched, on_gpu: bool) -> Result {
    let here = CpuFacts::read();
    let about = &new.about;
    if about.arch != here.arch {
        return differs(
            new,
            &format!(
                "{} is {}, this host {}: what is built here does not run there",
                about.host, about.arch, here.arch
            ),
        );
    }
    if !on_gpu && (about.cpu != here.model || about.isa != here.isa.name()) {
        return differs(
            new,
            &format!(
                "{} has a {} ({}), this host a {} ({}): kernels are built here, so run `greenup tune` on a host of the same model",
                about.host,
                about.cpu,
                about.isa,
                here.model,
                here.isa.name()
            ),
        );
    }
    Ok(())
}

/// Refuses a device that differs from the first: trials could not be compared.
fn alike(new: &Launched, first: Option<&Launched>) -> Result {
    if let Some(first) = first.filter(|f| f.device() != new.device()) {
        return differs(
            new,
            &format!(
                "{} has a {}, {} a {}: their trials cannot be compared",
                new.about.host,
                new.device(),
                first.about.host,
                first.device()
            ),
        );
    }
    Ok(())
}

/// Refuses files that runs of several workers would write over each other.
fn apart(command: &Runnable, launched: &[Launched]) -> Result {
    let host = |i: usize| &launched[i].about.host;
    let shared = (0..launched.len()).any(|i| (0..i).any(|j| host(j) == host(i)));
    for (what, file) in command.files_of_all() {
        let below_problem = Path::new(&file).is_relative();
        if launched.len() > 1 && (below_problem || shared) {
            let place = if below_problem {
                "is in the folder of the problem file, which all hosts share"
            } else {
                "is of one host, which has two workers"
            };
            return Err(AppError::new(format!(
                "{what}: the file {file} {place}: runs of several workers would write over each other's"
            ))
            .hint("name it below {build}, which each worker has for itself, or use one --launcher"));
        }
    }
    Ok(())
}

/// The workers of a session; builds of kernels and the reference run here.
///
/// # Errors
/// The problem sets clocks, runs of a command write one file, or NVRTC is missing.
pub fn setup(problem: &Problem, launched: &[Launched]) -> Result<Setup> {
    if problem.sets_clocks() {
        return Err(
            AppError::new("the space sets clocks or power, which --launcher does not do")
                .hint("run `greenup tune` without --launcher on the host of the GPU"),
        );
    }
    if let Some(command) = &problem.command {
        apart(command, launched)?;
    }
    if problem.on_gpu() {
        Compiler::new(None)?;
    }
    let cubins = folders::cache()?.join("cubins");
    let target = |l: &Launched| {
        l.about.gpu().map(|gpu| GpuTarget {
            gpu: gpu.clone(),
            cubins: cubins.clone(),
        })
    };
    let without = launched.iter().find(|l| l.about.sensor.is_none());
    let first = launched.first();
    Ok(Setup {
        gpu: first.and_then(target),
        device: first.map(|l| l.device().to_owned()).unwrap_or_default(),
        sensor: match without {
            Some(_) => None,
            None => first.and_then(|l| l.about.sensor.clone()),
        },
        // That of another host is not asked for.
        sensor_period_s: None,
        missing: without.and_then(|l| {
            let why = l.about.missing.clone()?;
            Some(format!("{}: {why}", l.about.host))
        }),
        launcher: launcher(None)?,
        control: None,
        workers: (launched.iter().enumerate())
            .map(|(i, l)| WorkerSetup {
                name: match l.about.gpu() {
                    Some(gpu) => format!("{} cuda:{} ({i})", l.about.host, gpu.ordinal),
                    None => format!("{} ({i})", l.about.host),
                },
                launcher: l.launcher.clone(),
                gpu: target(l),
                control: None,
                host: Some(l.about.host.clone()),
                version: Some(l.about.version.clone()),
            })
            .collect(),
    })
}
