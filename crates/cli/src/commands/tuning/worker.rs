//! `greenup trial-worker`: the process in which configs of a sweep run.

use crate::args::{KeeperArgs, WorkerArgs};
use crate::search::setup::gpus;
use greenup_app::error::{AppError, Result};
use greenup_app::sensors::{Target, found, gpu, on_gpu};
use greenup_device::CpuFacts;
use greenup_device::affinity::Places;
use greenup_files::Scratch;
use greenup_meter::{Meter, Policy, control};
use greenup_report::provenance::host_name;
use greenup_tune::worker::channel::Channel;
use greenup_tune::worker::policy::policy;
use greenup_tune::worker::protocol::{Introduction, Message, Question, Task};
use greenup_tune::worker::remote;
use greenup_tune::worker::serve::{WorkerState, open_ahead, serve};
use greenup_tune::worker::supervise::supervised;
use std::path::Path;

pub fn run(args: &WorkerArgs) -> Result {
    let scratch = if args.remote {
        let folder = std::env::temp_dir();
        Scratch::remove_stale(&folder);
        Some(Scratch::create(folder)?)
    } else {
        None
    };
    if !args.alone {
        supervised(scratch.as_ref())?;
    }
    tell_cpus();
    let mut channel = Channel::take_over()?;
    let mut introduced = None;
    if let Some(gpu) = args.gpu {
        open_ahead(gpu);
    }
    let mut state = WorkerState::default();
    // Probing sensors takes long: they are opened once, for the first job that measures.
    let mut measuring = None;
    let mut plain = Meter::time_only(Policy::quick());
    loop {
        let job = channel.next_job().map_err(|e| {
            AppError::new(format!("invalid job: {e}")).hint("`greenup tune` starts this")
        })?;
        let Some(job) = job else { return Ok(()) };
        let mut refuse = |message: String| {
            channel.answer(&Message::Environment { message });
            channel.answer(&Message::Done);
        };
        if let (Task::Introduce(question), Some(scratch)) = (&job.task, &scratch) {
            match introduction(question, scratch.path()) {
                Ok((introduction, period_s)) => {
                    introduced = Some((introduction.sensor.clone(), period_s));
                    channel.answer(&Message::Introduced(Box::new(introduction)));
                    channel.answer(&Message::Done);
                }
                Err(e) => refuse(e.message),
            }
            continue;
        }
        if let Some(scratch) = &scratch
            && let Err(message) = remote::store(&job.files, scratch.path())
        {
            refuse(message);
            continue;
        }
        let meter = if job.task.measures() {
            measuring.get_or_insert_with(|| match &introduced {
                Some((id, period_s)) => sensors(id.as_deref(), *period_s),
                None => sensors(args.sensor.as_deref(), args.period),
            })
        } else {
            &mut plain
        };
        meter.policy = policy(&job, meter.has_energy());
        serve(&job, &mut state, meter, &mut channel);
    }
}

/// Tells kernels the CPUs of this process, in the orders in which threads take them.
fn tell_cpus() {
    let places = Places::read();
    for (name, cpus) in [
        ("GREENUP_CPUS_COMPACT", places.compact),
        ("GREENUP_CPUS_SCATTER", places.scatter),
    ] {
        let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
        // SAFETY: this process has one thread yet.
        unsafe { std::env::set_var(name, list.join(",")) };
    }
}

/// What this worker is, and the update period of its sensor, s.
fn introduction(question: &Question, folder: &Path) -> Result<(Introduction, f64)> {
    let gpus = match (question.on_gpu, &question.gpus) {
        (false, _) => Vec::new(),
        (true, None) => vec![gpu(None)?],
        (true, Some(list)) => gpus(list)?,
    };
    let target = match gpus.first() {
        Some(gpu) => on_gpu(gpu)?,
        None => Target::Host,
    };
    let chosen = greenup_app::sensors::sensors(question.sensor.as_deref(), target, 0.5)?;
    let cpu = CpuFacts::read();
    let introduction = Introduction {
        version: remote::VERSION.to_owned(),
        commit: greenup_report::version::version().commit.to_owned(),
        host: host_name(),
        cpu: cpu.model,
        arch: cpu.arch.to_owned(),
        isa: cpu.isa.name().to_owned(),
        gpus,
        sensor: chosen.main(),
        missing: chosen.missing,
        folder: folder.to_owned(),
    };
    Ok((introduction, chosen.period_s))
}

/// `greenup clock-keeper`: restores clocks and power limit when the tuner ends, however it does.
pub fn keep(args: &KeeperArgs) -> Result {
    control::keep(args.index).map_err(|e| AppError::new(e.to_string()).hint(e.fix()))
}

/// A meter with the named sensor.
fn sensors(id: Option<&str>, period_s: f64) -> Meter {
    let sensors: Vec<_> =
        id.into_iter()
            .flat_map(|id| {
                found(Some(id)).into_iter().flatten().filter(move |s| {
                    s.info().id == id || s.info().id.starts_with(&format!("{id}:"))
                })
            })
            .take(1)
            .collect();
    // Without a sensor there is no period to wait for.
    if sensors.is_empty() {
        return Meter::time_only(Policy::quick());
    }
    Meter::new(sensors, period_s, Policy::quick())
}
