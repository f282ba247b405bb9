//! One config of a problem, verified and measured by the tuner's worker process: a kernel that crashes or hangs ends its
//! own measurement.

use super::kernel::{GpuKernel, KernelError, Prepared};
use crate::advice;
use crate::energy;
use crate::result::{KernelResult, Library};
use greenup_meter::{DeviceState, Measurement, Observer, Summary};
use greenup_model::{Machine, MachineError, Op, Work};
use greenup_report::si::percent;
use greenup_tune::points::Indexed;
use greenup_tune::search::Budget;
use greenup_tune::strategy::StrategyError;
use greenup_tune::sweep::Rounds;
use greenup_tune::worker::launcher::Launcher;
use greenup_tune::{
    GpuTarget, Objective, Plan, SessionOptions, Setup, Trial, TuneError, strategy, tune,
};
use std::path::Path;

/// Measurements of each kernel, interleaved with those of a library.
const ROUNDS: usize = 4;
/// Measuring time of each, s: windows of eight tenths of it.
const SECONDS: f64 = 0.8;

/// Half of the interval over the median from which on a kernel counts as disturbed.
const NOISY: f64 = 0.05;

/// Where kernels are measured.
pub struct Bench<'a> {
    /// The GPU.
    pub on: &'a GpuTarget,
    /// Starts the worker processes.
    pub launcher: &'a Launcher,
    /// Their energy sensor.
    pub sensor: Option<&'a str>,
    /// Folder for the problem and its sweep.
    pub dir: &'a Path,
    /// Cancels.
    pub observer: &'a dyn Observer,
}

/// Why a kernel has no measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// It cannot be prepared.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// It does not compile, run or give the right result, or the device or a compiler of the host is missing.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// The search strategy is unknown.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
}

/// A measured kernel.
pub struct Measured {
    work: Work,
    flops: f64,
    verification: (f64, f64),
    measurement: Measurement,
    doubts: Vec<String>,
    library: Option<Library>,
}

/// Whether cuBLAS can be loaded, by the names that its wrapper tries.
pub fn cublas() -> bool {
    ["libcublas.so.13", "libcublas.so.12", "libcublas.so"]
        .iter()
        .any(|name| greenup_device::Library::open(Path::new(name)).is_ok())
}

impl Bench<'_> {
    /// Verifies a kernel on two sets of random data and measures it; `None` when the user stopped it.
    ///
    /// # Errors
    /// It does not compile, gives a wrong result, or the GPU fails.
    pub fn measure(&self, kernel: &GpuKernel) -> Result<Option<Measured>, MeasureError> {
        let mut prepared = kernel.prepare(&self.dir.join("problem"), &self.on.gpu, &[])?;
        prepared.problem.measure.seconds = SECONDS;
        if kernel.library.is_some() && !cublas() {
            prepared.problem.baseline = None;
        }
        let plan = Plan::new(
            &prepared.problem,
            SessionOptions {
                objectives: vec![Objective::Time],
                budget: Budget::Evaluations(1),
                finalists: 1,
                rounds: Some(ROUNDS),
                ..SessionOptions::default()
            },
            Setup::of(
                self.launcher.clone(),
                self.on.gpu.name.clone(),
                Some(self.on.clone()),
            ),
            self.dir.join("sweep"),
        );
        let mut search = strategy("exhaustive", None)?;
        let (_, sweep) = tune(
            &prepared.problem,
            &Indexed::new(&prepared.index),
            search.as_mut(),
            &plan,
            self.observer,
        )?;
        let (Some(trial), Some(rounds)) = (sweep.trials.first(), &sweep.finals) else {
            return Ok(None);
        };
        let work = kernel.work(&prepared)?;
        Ok(Measured::of(
            kernel,
            &prepared,
            work,
            (trial, rounds),
            self.sensor,
        ))
    }
}

