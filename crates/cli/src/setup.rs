//! Chooses the GPU, energy sensor, clock control and worker program of a tuning session.

use greenup_app::error::{AppError, Result};
use greenup_app::{folders, print, sensors};
use greenup_device::CpuFacts;
use greenup_device::cuda::Compiler;
use greenup_meter::control::Control;
use greenup_meter::sensors::nvml;
use greenup_tune::Problem;
use greenup_tune::plan::GpuTarget;
use greenup_tune::session::Setup;
use greenup_tune::worker::launcher::Launcher;

/// The GPU for kernels in CUDA, a sensor that watches it, and the process in which they run.
pub fn setup(problem: &Problem, gpu: Option<&str>, sensor: Option<&str>) -> Result<Setup> {
    let gpu = on_gpu(problem, gpu)?;
    let target = match &gpu {
        None => sensors::Target::Host,
        Some(on) => sensors::on_gpu(&on.gpu)?,
    };
    let chosen = sensors::sensors(sensor, target, 0.5)?;
    let sensor = chosen.main();
    let device = match &gpu {
        Some(on) => on.gpu.name.clone(),
        None => CpuFacts::read().model,
    };
    let control = if problem.sets_clocks() {
        Some(control(gpu.as_ref())?)
    } else {
        None
    };
    Ok(Setup {
        control,
        launcher: launcher(sensor.as_deref().map(|id| (id, chosen.period_s)))?,
        device,
        sensor,
        missing: chosen.missing,
        gpu,
    })
}

/// Opens control of the clocks of the problem's GPU (default: the first GPU); the watchdog process is this program with
/// `clock-keeper`.
fn control(gpu: Option<&GpuTarget>) -> Result<Control> {
    let index = match gpu {
        None => nvml::first(),
        Some(on) => nvml::index(sensors::bus_id(&on.gpu)?),
    }
    .map_err(sensors::problem)?;
    let mut watchdog = std::process::Command::new(std::env::current_exe()?);
    watchdog.args(["clock-keeper", "--index", &index.get().to_string()]);
    Control::open(index, watchdog).map_err(|e| {
        let fix = e.fix();
        AppError::new(format!("the space sets clocks or power: {e}")).hint(fix)
    })
}

fn on_gpu(problem: &Problem, named: Option<&str>) -> Result<Option<GpuTarget>> {
    if !problem.on_gpu() {
        if named.is_some() {
            print::warn("the kernels are not CUDA: they run on the CPU, --device has no effect");
        }
        return Ok(None);
    }
    // Report a missing NVRTC now instead of in every trial.
    Compiler::new(None)?;
    let gpu = sensors::gpu(named)?;
    sensors::bus_id(&gpu)?;
    Ok(Some(GpuTarget {
        gpu,
        cubins: folders::cache()?.join("cubins"),
    }))
}

/// Starts this program again as the process in which kernels run, with a sensor and its period.
pub fn launcher(sensor: Option<(&str, f64)>) -> Result<Launcher> {
    let mut arguments = vec!["trial-worker".to_owned()];
    if let Some((id, period_s)) = sensor {
        arguments.extend(["--sensor".to_owned(), id.to_owned()]);
        arguments.extend(["--period".to_owned(), period_s.to_string()]);
    }
    Ok(Launcher {
        program: std::env::current_exe()?,
        arguments,
    })
}
