//! Executes jobs in the worker process. A failure here ends one trial, not the sweep.

use crate::command::OBJECTIVE;
use crate::command::process::{Ended, run_in};
use crate::problem::Checking;
use crate::sweep::Failure as F;
use crate::worker::channel::Channel;
use crate::worker::host_kernel::HostKernel;
use crate::worker::inputs::{Kernel, LoadedInputs, present};
use crate::worker::protocol::{Built, Expected, Job, Message, Task};
use crate::worker::stop::Stop;
use greenup_meter::Meter;
use greenup_meter::observe::Silent;
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
        Task::Compile(_) | Task::BuildOpenCl(_) | Task::Introduce(_) => Ok(()),
        Task::Reference { library, outputs } => reference(inputs, library, outputs, channel),
        Task::Trial {
            kernel,
            reference,
            tolerance,
            seconds,
            baseline,
            baseline_energy,
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
            if let Some(checking) = checking {
                checked(checking, inputs, channel)?;
            }
            let measured = Pair {
                kernel: &mut kernel,
                once,
                baseline,
                share: *seconds / 8.0,
                energy: *baseline_energy,
            }
            .measure(inputs, meter)?;
            channel.answer(&measured);
            // A kernel that works at its first call only would pass until here.
            die_with_parent(job.limit_s);
            let start = Instant::now();
            let fresh = inputs.vary();
            if fresh {
                inputs.fresh(Some(&mut kernel), channel)?;
            }
            inputs.reset()?;
            inputs.run(&mut kernel, 1)?;
            let again = |m: String| match fresh {
                true => format!("run again on fresh data after the measurement: {m}"),
                false => format!("run again after the measurement: {m}"),
            };
            let verified = check(
                inputs,
                reference.map(|r| match fresh {
                    true => r.fresh.as_path(),
                    false => r.first.as_path(),
                }),
            )
            .map_err(|e| match e {
                Stop::Failed(f, m) => Stop::Failed(f, again(m)),
                e => e,
            })?;
            if let Message::Verified { error, .. } = verified {
                channel.answer(&Message::Verified {
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                });
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
            seconds,
        } => {
            let rounds_of = interleaved(
                inputs,
                kernels,
                *rounds,
                *seconds,
                job.inputs.seed,
                meter,
                channel,
            )?;
            channel.answer(&rounds_of);
            Ok(())
        }
    }
}

/// Has a command check the results of the last run.
fn checked(checking: &Checking, inputs: &LoadedInputs, channel: &mut Channel) -> Result<(), Stop> {
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
    }
    .measure(inputs, meter)?;
    if let (Kernel::Command(program), Message::Measured { state, .. }) =
        (&mut kernel, &mut measured)
    {
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
    inputs.run_reference(kernel, &outputs.first)?;
    inputs.fresh(None, channel)?;
    inputs.run_reference(kernel, &outputs.fresh)?;
    channel.answer(&Message::Ran);
    Ok(())
}

/// A kernel, with another measured around it.
struct Pair<'a> {
    kernel: &'a mut Kernel,
    once: f64,
    baseline: Option<Kernel>,
    /// Seconds of the baseline, before and after.
    share: f64,
    energy: bool,
}

impl Pair<'_> {
    fn measure(mut self, inputs: &mut LoadedInputs, meter: &mut Meter) -> Result<Message, Stop> {
        let mut baseline_s = Vec::new();
        let mut baseline_j = None;
        let mut base_once = 0.0;
        if let Some(b) = &mut self.baseline {
            // A first call may allocate or convert.
            base_once = inputs.run(b, 1)?;
            if self.energy && meter.has_energy() {
                let m = meter.measure::<Stop>(&Silent, &mut |s| {
                    inputs.window(b, s, &mut base_once, &mut Vec::new())
                })?;
                baseline_j = m.and_then(|m| m.energy_j).map(|e| e.median);
            }
        }
        let mut around = |inputs: &mut LoadedInputs| -> Result<(), Stop> {
            if let Some(b) = &mut self.baseline {
                let run = inputs.window(b, self.share, &mut base_once, &mut Vec::new())?;
                baseline_s.push(run.seconds / run.iterations);
            }
            Ok(())
        };
        around(inputs)?;
        let window = meter.window_s();
        let mut times_s = Vec::new();
        let (kernel, once) = (&mut *self.kernel, &mut self.once);
        let measured = meter.measure::<Stop>(&Silent, &mut |s| {
            let mut batches = Vec::new();
            let run = inputs.window(kernel, s, once, &mut batches)?;
            // Shorter calls are the meter's warm-up.
            if s >= window {
                times_s.append(&mut batches);
            }
            Ok(run)
        })?;
        around(inputs)?;
        let m = measured
            .ok_or_else(|| Stop::Failed(F::Runtime, "the measurement was stopped".to_owned()))?;
        let time_error = greenup_meter::Summary::of(&times_s)
            .map_or(m.time_s.relative_error(), |s| s.relative_error());
        Ok(Message::Measured {
            times_s,
            energy_j: m.energy_j.as_ref().map(|e| e.median),
            time_error,
            flags: m
                .flags
                .iter()
                .filter(|f| !matches!(f, greenup_meter::Flag::NoEnergy))
                .map(ToString::to_string)
                .collect(),
            state: m.state_by_name(),
            baseline_s,
            baseline_j,
        })
    }
}

fn interleaved(
    inputs: &mut LoadedInputs,
    built: &[Built],
    rounds: usize,
    seconds: f64,
    seed: u64,
    meter: &mut Meter,
    channel: &mut Channel,
) -> Result<Message, Stop> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for b in built {
        kernels.push(inputs.load(b)?);
    }
    channel.answer(&Message::Loaded);
    let mut once = Vec::new();
    for k in &mut kernels {
        inputs.reset()?;
        once.push(inputs.run(k, 1)?);
    }
    let mut times_s = vec![Vec::new(); kernels.len()];
    let mut energies_j = vec![Vec::new(); kernels.len()];
    let mut metrics = vec![Vec::new(); kernels.len()];
    for k in &mut kernels {
        if let Kernel::Command(program) = k {
            program.numbers();
        }
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..rounds {
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        rng.shuffle(&mut order);
        for i in order {
            let (k, once) = (&mut kernels[i], &mut once[i]);
            let mut batches = Vec::new();
            if meter.has_energy() {
                let m = meter
                    .measure::<Stop>(&Silent, &mut |s| inputs.window(k, s, once, &mut batches))?;
                if let Some(m) = m {
                    times_s[i].push(m.time_s.median);
                    // A round without its energy would shift those of the later ones.
                    match m.energy_j {
                        Some(e) if energies_j[i].len() + 1 == times_s[i].len() => {
                            energies_j[i].push(e.median);
                        }
                        _ => energies_j[i].clear(),
                    }
                }
            } else {
                let run = inputs.window(k, seconds, once, &mut batches)?;
                times_s[i].push(run.seconds / run.iterations);
            }
            if let Kernel::Command(program) = k {
                metrics[i].extend(program.numbers().remove(OBJECTIVE));
            }
        }
    }
    Ok(Message::Interleaved {
        times_s,
        energies_j,
        metrics,
    })
}
