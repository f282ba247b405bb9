//! `greenup trial-worker`: the process in which configs of a sweep run.

use crate::args::{KeeperArgs, WorkerArgs};
use crate::choose::found;
use crate::error::{CliError, Result};
use greenup_meter::{Meter, Policy, control};
use greenup_tune::run::channel::Channel;
use greenup_tune::run::child::{Kept, serve};
use greenup_tune::run::job::{Job, Task};
use greenup_tune::run::supervise::supervised;

pub fn run(args: &WorkerArgs) -> Result {
    if !args.alone {
        supervised()?;
    }
    let mut channel = Channel::take_over()?;
    let mut kept = Kept::default();
    // Probing sensors takes long: they are opened once, for the first job that measures.
    let mut meter = None;
    loop {
        let job = channel.next_job().map_err(|e| {
            CliError::new(format!("invalid job: {e}")).hint("`greenup tune` starts this")
        })?;
        let Some(job) = job else { return Ok(()) };
        let meter = meter.get_or_insert_with(|| sensors(args, &job.task));
        meter.policy = policy(&job, meter.has_energy());
        serve(&job, &mut kept, meter, &mut channel);
    }
}

/// `greenup clock-keeper`: restores clocks and power limit when the tuner ends, however it does.
pub fn keep(args: &KeeperArgs) -> Result {
    control::keep(args.index).map_err(|e| CliError::new(e.to_string()).hint(e.cure()))
}

/// The sensors named, where the task measures.
fn sensors(args: &WorkerArgs, task: &Task) -> Meter {
    let measures = matches!(task, Task::Trial { .. } | Task::Race { .. });
    let sensors: Vec<_> =
        args.sensor
            .iter()
            .filter(|_| measures)
            .flat_map(|id| {
                found(Some(id)).into_iter().flatten().filter(move |s| {
                    s.info().id == *id || s.info().id.starts_with(&format!("{id}:"))
                })
            })
            .take(1)
            .collect();
    Meter::new(sensors, args.period, Policy::quick())
}

/// Windows of the sensor's own length on a GPU, where a batch has its own time; else several.
fn policy(job: &Job, energy: bool) -> Policy {
    let (seconds, race) = match &job.task {
        Task::Trial { seconds, .. } => (*seconds, false),
        Task::Race { seconds, .. } => (*seconds, true),
        Task::Reference { .. } | Task::Compile(_) | Task::Show { .. } => (0.0, false),
    };
    if job.stage.gpu.is_some() && energy {
        return Policy {
            window_s: 0.8 * seconds,
            min_ticks: 4,
            warmup_s: 0.2 * seconds,
            max_warmups: 1,
            min_repeats: 1,
            max_repeats: 1,
            rel_error: 0.01,
        };
    }
    let windows = if race { 1 } else { 5 };
    Policy {
        window_s: seconds / 8.0,
        min_ticks: 10,
        warmup_s: seconds / 16.0,
        max_warmups: 2,
        min_repeats: windows,
        max_repeats: windows + 2,
        rel_error: 0.01,
    }
}
