//! The process in which kernels run. What goes wrong here ends one trial, not the sweep.

use super::data::Arguments;
use super::gpu::{GpuKernel, Mirror};
use super::host::HostKernel;
use super::job::{Built, Job, Said, Stage, Task};
use crate::sweep::Failure as F;
use greenup_meter::observe::Silent;
use greenup_meter::{Meter, Run};
use std::path::{Path, PathBuf};
use std::time::Instant;

type Failed = (F, String);

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
pub struct Kept(Option<Set>);

/// The arguments, where kernels find them.
struct Set {
    stage: Stage,
    arguments: Arguments,
    gpu: Option<Mirror>,
    reference: Option<(PathBuf, Vec<u8>)>,
}

/// A kernel ready to run.
enum Kernel {
    Host(HostKernel),
    Gpu(Box<GpuKernel>),
}

/// Runs a job; `say` passes on each line.
pub fn serve(job: &Job, kept: &mut Kept, meter: &mut Meter, say: &mut dyn FnMut(&Said)) {
    die_with_parent(job.limit_s);
    if let Err((failure, message)) = work(job, kept, meter, say) {
        say(&Said::Failed { failure, message });
    }
    say(&Said::Done);
    // Waiting for the next job takes as long as it takes.
    // SAFETY: only takes the alarm back.
    unsafe { libc::alarm(0) };
}

impl Set {
    fn new(stage: &Stage) -> Result<Self, Failed> {
        let mut arguments =
            Arguments::new(&stage.data, stage.seed, &stage.dir).map_err(|m| (F::Runtime, m))?;
        if let Some(setup) = &stage.setup {
            HostKernel::load(setup)
                .map_err(|m| (F::Launch, m))?
                .run(&mut arguments.pointers(), 1);
            arguments
                .adopt()
                .map_err(|m| (F::Runtime, format!("the setup: {m}")))?;
        }
        let gpu = stage
            .gpu
            .map(|ordinal| Mirror::new(ordinal, &arguments))
            .transpose()
            .map_err(|e| (F::Runtime, e.to_string()))?;
        Ok(Self {
            stage: stage.clone(),
            arguments,
            gpu,
            reference: None,
        })
    }

    fn load(&mut self, built: &Built) -> Result<Kernel, Failed> {
        match &self.gpu {
            None => HostKernel::load(built.file())
                .map(Kernel::Host)
                .map_err(|m| (F::Launch, m)),
            Some(mirror) => GpuKernel::load(built, mirror, &mut self.arguments)
                .map(|k| Kernel::Gpu(Box::new(k)))
                .map_err(|e| (F::Launch, e.to_string())),
        }
    }

    /// Restores what runs change.
    fn reset(&mut self) -> Result<(), Failed> {
        match &self.gpu {
            None => {
                self.arguments.reset(false);
                Ok(())
            }
            Some(mirror) => mirror.reset().map_err(|e| (F::Runtime, e.to_string())),
        }
    }

    fn run(&mut self, kernel: &mut Kernel, n: i64) -> Result<f64, Failed> {
        match kernel {
            Kernel::Host(k) => Ok(k.run(&mut self.arguments.pointers(), n)),
            Kernel::Gpu(k) => k.run(n).map_err(|e| (F::Runtime, e.to_string())),
        }
    }

    /// Repeats for about some seconds, from restored arguments.
    fn window(
        &mut self,
        kernel: &mut Kernel,
        seconds: f64,
        once: &mut f64,
        times: &mut Vec<f64>,
    ) -> Result<Run, Failed> {
        self.reset()?;
        match kernel {
            Kernel::Host(k) => {
                let run = k.window(&mut self.arguments.pointers(), seconds, once);
                times.push(run.seconds / run.iterations);
                Ok(run)
            }
            Kernel::Gpu(k) => k
                .window(seconds, times)
                .map_err(|e| (F::Runtime, e.to_string())),
        }
    }

    /// Compares what a run gave with the reference's results.
    fn verify(&mut self, reference: Option<&Path>, tolerance: f64) -> Result<f64, Failed> {
        if let Some(path) = reference
            && self.reference.as_ref().is_none_or(|(p, _)| p != path)
        {
            let bytes = std::fs::read(path).map_err(|e| {
                let m = format!("the reference's results cannot be read: {e}");
                (F::Runtime, m)
            })?;
            self.reference = Some((path.to_owned(), bytes));
        }
        if let Some(mirror) = &self.gpu {
            mirror
                .fetch(&mut self.arguments)
                .map_err(|e| (F::Runtime, e.to_string()))?;
        }
        let expected = self.reference.as_ref().filter(|_| reference.is_some());
        self.arguments
            .verify(expected.map(|(_, b)| b.as_slice()), tolerance)
            .map_err(|m| (F::Wrong, m))
    }
}