impl Measured {
    /// From a recorded trial and the rounds in which it was measured again; `None` without a round.
    pub fn of(
        kernel: &GpuKernel,
        prepared: &Prepared,
        work: Work,
        (trial, rounds): (&Trial, &Rounds),
        sensor: Option<&str>,
    ) -> Option<Self> {
        let times = rounds.times_s.first()?;
        let energies = rounds.energies_j.first().filter(|e| e.len() == times.len());
        let powers: Vec<f64> = (energies.into_iter().flatten())
            .zip(times)
            .map(|(e, t)| e / t)
            .collect();
        let metric = |name: &str| trial.metrics.get(name).copied();
        let tolerance = (prepared.problem.reference.as_ref()).map_or(f64::NAN, |r| r.tolerance);
        let library = (kernel.library.filter(|_| rounds.with_baseline)).and_then(|name| {
            let energies = rounds.energies_j.last();
            Some(Library {
                name: name.to_owned(),
                time_s: Summary::of(rounds.times_s.last()?)?,
                energy_j: energies.and_then(|e| Summary::of(e)),
            })
        });
        Some(Self {
            work,
            flops: (prepared.problem.work(&prepared.config)).map_or(0.0, |w| w.flops()),
            verification: (metric("error").unwrap_or(f64::NAN), tolerance),
            measurement: Measurement {
                runs: times.len(),
                energy_runs: powers.len(),
                time_s: Summary::of(times)?,
                times_s: times.clone(),
                energy_j: energies.and_then(|e| Summary::of(e)),
                power_w: Summary::of(&powers),
                sensor: sensor.filter(|_| !powers.is_empty()).map(str::to_owned),
                gain_error: None,
                other_over_main: None,
                state: DeviceState {
                    clock_hz: metric("clock_mhz").map(|mhz| mhz * 1e6),
                    mem_clock_hz: metric("memory_clock_mhz").map(|mhz| mhz * 1e6),
                    temperature_c: metric("temperature_c"),
                    ..DeviceState::default()
                },
                flags: Vec::new(),
            },
            doubts: trial.flags.clone(),
            library,
        })
    }

    /// Compares with the prediction of a machine.
    ///
    /// # Errors
    /// The machine has no cost for a class of the work.
    pub fn explain(
        self,
        kernel: &GpuKernel,
        machine: &Machine,
        assume: Option<&Machine>,
    ) -> Result<KernelResult, MachineError> {
        let bytes = self.work.count(Op::Dram);
        let noise = self.measurement.time_s.relative_error();
        let noisy = self.measurement.time_s.n > 1 && noise > NOISY;
        let mut result = KernelResult {
            name: kernel.name.to_owned(),
            about: kernel.about.to_owned(),
            flops: self.flops,
            bytes,
            intensity: self.flops / bytes,
            verification: self.verification,
            disturbed: noisy.then(|| format!("its rounds differ by ±{}", percent(noise))),
            share_of_roof: None,
            roof_then: None,
            time_error: None,
            energy_error: None,
            assumed: assume.and_then(|m| energy::at_roof(m, &self.work).ok()),
            measured: Some(self.measurement),
            predicted: energy::at_roof(machine, &self.work)?,
            explained: None,
            library: self.library,
            doubts: self.doubts,
            work: self.work,
            advice: Vec::new(),
        };
        predict(&mut result, machine)?;
        Ok(result)
    }
}

/// Compares a measured kernel with the prediction of a machine.
///
/// # Errors
/// The machine has no cost for a class of the work.
pub fn predict(k: &mut KernelResult, machine: &Machine) -> Result<(), MachineError> {
    let predicted = energy::at_roof(machine, &k.work)?;
    let clock = k.measured.as_ref().and_then(|m| m.state.clock_hz);
    let time = k.measured.as_ref().map(|m| m.time_s.median);
    let explained = time.and_then(|t| energy::split(machine, &k.work, t, clock));
    k.explained_by(predicted, explained);
    k.advice = advice::for_kernel(k, machine, true);
    Ok(())
}
