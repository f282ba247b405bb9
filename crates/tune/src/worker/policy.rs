//! How a worker measures: windows, warm-up and repeats.

use super::protocol::{Built, Job, Task};
use greenup_meter::Policy;

/// On a GPU or another device beside the host, with an energy sensor: two ticks of it. What runs before the first tick warms up.
pub fn beside_the_host(seconds: f64) -> Policy {
    Policy {
        window_s: 0.8 * seconds,
        min_ticks: 2,
        warmup_s: 0.2 * seconds,
        warmup_ticks: 0,
        max_warmups: 1,
        min_repeats: 1,
        max_repeats: 1,
        rel_error: 0.01,
    }
}

/// The same near the power limit, where clocks and power settle for longer.
pub fn near_power_limit(of: &Policy) -> Policy {
    Policy {
        min_ticks: of.min_ticks.max(4),
        warmup_ticks: of.warmup_ticks.max(3),
        ..of.clone()
    }
}

/// How a worker measures a job; `energy` says whether it has an energy sensor.
///
/// On a GPU one window as long as the sensor needs, as each batch is timed by itself; on the host several windows.
pub fn policy(job: &Job, energy: bool) -> Policy {
    let (seconds, interleaved) = match &job.task {
        Task::Trial { seconds, .. } => (*seconds, false),
        Task::Interleaved { seconds, .. } => (*seconds, true),
        _ => (0.0, false),
    };
    let timed = matches!(&job.task, Task::Interleaved { energy: false, .. });
    if job.inputs.on_other_device() && energy && !timed {
        return beside_the_host(seconds);
    }
    // A run of a command may take long: it is not warmed up beyond the run that is checked.
    if let Task::Trial {
        kernel: Built::Command(command),
        ..
    } = &job.task
    {
        return Policy {
            window_s: seconds / 8.0,
            min_ticks: 10,
            warmup_s: 0.0,
            warmup_ticks: 3,
            max_warmups: 0,
            min_repeats: command.repeats,
            max_repeats: command.repeats + 2,
            rel_error: 0.01,
        };
    }
    let windows = if interleaved { 1 } else { 5 };
    let command = |b: &Built| matches!(b, Built::Command(_));
    let of_commands =
        matches!(&job.task, Task::Interleaved { kernels, .. } if kernels.iter().all(command));
    Policy {
        window_s: seconds / 8.0,
        min_ticks: 10,
        warmup_s: seconds / 16.0,
        warmup_ticks: 3,
        max_warmups: if of_commands { 0 } else { 2 },
        min_repeats: windows,
        max_repeats: windows + 2,
        rel_error: 0.01,
    }
}