fn work(
    job: &Job,
    kept: &mut Kept,
    meter: &mut Meter,
    say: &mut dyn FnMut(&Said),
) -> Result<(), Failed> {
    if let Task::Compile(cuda) = &job.task {
        say(&super::cubin::compile(cuda)?);
        return Ok(());
    }
    if kept.0.as_ref().is_none_or(|s| s.stage != job.stage) {
        // The old one first, so that memory is never needed twice.
        kept.0 = None;
        kept.0 = Some(Set::new(&job.stage)?);
    }
    let Some(set) = &mut kept.0 else {
        return Ok(());
    };
    match &job.task {
        Task::Compile(_) => Ok(()),
        Task::Reference { library, outputs } => reference(set, library, outputs, say),
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
            say(&Said::Loaded);
            set.reset()?;
            let once = set.run(&mut kernel, 1)?;
            say(&Said::Ran);
            let start = Instant::now();
            let error = set.verify(reference.as_deref(), *tolerance)?;
            say(&Said::Verified {
                error,
                seconds: start.elapsed().as_secs_f64(),
            });
            let measured = Pair {
                kernel,
                once,
                baseline,
                share: *seconds / 8.0,
                energy: *baseline_energy,
            }
            .measure(set, meter)?;
            say(&measured);
            Ok(())
        }
        Task::Show { kernel, runs } => {
            let mut kernel = set.load(kernel)?;
            say(&Said::Loaded);
            for _ in 0..*runs {
                set.reset()?;
                set.run(&mut kernel, 1)?;
            }
            say(&Said::Ran);
            Ok(())
        }
        Task::Race {
            kernels,
            rounds,
            seconds,
        } => {
            let raced = race(set, kernels, *rounds, *seconds, job.stage.seed, meter, say)?;
            say(&raced);
            Ok(())
        }
    }
}

fn reference(
    set: &mut Set,
    library: &Path,
    outputs: &Path,
    say: &mut dyn FnMut(&Said),
) -> Result<(), Failed> {
    let kernel = HostKernel::load(library).map_err(|m| (F::Launch, m))?;
    say(&Said::Loaded);
    set.arguments.reset(false);
    kernel.run(&mut set.arguments.pointers(), 1);
    set.arguments.verify(None, 0.0).map_err(|m| (F::Wrong, m))?;
    std::fs::write(outputs, set.arguments.outputs()).map_err(|e| {
        let m = format!("{} cannot be written: {e}", outputs.display());
        (F::Runtime, m)
    })?;
    say(&Said::Ran);
    Ok(())
}

/// A kernel, with another measured around it.
struct Pair {
    kernel: Kernel,
    once: f64,
    baseline: Option<Kernel>,
    /// Seconds of the baseline, before and after.
    share: f64,
    energy: bool,
}

impl Pair {
    fn measure(mut self, set: &mut Set, meter: &mut Meter) -> Result<Said, Failed> {
        let mut baseline_s = Vec::new();
        let mut baseline_j = None;
        let mut base_once = 0.0;
        if let Some(b) = &mut self.baseline {
            // A first call may allocate or convert.
            base_once = set.run(b, 1)?;
            if self.energy && meter.has_energy() {
                let m = meter.measure::<Failed>(&Silent, &mut |s| {
                    set.window(b, s, &mut base_once, &mut Vec::new())
                })?;
                baseline_j = m.and_then(|m| m.energy_j).map(|e| e.median);
            }
        }
        let mut around = |set: &mut Set| -> Result<(), Failed> {
            if let Some(b) = &mut self.baseline {
                let run = set.window(b, self.share, &mut base_once, &mut Vec::new())?;
                baseline_s.push(run.seconds / run.iterations);
            }
            Ok(())
        };
        around(set)?;
        let window = meter.window_s();
        let mut times_s = Vec::new();
        let (kernel, once) = (&mut self.kernel, &mut self.once);
        let measured = meter.measure::<Failed>(&Silent, &mut |s| {
            let mut batches = Vec::new();
            let run = set.window(kernel, s, once, &mut batches)?;
            // Shorter calls are the meter's warm-up.
            if s >= window {
                times_s.append(&mut batches);
            }
            Ok(run)
        })?;
        around(set)?;
        let m = measured.ok_or((F::Runtime, "the measurement was stopped".to_owned()))?;
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
    set: &mut Set,
    built: &[Built],
    rounds: usize,
    seconds: f64,
    seed: u64,
    meter: &mut Meter,
    say: &mut dyn FnMut(&Said),
) -> Result<Said, Failed> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for b in built {
        kernels.push(set.load(b)?);
    }
    say(&Said::Loaded);
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
                    .measure::<Failed>(&Silent, &mut |s| set.window(k, s, once, &mut batches))?;
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
