//! The process in which kernels run. What goes wrong here ends one trial, not the sweep.

use super::data::Arguments;
use super::library::Library;
use crate::problem::Data;
use greenup_meter::observe::Silent;
use greenup_meter::{Meter, Run};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub data: Vec<Data>,
    pub seed: u64,
    /// Where files of the problem are.
    pub dir: PathBuf,
    /// Library that makes the data what the kernels expect, run before anything else.
    pub setup: Option<PathBuf>,
    /// Seconds after which the child ends itself, should nobody be left to end it.
    pub limit_s: f64,
    pub task: Task,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Runs once and writes the outputs to a file.
    Reference { library: PathBuf, outputs: PathBuf },
    /// Verifies and measures one library, with another measured around it for drift.
    Trial {
        library: PathBuf,
        reference: Option<PathBuf>,
        tolerance: f64,
        seconds: f64,
        baseline: Option<PathBuf>,
    },
    /// Measures several in turns.
    Race {
        libraries: Vec<PathBuf>,
        rounds: usize,
        seconds: f64,
    },
}

/// What a child says, one JSON line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// The library is loaded and has its entry.
    Loaded,
    /// The first run came to its end.
    Ran,
    /// The results are right.
    Verified {
        error: f64,
        seconds: f64,
    },
    Measured {
        times_s: Vec<f64>,
        energy_j: Option<f64>,
        time_error: f64,
        flags: Vec<String>,
        /// Seconds of the baseline before and after.
        baseline_s: Vec<f64>,
    },
    /// Seconds of each library in each round; joules where measured.
    Raced {
        times_s: Vec<Vec<f64>>,
        energies_j: Vec<Vec<f64>>,
    },
    Failed {
        failure: crate::sweep::Failure,
        message: String,
    },
    Done,
}

type Entry = unsafe extern "C" fn(*mut *mut u8, i64);

/// A loaded kernel.
struct Kernel {
    entry: Entry,
}

impl Kernel {
    fn load(path: &Path) -> Result<Self, String> {
        let symbol = Library::open(path)?.symbol("greenup_run")?;
        Ok(Self {
            // SAFETY: the wrapper of every unit defines it with this signature.
            entry: unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) },
        })
    }

    /// Runs `n` times; returns the seconds.
    fn run(&self, pointers: &mut [*mut u8], n: i64) -> f64 {
        let start = Instant::now();
        // SAFETY: the pointers are those the wrapper expects; the kernel itself is the user's.
        unsafe { (self.entry)(pointers.as_mut_ptr(), n) };
        start.elapsed().as_secs_f64()
    }

    /// Repeats for about some seconds.
    fn window(&self, pointers: &mut [*mut u8], seconds: f64, once: &mut f64) -> Run {
        let mut total = 0.0;
        let mut iterations = 0_i64;
        while total < 0.98 * seconds || iterations == 0 {
            let n = (((seconds - total) / once.max(1e-9)).round() as i64).clamp(1, 1 << 40);
            // A first guess may be far off: go in steps.
            let n = if iterations == 0 && *once <= 0.0 {
                1
            } else {
                n
            };
            let s = self.run(pointers, n);
            total += s;
            iterations += n;
            *once = total / iterations as f64;
        }
        Run {
            iterations: iterations as f64,
            seconds: total,
        }
    }
}

/// A kernel that hangs must not outlive its parent, however that ended.
fn die_with_parent(limit_s: f64) {
    // SAFETY: both calls only set when this process is to be killed.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(limit_s.clamp(1.0, 1e6) as u32 + 1);
    }
}

/// Runs a job; `say` passes on each line.
pub fn serve(job: &Job, meter: &mut Meter, say: &mut dyn FnMut(&Said)) {
    die_with_parent(job.limit_s);
    if let Err((failure, message)) = work(job, meter, say) {
        say(&Said::Failed { failure, message });
    }
    say(&Said::Done);
}

type Failed = (crate::sweep::Failure, String);

