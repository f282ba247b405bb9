//! The study of a GPU: calibration, real kernels, DGEMM tuned for time and for energy.
//!
//! | module | contents |
//! |---|---|
//! | [`kernel`] | a kernel as a problem of the tuner with a fixed config |
//! | [`problems`] | the kernels, and the work that the machine does for them |
//! | [`measure`] | one config of a problem, verified and measured |
//! | [`tuning`] | DGEMM tuned for both objectives |

pub mod kernel;
pub mod measure;
pub mod problems;
pub mod tuning;

use crate::device::{DeviceStudy, Hardware, suffix};
use crate::error::StudyError;
use greenup_calibrate::gpu::context::BenchContext;
use greenup_calibrate::gpu::suite;
use greenup_calibrate::machine::{build_gpu, raise_to};
use greenup_calibrate::suite::noise::Noise;
use greenup_calibrate::{FitOptions, record};
use greenup_device::cuda::Gpu;
use greenup_files::{FileError, Journal};
use greenup_meter::{Meter, Observer};
use greenup_model::{Bound, Machine, Op};
use greenup_process::interrupt::{self, Saving};
use greenup_tune::GpuTarget;
use greenup_tune::worker::launcher::Launcher;
use std::path::PathBuf;
use tuning::Within;

/// Estimated seconds of a microbenchmark besides its window and warm-up: filling memory, now and then compiling.
const PREPARE_S: f64 = 0.5;
/// Estimated seconds of a kernel: compiling, data, its reference on the host, verification, rounds.
const KERNEL_S: f64 = 9.0;
/// Estimated seconds of the tuning run besides the search: data, the reference, final rounds.
const FINALS_S: f64 = 30.0;

/// Settings of the study of a GPU.
pub struct GpuOptions {
    /// Name of the calibrated machine.
    pub name: String,
    /// The GPU.
    pub gpu: Gpu,
    /// Measures time, and energy where there is a sensor.
    pub meter: Meter,
    /// Why there is no sensor.
    pub no_sensor: Option<String>,
    /// Starts the worker processes that run the kernels, with the sensor of this GPU.
    pub launcher: Launcher,
    /// Whether all microbenchmarks run.
    pub full: bool,
    /// Where compiled kernels are kept.
    pub cubins: PathBuf,
    /// Output folder of the study.
    pub dir: PathBuf,
    /// Duration of the search of the tuning run, s; `None` for none.
    pub tuning_s: Option<f64>,
}

impl GpuOptions {
    /// `cuda:N`.
    pub fn device(&self) -> String {
        format!("cuda:{}", self.gpu.ordinal)
    }

    /// Estimated duration, s.
    pub fn seconds(&self) -> f64 {
        let policy = &self.meter.policy;
        let each = self.meter.window_s() + policy.warmup_s.max(0.3) + PREPARE_S;
        let multiprocessors = u32::try_from(self.gpu.multiprocessors).unwrap_or(1);
        let benches = suite::plan(multiprocessors, !self.full).len() as f64;
        let kernels = problems::ALL.len() as f64 * KERNEL_S;
        benches * each + kernels + self.tuning_s.map_or(0.0, |s| s + FINALS_S)
    }
}

