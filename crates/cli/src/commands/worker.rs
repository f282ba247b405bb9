//! `greenup trial-worker`: the process in which one config of a sweep runs.

use crate::args::WorkerArgs;
use crate::choose::found;
use crate::error::{CliError, Result};
use greenup_meter::{Meter, Policy};
use greenup_tune::run::child::{Job, Said, Task, serve};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::FromRawFd as _;

pub fn run(args: &WorkerArgs) -> Result {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)
        .map_err(|e| CliError::new(format!("no job: {e}")).hint("`greenup tune` starts this"))?;
    let seconds = match &job.task {
        Task::Trial { seconds, .. } | Task::Race { seconds, .. } => *seconds,
        Task::Reference { .. } => 0.0,
    };
    let windows = if matches!(job.task, Task::Race { .. }) {
        1
    } else {
        5
    };
    let policy = Policy {
        window_s: seconds / 8.0,
        min_ticks: 10,
        warmup_s: seconds / 16.0,
        max_warmups: 2,
        min_repeats: windows,
        max_repeats: windows + 2,
        rel_error: 0.01,
    };
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
    let mut meter = Meter::new(sensors, args.period, policy);
    let mut out = answers()?;
    serve(&job, &mut meter, &mut |said: &Said| {
        let mut line = serde_json::to_vec(said).unwrap_or_default();
        line.push(b'\n');
        // A parent that is gone needs no answer.
        let _ = out.write_all(&line).and_then(|()| out.flush());
    });
    Ok(())
}

/// Standard output for answers alone: what a kernel prints goes nowhere.
fn answers() -> Result<File> {
    let null = File::options().write(true).open("/dev/null")?;
    // SAFETY: both descriptors are open; the duplicate is owned by the returned file alone.
    unsafe {
        use std::os::fd::AsRawFd as _;
        let own = libc::dup(1);
        if own < 0 || libc::dup2(null.as_raw_fd(), 1) < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(File::from_raw_fd(own))
    }
}
