//! Workers of `greenup tune --launcher CMD`.

use crate::args::TuneArgs;
use crate::setup::launcher;
use greenup_app::error::{AppError, Result};
use greenup_app::{folders, interrupt, print};
use greenup_device::CpuFacts;
use greenup_device::cuda::Compiler;
use greenup_space::Facts;
use greenup_tune::Problem;
use greenup_tune::plan::{GpuTarget, WorkerSetup};
use greenup_tune::session::Setup;
use greenup_tune::session::device_facts::{is_cuda, of_gpu, of_host};
use greenup_tune::worker::launcher::Launcher;
use greenup_tune::worker::remote::{Introduction, Question};

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
        self.about.gpu.as_ref().map_or_else(of_host, of_gpu)
    }

    /// Model of the device that it measures on.
    fn device(&self) -> &str {
        let gpu = self.about.gpu.as_ref();
        gpu.map_or(&self.about.cpu, |gpu| &gpu.name)
    }
}

/// Starts a worker by each launcher, to hear what it is.
///
/// # Errors
/// One does not introduce itself or has another version, or their devices differ.
pub fn start(args: &TuneArgs) -> Result<Vec<Launched>> {
    let text = greenup_files::read_text(&args.problem).unwrap_or_default();
    let on_gpu = is_cuda(&text);
    if !(args.launcher_timeout > 0.0 && args.launcher_timeout < 1e6) {
        return Err(AppError::new("--launcher-timeout must be above 0 s"));
    }
    let mut all: Vec<Launched> = Vec::new();
    for command in &args.launcher {
        let launcher = Launcher {
            program: "sh".into(),
            arguments: [
                "-c",
                &format!("exec {command} \"$@\""),
                "sh",
                &args.remote_program,
            ]
            .into_iter()
            .chain(["trial-worker", "--remote"])
            .map(str::to_owned)
            .collect(),
            remote: Some(Question {
                on_gpu,
                sensor: args.search.sensor.sensor.clone(),
                timeout_s: args.launcher_timeout,
            }),
        };
        let failed = |why: String| AppError::new(format!("--launcher '{command}': {why}"));
        let worker = launcher.start(&interrupt::requested).map_err(|e| {
            failed(e.to_string()).hint(format!(
                "check that `{command} {} --version` prints the version of greenup there; --remote-program names its path",
                args.remote_program
            ))
        })?;
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
        let new = Launched {
            command: command.clone(),
            launcher,
            about,
        };
        fits(&new, all.first(), on_gpu)?;
        all.push(new);
    }
    Ok(all)
}

/// Refuses a device that differs from the others: trials could not be compared, and kernels might not run.
fn fits(new: &Launched, first: Option<&Launched>, on_gpu: bool) -> Result {
    let here = CpuFacts::read();
    let differs = |what: String| {
        Err(AppError::new(format!(
            "--launcher '{}': {what}",
            new.command
        )))
    };
    let about = &new.about;
    if about.arch != here.arch {
        return differs(format!(
            "{} is {}, this host {}: what is built here does not run there",
            about.host, about.arch, here.arch
        ));
    }
    if !on_gpu && (about.cpu != here.model || about.isa != here.isa.name()) {
        return differs(format!(
            "{} has a {} ({}), this host a {} ({}): kernels are built here, so run `greenup tune` on a host of the same model",
            about.host,
            about.cpu,
            about.isa,
            here.model,
            here.isa.name()
        ));
    }
    if let Some(first) = first.filter(|f| f.device() != new.device()) {
        return differs(format!(
            "{} has a {}, {} a {}: their trials cannot be compared",
            about.host,
            new.device(),
            first.about.host,
            first.device()
        ));
    }
    Ok(())
}

/// The workers of a session; builds and the reference run here.
///
/// # Errors
/// The problem sets clocks, or NVRTC is missing.
pub fn setup(problem: &Problem, launched: &[Launched]) -> Result<Setup> {
    if problem.sets_clocks() {
        return Err(
            AppError::new("the space sets clocks or power, which --launcher does not do")
                .hint("run `greenup tune` without --launcher on the host of the GPU"),
        );
    }
    if problem.on_gpu() {
        Compiler::new(None)?;
    }
    let cubins = folders::cache()?.join("cubins");
    let target = |l: &Launched| {
        l.about.gpu.clone().map(|gpu| GpuTarget {
            gpu,
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
        missing: without.and_then(|l| {
            let why = l.about.missing.clone()?;
            Some(format!("{}: {why}", l.about.host))
        }),
        launcher: launcher(None)?,
        control: None,
        workers: (launched.iter().enumerate())
            .map(|(i, l)| WorkerSetup {
                name: match &l.about.gpu {
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
