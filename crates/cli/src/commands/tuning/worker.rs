//! `greenup trial-worker`: the process in which configs of a sweep run.

use crate::args::{KeeperArgs, WorkerArgs};
use greenup_app::error::{AppError, Result};
use greenup_app::sensors::found;
use greenup_meter::{Meter, Policy, control};
use greenup_tune::worker::channel::Channel;
use greenup_tune::worker::policy::policy;
use greenup_tune::worker::serve::{WorkerState, serve};
use greenup_tune::worker::supervise::supervised;

pub fn run(args: &WorkerArgs) -> Result {
    if !args.alone {
        supervised()?;
    }
    let mut channel = Channel::take_over()?;
    let mut state = WorkerState::default();
    // Probing sensors takes long: they are opened once, for the first job that measures.
    let mut measuring = None;
    let mut plain = Meter::new(Vec::new(), args.period, Policy::quick());
    loop {
        let job = channel.next_job().map_err(|e| {
            AppError::new(format!("invalid job: {e}")).hint("`greenup tune` starts this")
        })?;
        let Some(job) = job else { return Ok(()) };
        let meter = if job.task.measures() {
            measuring.get_or_insert_with(|| sensors(args))
        } else {
            &mut plain
        };
        meter.policy = policy(&job, meter.has_energy());
        serve(&job, &mut state, meter, &mut channel);
    }
}

/// `greenup clock-keeper`: restores clocks and power limit when the tuner ends, however it does.
pub fn keep(args: &KeeperArgs) -> Result {
    control::keep(args.index).map_err(|e| AppError::new(e.to_string()).hint(e.fix()))
}

/// A meter with the named sensor.
fn sensors(args: &WorkerArgs) -> Meter {
    let sensors: Vec<_> =
        args.sensor
            .iter()
            .flat_map(|id| {
                found(Some(id)).into_iter().flatten().filter(move |s| {
                    s.info().id == *id || s.info().id.starts_with(&format!("{id}:"))
                })
            })
            .take(1)
            .collect();
    Meter::new(sensors, args.period, Policy::quick())
}
