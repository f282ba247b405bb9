//! The process in which kernels run. What goes wrong here ends one trial, not the sweep.

use super::channel::Channel;
use super::host::HostKernel;
use super::job::{Built, Expected, Job, Said, Task};
use super::stage::{Kernel, LoadedInputs};
use crate::sweep::Failure as F;
use greenup_meter::Meter;
use greenup_meter::observe::Silent;
use std::path::Path;
use std::time::Instant;

/// Why a job ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The kernel's fault.
    Failed(F, String),
    /// Nobody's here.
    Environment(String),
}

impl From<(F, String)> for Stop {
    fn from((failure, message): (F, String)) -> Self {
        Self::Failed(failure, message)
    }
}

/// A kernel must not outlive its parent, however that ended, nor hang for ever.
fn die_with_parent(limit_s: f64) {
    // SAFETY: both calls only set when this process is to be killed.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(limit_s.clamp(1.0, 1e6) as u32 + 1);
    }
}

/// What is kept between jobs.
#[derive(Default)]
pub struct Kept(Option<LoadedInputs>);

/// Runs a job and answers it.
pub fn serve(job: &Job, kept: &mut Kept, meter: &mut Meter, channel: &mut Channel) {
    die_with_parent(job.limit_s + super::parent::FILLING_S);
    match work(job, kept, meter, channel) {
        Ok(()) => {}
        Err(Stop::Failed(failure, message)) => channel.answer(&Said::Failed { failure, message }),
        Err(Stop::Environment(message)) => channel.answer(&Said::Environment { message }),
    }
    if kept.0.as_ref().is_some_and(LoadedInputs::spent) {
        kept.0 = None;
    }
    channel.answer(&Said::Done);
    // Waiting for the next job takes as long as it takes.
    // SAFETY: only takes the alarm back.
    unsafe { libc::alarm(0) };
}

fn work(job: &Job, kept: &mut Kept, meter: &mut Meter, channel: &mut Channel) -> Result<(), Stop> {
    if let Task::Compile(cuda) = &job.task {
        channel.answer(&Said::Ready);
        channel.answer(&super::cubin::compile(cuda)?);
        return Ok(());
    }
    if kept.0.as_ref().is_none_or(|s| s.stage != job.stage) {
        // The old one first, so that memory is never needed twice.
        kept.0 = None;
        kept.0 = Some(LoadedInputs::new(&job.stage, channel).map_err(Stop::Environment)?);
    }
    let Some(set) = &mut kept.0 else {
        return Ok(());
    };
    set.usual();
    die_with_parent(job.limit_s);
    channel.answer(&Said::Ready);
    match &job.task {
        Task::Compile(_) => Ok(()),
        Task::Reference { library, outputs } => reference(set, library, outputs, channel),
        Task::Trial {
            kernel,
            reference,
            tolerance,
            seconds,
            baseline,
            baseline_energy,
        } => {
            let mut kernel = set.load(kernel)?;
            let baseline = baseline.as_ref().map(|b| set.load(b)).transpose()?;
            channel.answer(&Said::Loaded);
            let reference = reference.as_ref();
            let check = |set: &mut LoadedInputs, expected: Option<&Path>| {
                let start = Instant::now();
                let error = set.verify(expected, *tolerance)?;
                Ok::<_, Stop>(Said::Verified {
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                })
            };
            set.reset()?;
            let once = set.run(&mut kernel, 1)?;
            channel.answer(&Said::Ran);
            let verified = check(set, reference.map(|r| r.first.as_path()))?;
            channel.answer(&verified);
            let measured = Pair {
                kernel: &mut kernel,
                once,
                baseline,
                share: *seconds / 8.0,
                energy: *baseline_energy,
            }
            .measure(set, meter)?;
            channel.answer(&measured);
            // A kernel that works at its first call only would pass until here.
            die_with_parent(job.limit_s);
            let start = Instant::now();
            set.fresh(Some(&mut kernel), channel)?;
            set.reset()?;
            set.run(&mut kernel, 1)?;
            let again = |m: String| format!("run again on fresh data after the measurement: {m}");
            let verified =
                check(set, reference.map(|r| r.fresh.as_path())).map_err(|e| match e {
                    Stop::Failed(f, m) => Stop::Failed(f, again(m)),
                    e => e,
                })?;
            if let Said::Verified { error, .. } = verified {
                channel.answer(&Said::Verified {
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                });
            }
            Ok(())
        }
        Task::Show { kernel, runs } => {
            let mut kernel = set.load(kernel)?;
            channel.answer(&Said::Loaded);
            for _ in 0..*runs {
                set.reset()?;
                set.run(&mut kernel, 1)?;
            }
            channel.answer(&Said::Ran);
            Ok(())
        }
        Task::Race {
            kernels,
            rounds,
            seconds,
        } => {
            let raced = race(
                set,
                kernels,
                *rounds,
                *seconds,
                job.stage.seed,
                meter,
                channel,
            )?;
            channel.answer(&raced);
            Ok(())
        }
    }
}