fn work(job: &Job, meter: &mut Meter, say: &mut dyn FnMut(&Said)) -> Result<(), Failed> {
    use crate::sweep::Failure as F;
    let mut args = Arguments::new(&job.data, job.seed, &job.dir).map_err(|m| (F::Runtime, m))?;
    let load = |p: &Path| Kernel::load(p).map_err(|m| (F::Launch, m));
    if let Some(setup) = &job.setup {
        load(setup)?.run(&mut args.pointers(), 1);
        args.adopt()
            .map_err(|m| (F::Runtime, format!("the setup: {m}")))?;
    }
    match &job.task {
        Task::Reference { library, outputs } => {
            let kernel = load(library)?;
            say(&Said::Loaded);
            kernel.run(&mut args.pointers(), 1);
            args.verify(None, 0.0).map_err(|m| (F::Wrong, m))?;
            std::fs::write(outputs, args.outputs()).map_err(|e| {
                (
                    F::Runtime,
                    format!("{} cannot be written: {e}", outputs.display()),
                )
            })?;
            say(&Said::Ran);
        }
        Task::Trial {
            library,
            reference,
            tolerance,
            seconds,
            baseline,
        } => {
            let kernel = load(library)?;
            let baseline = baseline.as_deref().map(load).transpose()?;
            say(&Said::Loaded);
            let expected = reference
                .as_ref()
                .map(std::fs::read)
                .transpose()
                .map_err(|e| {
                    (
                        F::Runtime,
                        format!("the reference's results cannot be read: {e}"),
                    )
                })?;
            let mut once = kernel.run(&mut args.pointers(), 1);
            say(&Said::Ran);
            let start = Instant::now();
            let error = args
                .verify(expected.as_deref(), *tolerance)
                .map_err(|m| (F::Wrong, m))?;
            say(&Said::Verified {
                error,
                seconds: start.elapsed().as_secs_f64(),
            });
            let share = seconds / 8.0;
            let mut baseline_s = Vec::new();
            let mut base_once = 0.0;
            let mut around = |args: &mut Arguments| {
                if let Some(b) = &baseline {
                    args.reset(false);
                    if base_once <= 0.0 {
                        // A first call may allocate or convert.
                        base_once = b.run(&mut args.pointers(), 1);
                    }
                    let run = b.window(&mut args.pointers(), share, &mut base_once);
                    baseline_s.push(run.seconds / run.iterations);
                }
            };
            around(&mut args);
            args.reset(false);
            let window = meter.window_s();
            let mut times_s = Vec::new();
            let measured = meter.measure::<Failed>(&Silent, &mut |s| {
                args.reset(false);
                let run = kernel.window(&mut args.pointers(), s, &mut once);
                // Shorter calls are the meter's warm-up.
                if s >= window {
                    times_s.push(run.seconds / run.iterations);
                }
                Ok(run)
            })?;
            around(&mut args);
            let m = measured.ok_or((F::Runtime, "the measurement was stopped".to_owned()))?;
            say(&Said::Measured {
                times_s,
                energy_j: m.energy_j.as_ref().map(|e| e.median),
                time_error: m.time_s.relative_error(),
                flags: m
                    .flags
                    .iter()
                    .filter(|f| !matches!(f, greenup_meter::Flag::NoEnergy))
                    .map(ToString::to_string)
                    .collect(),
                baseline_s,
            });
        }
        Task::Race {
            libraries,
            rounds,
            seconds,
        } => {
            let kernels: Vec<Kernel> = libraries
                .iter()
                .map(|l| load(l))
                .collect::<Result<_, _>>()?;
            say(&Said::Loaded);
            let mut once: Vec<f64> = kernels
                .iter()
                .map(|k| {
                    args.reset(false);
                    k.run(&mut args.pointers(), 1)
                })
                .collect();
            let mut times_s = vec![Vec::new(); kernels.len()];
            let mut energies_j = vec![Vec::new(); kernels.len()];
            let mut rng = fastrand::Rng::with_seed(job.seed);
            for _ in 0..*rounds {
                let mut order: Vec<usize> = (0..kernels.len()).collect();
                rng.shuffle(&mut order);
                for i in order {
                    if meter.has_energy() {
                        let m = meter.measure::<Failed>(&Silent, &mut |s| {
                            args.reset(false);
                            Ok(kernels[i].window(&mut args.pointers(), s, &mut once[i]))
                        })?;
                        if let Some(m) = m {
                            times_s[i].push(m.time_s.median);
                            energies_j[i].extend(m.energy_j.map(|e| e.median));
                        }
                    } else {
                        args.reset(false);
                        let run = kernels[i].window(&mut args.pointers(), *seconds, &mut once[i]);
                        times_s[i].push(run.seconds / run.iterations);
                    }
                }
            }
            say(&Said::Raced {
                times_s,
                energies_j,
            });
        }
    }
    Ok(())
}
