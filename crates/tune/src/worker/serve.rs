//! Executes jobs in the worker process. A failure here ends one trial, not the sweep.

use crate::command::process::{Ended, run_in};
use crate::problem::Checking;
use crate::sweep::Failure as F;
use crate::worker::channel::Channel;
use crate::worker::host_kernel::HostKernel;
use crate::worker::inputs::{Kernel, LoadedInputs, present};
use crate::worker::measure::{InRounds, Pair};
use crate::worker::mirror::judge::Opening;
use crate::worker::protocol::{Built, Expected, Job, Message, Task};
use crate::worker::repeats;
use crate::worker::stop::Stop;
use greenup_meter::Meter;
use greenup_meter::stats::median;
use greenup_report::si::si;
use std::path::Path;
use std::time::Instant;

/// A kernel must not outlive its parent, however that ended, nor hang for ever.
fn die_with_parent(limit_s: f64) {
    // SAFETY: both calls only set when this process is to be killed.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(limit_s.clamp(1.0, 1e6) as u32 + 1);
    }
}

/// Opens a GPU in the background, before the first job.
pub fn open_ahead(gpu: i32) {
    Opening::begin(gpu);
}

/// State that is kept between jobs: the loaded inputs.
#[derive(Default)]
pub struct WorkerState(Option<LoadedInputs>);

/// Runs a job and answers it.
pub fn serve(job: &Job, state: &mut WorkerState, meter: &mut Meter, channel: &mut Channel) {
    die_with_parent(job.limit_s + crate::worker::launcher::FILLING_S);
    match work(job, state, meter, channel) {
        Ok(()) => {}
        Err(Stop::Failed(failure, message)) => {
            channel.answer(&Message::Failed { failure, message })
        }
        Err(Stop::Environment(message)) => channel.answer(&Message::Environment { message }),
    }
    if state.0.as_ref().is_some_and(LoadedInputs::spent) {
        state.0 = None;
    }
    channel.answer(&Message::Done);
    // Waiting for the next job takes as long as it takes.
    // SAFETY: only takes the alarm back.
    unsafe { libc::alarm(0) };
}

fn work(
    job: &Job,
    state: &mut WorkerState,
    meter: &mut Meter,
    channel: &mut Channel,
) -> Result<(), Stop> {
    if let Task::Compile(cuda) = &job.task {
        channel.answer(&Message::Ready);
        channel.answer(&super::nvrtc::compile(cuda)?);
        return Ok(());
    }
    if let Task::BuildOpenCl(of) = &job.task {
        channel.answer(&Message::Ready);
        channel.answer(&super::opencl_kernel::build(of)?);
        return Ok(());
    }
    if state.0.as_ref().is_none_or(|s| s.inputs != job.inputs) {
        // The old one first, so that memory is never needed twice.
        state.0 = None;
        state.0 = Some(LoadedInputs::new(&job.inputs, channel)?);
    }
    let Some(inputs) = &mut state.0 else {
        return Ok(());
    };
    inputs.usual();
    die_with_parent(job.limit_s);
    channel.answer(&Message::Ready);
    match &job.task {
        Task::Compile(_) | Task::BuildOpenCl(_) | Task::Introduce(_) | Task::Fill => Ok(()),
        Task::Reference { library, outputs } => reference(inputs, library, outputs, channel),
        Task::Trial {
            kernel,
            reference,
            tolerance,
            seconds,
            baseline,
            baseline_energy,
            beyond_s,
            check: checking,
        } => {
            let start = Instant::now();
            let of_command = matches!(kernel, Built::Command(c) if c.build.is_some());
            let mut kernel = inputs.load(kernel)?;
            if of_command {
                let seconds = start.elapsed().as_secs_f64();
                channel.answer(&Message::BuiltCommand { seconds });
            }
            let baseline = baseline.as_ref().map(|b| inputs.load(b)).transpose()?;
            channel.answer(&Message::Loaded);
            if let Kernel::Command(_) = kernel {
                return command(kernel, inputs, meter, channel);
            }
            let reference = reference.as_ref();
            let check = |inputs: &mut LoadedInputs, expected: Option<&Path>| {
                let start = Instant::now();
                let error = inputs.verify(expected, *tolerance)?;
                Ok::<_, Stop>(Message::Verified {
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                })
            };
            inputs.reset()?;
            let once = inputs.run(&mut kernel, 1)?;
            channel.answer(&Message::Ran);
            let verified = check(inputs, reference.map(|r| r.first.as_path()))?;
            channel.answer(&verified);
            let changed = inputs.changed_bytes()?;
            let mut accepted = None;
            if let Some(checking) = checking {
                checked(checking, inputs, channel)?;
                accepted = Some(inputs.outputs()?);
            }
            let measured = Pair {
                kernel: &mut kernel,
                once,
                baseline,
                share: *seconds / 8.0,
                energy: *baseline_energy,
                beyond_s: *beyond_s,
            }
            .measure(inputs, meter)?;
            channel.answer(&measured);
            let time_s = match &measured {
                Message::Measured { times_s, .. } => median(times_s),
                _ => 0.0,
            };
            repeats::possible(time_s, changed, job.inputs.on_other_device())?;
            // A kernel that works at its first call only would pass until here.
            die_with_parent(job.limit_s);
            if let (Some(checking), Some(accepted)) = (checking, accepted) {
                inputs.reset()?;
                inputs.run(&mut kernel, 1)?;
                check(inputs, reference.map(|r| r.first.as_path()))
                    .and_then(|_| {
                        if inputs.outputs()? == accepted {
                            Ok(())
                        } else {
                            checked(checking, inputs, channel)
                        }
                    })
                    .map_err(|e| again(e, AFTER))?;
            }
            let start = Instant::now();
            let fresh = inputs.vary();
            if fresh {
                inputs.fresh(Some(&mut kernel), channel)?;
            }
            inputs.reset()?;
            let renewed_s = inputs.run(&mut kernel, 1)?;
            let verified = check(
                inputs,
                reference.map(|r| {
                    if fresh {
                        r.fresh.as_path()
                    } else {
                        r.first.as_path()
                    }
                }),
            )
            .map_err(|e| again(e, if fresh { ON_FRESH } else { AFTER }))?;
            if let Message::Verified { error, .. } = verified {
                channel.answer(&Message::Verified {
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                });
            }
            // Data that are always the same tell nothing of a kernel that copies what it remembers; its first call does.
            let new_s = if fresh { renewed_s } else { once };
            if repeats::doubtful(new_s, time_s) {
                let flag = repeats::confirm(inputs, &mut kernel, time_s, &|inputs| {
                    check(inputs, reference.map(|r| r.first.as_path())).map(drop)
                })?;
                if let Some(flag) = flag {
                    channel.answer(&Message::Flagged { flag });
                }
            }
            Ok(())
        }
        Task::Show { kernel, runs } => {
            let mut kernel = inputs.load(kernel)?;
            channel.answer(&Message::Loaded);
            for _ in 0..*runs {
                inputs.reset()?;
                inputs.run(&mut kernel, 1)?;
            }
            channel.answer(&Message::Ran);
            Ok(())
        }
        Task::Interleaved {
            kernels,
            rounds,
            before,
            energy,
            seconds,
        } => {
            let rounds = InRounds {
                kernels,
                rounds: *rounds,
                before: *before,
                energy: *energy,
                seconds: *seconds,
                seed: job.inputs.seed,
            };
            let measured = rounds.measure(inputs, meter, channel)?;
            channel.answer(&measured);
            Ok(())
        }
    }
}