fn reference(
    set: &mut LoadedInputs,
    library: &Path,
    outputs: &Expected,
    channel: &mut Channel,
) -> Result<(), Stop> {
    let kernel = HostKernel::load(library).map_err(|m| (F::Launch, m))?;
    channel.answer(&Said::Loaded);
    set.run_reference(kernel, &outputs.first)?;
    set.fresh(None, channel)?;
    set.run_reference(kernel, &outputs.fresh)?;
    channel.answer(&Said::Ran);
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
    fn measure(mut self, set: &mut LoadedInputs, meter: &mut Meter) -> Result<Said, Stop> {
        let mut baseline_s = Vec::new();
        let mut baseline_j = None;
        let mut base_once = 0.0;
        if let Some(b) = &mut self.baseline {
            // A first call may allocate or convert.
            base_once = set.run(b, 1)?;
            if self.energy && meter.has_energy() {
                let m = meter.measure::<Stop>(&Silent, &mut |s| {
                    set.window(b, s, &mut base_once, &mut Vec::new())
                })?;
                baseline_j = m.and_then(|m| m.energy_j).map(|e| e.median);
            }
        }
        let mut around = |set: &mut LoadedInputs| -> Result<(), Stop> {
            if let Some(b) = &mut self.baseline {
                let run = set.window(b, self.share, &mut base_once, &mut Vec::new())?;
                baseline_s.push(run.seconds / run.iterations);
            }
            Ok(())
        };
        around(set)?;
        let window = meter.window_s();
        let mut times_s = Vec::new();
        let (kernel, once) = (&mut *self.kernel, &mut self.once);
        let measured = meter.measure::<Stop>(&Silent, &mut |s| {
            let mut batches = Vec::new();
            let run = set.window(kernel, s, once, &mut batches)?;
            // Shorter calls are the meter's warm-up.
            if s >= window {
                times_s.append(&mut batches);
            }
            Ok(run)
        })?;
        around(set)?;
        let m = measured
            .ok_or_else(|| Stop::Failed(F::Runtime, "the measurement was stopped".to_owned()))?;
        let time_error = greenup_meter::Summary::of(&times_s)
            .map_or(m.time_s.relative_error(), |s| s.relative_error());
        Ok(Said::Measured {
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

fn race(
    set: &mut LoadedInputs,
    built: &[Built],
    rounds: usize,
    seconds: f64,
    seed: u64,
    meter: &mut Meter,
    channel: &mut Channel,
) -> Result<Said, Stop> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for b in built {
        kernels.push(set.load(b)?);
    }
    channel.answer(&Said::Loaded);
    let mut once = Vec::new();
    for k in &mut kernels {
        set.reset()?;
        once.push(set.run(k, 1)?);
    }
    let mut times_s = vec![Vec::new(); kernels.len()];
    let mut energies_j = vec![Vec::new(); kernels.len()];
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..rounds {
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        rng.shuffle(&mut order);
        for i in order {
            let (k, once) = (&mut kernels[i], &mut once[i]);
            let mut batches = Vec::new();
            if meter.has_energy() {
                let m = meter
                    .measure::<Stop>(&Silent, &mut |s| set.window(k, s, once, &mut batches))?;
                if let Some(m) = m {
                    times_s[i].push(m.time_s.median);
                    energies_j[i].extend(m.energy_j.map(|e| e.median));
                }
            } else {
                let run = set.window(k, seconds, once, &mut batches)?;
                times_s[i].push(run.seconds / run.iterations);
            }
        }
    }
    Ok(Said::Raced {
        times_s,
        energies_j,
    })
}