/// Studies a GPU; each measurement goes to its journal at once. A kernel that fails is missing from the results.
///
/// # Errors
/// The GPU or its compiler fails, no microbenchmark could be measured, the records do not determine a machine, or a
/// journal cannot be written.
pub fn run(
    options: &mut GpuOptions,
    assume: Option<&Machine>,
    command: &str,
    observer: &dyn Observer,
    records: &mut Journal,
    results: &mut Journal,
) -> Result<(DeviceStudy, Option<Saving>), StudyError> {
    let failed = |e: greenup_device::cuda::CudaError| StudyError::Gpu(e.message());
    let calibration = {
        let mut context =
            BenchContext::new(options.gpu.clone(), &options.cubins).map_err(failed)?;
        let multiprocessors = u32::try_from(options.gpu.multiprocessors).unwrap_or(1);
        suite::run(
            &suite::plan(multiprocessors, !options.full),
            &mut context,
            &mut options.meter,
            observer,
            &mut |r| record::keep(records, r),
        )?
    };
    if calibration.records.is_empty() {
        return Err(match calibration.failed.first() {
            Some(why) => StudyError::Gpu(format!("no microbenchmark could be measured: {why}")),
            None => StudyError::Nothing,
        });
    }
    // What was measured is kept, though the fit takes its time.
    let saving = calibration.interrupted.then(interrupt::saving);
    let (machine, fit, _) = build_gpu(
        &options.name,
        &calibration,
        &options.gpu,
        command,
        &FitOptions::default(),
    )?;
    let mut study = DeviceStudy {
        device: options.device(),
        hardware: Hardware::Gpu(Box::new(options.gpu.clone())),
        machine,
        fit,
        records: calibration.records,
        sensor: options.meter.main_sensor().map(str::to_owned),
        no_sensor: options.no_sensor.clone(),
        kernels: Vec::new(),
        noise: Noise::default(),
        tuning: None,
        missing: calibration.failed,
        interrupted: calibration.interrupted,
    };
    let on = GpuTarget {
        gpu: options.gpu.clone(),
        cubins: options.cubins.clone(),
    };
    if !study.interrupted {
        kernels(&mut study, options, &on, assume, observer, results)?;
    }
    study.interrupted |= observer.cancelled();
    if let Some(seconds) = options.tuning_s.filter(|_| !study.interrupted) {
        let dir = options.dir.join(format!("tuning{}", suffix(&study.device)));
        study.tuning = Some(tuning::run(
            &tuning::GpuTuning {
                dir,
                on,
                launcher: options.launcher.clone(),
                seconds,
                energy: study.sensor.is_some(),
            },
            observer,
        ));
        study.interrupted |= observer.cancelled();
    }
    Ok((study, saving))
}

fn kernels(
    study: &mut DeviceStudy,
    options: &GpuOptions,
    on: &GpuTarget,
    assume: Option<&Machine>,
    observer: &dyn Observer,
    results: &mut Journal,
) -> Result<(), StudyError> {
    // Private and of a unique name, so that all in it is the study's.
    let scratch = tempfile::Builder::new()
        .prefix(".greenup-kernels-")
        .tempdir_in(&options.dir)
        .map_err(FileError::write(&options.dir))?;
    observer.stage("GPU kernels", problems::ALL.len());
    for kernel in problems::ALL {
        if observer.cancelled() {
            break;
        }
        let measure = |attempt: usize| {
            let bench = measure::Bench {
                on,
                launcher: &options.launcher,
                sensor: study.sensor.as_deref(),
                dir: &(scratch.path()).join(format!("{}-{attempt}", kernel.name.replace(' ', "_"))),
                observer: &Within(observer),
            };
            bench.measure(kernel)
        };
        let measured = match measure(0) {
            Ok(Some(measured)) => measured,
            // The user stopped it.
            Ok(None) => break,
            Err(why) => {
                study.missing.push(format!("{}: {why}", kernel.name));
                observer.step(kernel.name);
                continue;
            }
        };
        let mut result = measured.explain(kernel, &study.machine, assume)?;
        if let Some(why) = result.disturbed.clone().filter(|_| !observer.cancelled()) {
            study.noise.repeated(kernel.name, 1, &why);
            if let Ok(Some(again)) = measure(1) {
                let again = again.explain(kernel, &study.machine, assume)?;
                if again.noise() < result.noise() {
                    result = again;
                }
            }
        }
        if let Some(why) = &result.disturbed {
            study.noise.not_clean(kernel.name, why);
        }
        results.line(serde_json::to_string(&result)?)?;
        study.kernels.push(result);
        observer.step(kernel.name);
    }
    raise(study)
}

/// A kernel above a roof raises it: slow memory from data that no cache holds, and other classes where the machine has one
/// clock. The kernels are compared with the new roofs.
fn raise(study: &mut DeviceStudy) -> Result<(), StudyError> {
    let one_clock = study.machine.clock.is_none();
    let Hardware::Gpu(gpu) = &study.hardware else {
        return Ok(());
    };
    let cache = (gpu.named().iter()).find_map(|(n, v)| (*n == "l2_bytes").then_some(*v as f64));
    let beyond = 4.0 * cache.unwrap_or(f64::INFINITY);
    let faster: Vec<_> = (study.kernels.iter())
        .filter_map(|k| {
            let Bound::Op(op) = k.predicted.bound else {
                return None;
            };
            let record = k.above_roof(k.bytes, beyond)?;
            (op == Op::Dram || one_clock && !op.is_bytes()).then_some((op, record))
        })
        .collect();
    if faster.is_empty() {
        return Ok(());
    }
    for (op, record) in faster {
        raise_to(&mut study.machine, op, &record);
        study.records.push(record);
    }
    study.noise.roofs(&study.records);
    for k in &mut study.kernels {
        measure::predict(k, &study.machine)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