const AFTER: &str = "run again after the measurement";
const ON_FRESH: &str = "run again on fresh data after the measurement";

/// A failure of a later run, with when it was.
fn again(e: Stop, when: &str) -> Stop {
    match e {
        Stop::Failed(f, m) => Stop::Failed(f, format!("{when}: {m}")),
        e => e,
    }
}

/// Has a command check the results of the last run.
fn checked(
    checking: &Checking,
    inputs: &mut LoadedInputs,
    channel: &mut Channel,
) -> Result<(), Stop> {
    let start = Instant::now();
    present(&checking.dir, "[check] command")?;
    inputs.write_outputs(&checking.outputs)?;
    let run = run_in(&checking.words, &checking.dir, checking.timeout_s);
    let _ = std::fs::remove_dir_all(&checking.outputs);
    match run {
        Ok(_) => {}
        Err(Ended::Failed(F::Launch, m)) => {
            return Err(Stop::Environment(format!("[check]: {m}")));
        }
        Err(Ended::Environment(m)) => return Err(Stop::Environment(format!("[check]: {m}"))),
        Err(e) => return Err((F::Wrong, format!("the check {e}")).into()),
    }
    channel.answer(&Message::Verified {
        error: 0.0,
        seconds: start.elapsed().as_secs_f64(),
    });
    Ok(())
}

/// What the first run of a command may take longer, as files are not yet in memory, s.
const COLD_S: f64 = 0.5;

/// A trial of a command: it runs once and is checked, then it is measured.
fn command(
    mut kernel: Kernel,
    inputs: &mut LoadedInputs,
    meter: &mut Meter,
    channel: &mut Channel,
) -> Result<(), Stop> {
    let once = inputs.run(&mut kernel, 1)?;
    channel.answer(&Message::Ran);
    if let Kernel::Command(program) = &mut kernel {
        let start = Instant::now();
        let error = program.verify()?;
        let seconds = start.elapsed().as_secs_f64();
        channel.answer(&Message::Verified { error, seconds });
        // The first run may read files that are not yet in memory.
        program.numbers();
    }
    let mut measured = Pair {
        kernel: &mut kernel,
        once,
        baseline: None,
        share: 0.0,
        energy: false,
        beyond_s: None,
    }
    .measure(inputs, meter)?;
    if let (
        Kernel::Command(program),
        Message::Measured {
            state,
            flags,
            times_s,
            ..
        },
    ) = (&mut kernel, &mut measured)
    {
        // What it left of its first run may be what it gives in later ones.
        program
            .verify()
            .map_err(|e| again(e, "the last measured run"))?;
        let usual = median(times_s);
        if repeats::doubtful(once, usual) && once - usual > COLD_S {
            flags.push(format!(
                "its first run took {} and the measured ones {}: it may keep results between runs",
                si(once, "s"),
                si(usual, "s")
            ));
        }
        state.extend(program.numbers());
    }
    channel.answer(&measured);
    Ok(())
}

fn reference(
    inputs: &mut LoadedInputs,
    library: &Path,
    outputs: &Expected,
    channel: &mut Channel,
) -> Result<(), Stop> {
    let kernel = HostKernel::load(library).map_err(|e| (F::Launch, e.to_string()))?;
    channel.answer(&Message::Loaded);
    inputs.run_reference(&kernel, &outputs.first)?;
    inputs.fresh(None, channel)?;
    inputs.run_reference(&kernel, &outputs.fresh)?;
    channel.answer(&Message::Ran);
    Ok(())
}
