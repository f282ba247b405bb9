//! Chooses the GPU, energy sensor, clock control and worker program of a tuning session.

use greenup_app::error::{AppError, Result};
use greenup_app::{folders, print, sensors};
use greenup_device::CpuFacts;
use greenup_device::cuda::{Compiler, Gpu};
use greenup_device::opencl;
use greenup_meter::control::Control;
use greenup_meter::sensors::nvml;
use greenup_tune::Problem;
use greenup_tune::plan::{GpuTarget, Setup, WorkerSetup};
use greenup_tune::problem::ProblemFile;
use greenup_tune::worker::launcher::{Ahead, Launcher};

/// The GPUs that a list names, all of one model: `all`, or numbers separated by commas.
///
/// # Errors
/// One does not exist or is named twice, or their models differ.
pub fn gpus(list: &str) -> Result<Vec<Gpu>> {
    let all = match list {
        "all" => Gpu::all()?,
        list => list
            .split(',')
            .map(|n| sensors::gpu(Some(n.trim())))
            .collect::<Result<_>>()?,
    };
    let Some(first) = all.first() else {
        return Err(AppError::new("the CUDA driver shows no GPU").hint("check `nvidia-smi -L`"));
    };
    for (i, gpu) in all.iter().enumerate() {
        if all[..i].iter().any(|g| g.ordinal == gpu.ordinal) {
            return Err(
                AppError::new(format!("GPU {} is named twice", gpu.ordinal)).hint(
                    "each GPU has one worker, as measurements on one GPU would disturb each other",
                ),
            );
        }
        if gpu.name != first.name {
            return Err(AppError::new(format!(
                "cuda:{} is a {}, cuda:{} a {}: their trials cannot be compared",
                first.ordinal, first.name, gpu.ordinal, gpu.name
            ))
            .hint("name GPUs of one model, such as --device cuda:0,1"));
        }
    }
    Ok(all)
}

/// The first GPU of a list, which represents all.
///
/// # Errors
/// As [`gpus`].
pub fn first_gpu(list: Option<&str>) -> Result<Option<String>> {
    match list {
        Some(list) if list == "all" || list.contains(',') => {
            Ok(gpus(list)?.first().map(|g| g.ordinal.to_string()))
        }
        one => Ok(one.map(str::to_owned)),
    }
}

/// The GPUs for kernels in CUDA, sensors that watch them, and the processes in which kernels run. A list of several GPUs
/// gives each a worker; on the host there are `workers`.
///
/// # Errors
/// A GPU, a sensor or control of the clocks is missing.
pub fn setup_all(
    problem: &Problem,
    list: Option<&str>,
    sensor: Option<&str>,
    workers: usize,
    plain: Launcher,
) -> Result<Setup> {
    let first = match problem.opencl {
        Some(_) => None,
        None => first_gpu(list)?,
    };
    let mut out = setup(problem, first.as_deref(), sensor, plain)?;
    if !problem.on_gpu() {
        if workers > 1 {
            let one = |i| WorkerSetup::here(format!("cpu:{i}"), out.launcher.clone(), None, None);
            out.workers = (0..workers).map(one).collect();
        }
        return Ok(out);
    }
    let all = match list {
        Some(list) if first.as_deref() != Some(list) => gpus(list)?,
        _ => return Ok(out),
    };
    let named = sensor.filter(|s| *s != "none");
    if let (Some(id), true) = (named, all.len() > 1) {
        return Err(AppError::new(format!(
            "--sensor {id} names one sensor, and each of {} GPUs needs its own",
            all.len()
        ))
        .hint("leave it out, so that each GPU has its own energy counter, or use --sensor none"));
    }
    for (i, gpu) in all.iter().enumerate() {
        let number = gpu.ordinal.to_string();
        let name = format!("cuda:{number}");
        // The first has its sensor and control already.
        if i == 0 {
            let (launcher, control) = (out.launcher.clone(), out.control.take());
            (out.workers).push(WorkerSetup::here(name, launcher, out.gpu.clone(), control));
            continue;
        }
        let own = setup(problem, Some(&number), sensor, launcher(None)?)?;
        if own.sensor.is_none() {
            // An objective that needs energy is refused with this.
            out.sensor = None;
            out.missing = own.missing.or(out.missing);
        }
        (out.workers).push(WorkerSetup::here(name, own.launcher, own.gpu, own.control));
    }
    Ok(out)
}

/// The GPU for kernels in CUDA, a sensor that watches it, and the process in which they run.
pub fn setup(
    problem: &Problem,
    gpu: Option<&str>,
    sensor: Option<&str>,
    plain: Launcher,
) -> Result<Setup> {
    let gpu = on_gpu(problem, gpu)?;
    let target = match (&gpu, &problem.opencl) {
        (Some(on), _) => Some(sensors::on_gpu(&on.gpu)?),
        (None, Some(device)) => of_opencl(device),
        (None, None) => Some(sensors::Target::Host),
    };
    let chosen = match (target, sensor) {
        (Some(target), _) => sensors::sensors(sensor, target, 0.5)?,
        // A sensor that the user names is taken for the device's.
        (None, Some(_)) => sensors::sensors(sensor, sensors::Target::Host, 0.5)?,
        (None, None) => {
            let mut none = sensors::sensors(Some("none"), sensors::Target::Host, 0.5)?;
            none.missing = Some("no sensor is known for this OpenCL device".into());
            none
        }
    };
    let sensor = chosen.main();
    let device = match (&gpu, &problem.opencl) {
        (Some(on), _) => on.gpu.name.clone(),
        (None, Some(device)) => device.name.clone(),
        (None, None) => CpuFacts::read().model,
    };
    let control = if problem.sets_clocks() {
        Some(control(gpu.as_ref())?)
    } else {
        None
    };
    Ok(Setup {
        control,
        launcher: match sensor.as_deref() {
            None => plain,
            Some(id) => launcher(Some((id, chosen.period_s)))?,
        },
        device,
        sensor,
        sensor_period_s: Some(chosen.period_s),
        missing: chosen.missing,
        gpu,
        workers: Vec::new(),
    })
}

/// What a sensor of an OpenCL device watches: the host for its processor, a GPU by its PCI address.
fn of_opencl(device: &opencl::Device) -> Option<sensors::Target> {
    if device.kind == opencl::DeviceKind::Cpu {
        return Some(sensors::Target::Host);
    }
    let bus = device.bus_id.as_deref()?.parse().ok()?;
    Some(sensors::Target::Gpu(bus))
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
        if named.is_some() && problem.opencl.is_none() {
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

/// The same without a sensor. Where no sensor must be known before, the process of a GPU starts already: the driver takes as long to start
/// there as here.
pub fn ahead(file: &ProblemFile, gpu: Option<&str>, sensor: Option<&str>) -> Result<Launcher> {
    let plain = launcher(None)?;
    let number = gpu.unwrap_or("0");
    if file.is_cuda() && sensor == Some("none") && number.parse::<u16>().is_ok() {
        plain.start_ahead(&["--gpu".to_owned(), number.to_owned()]);
    }
    Ok(plain)
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
        remote: None,
        ahead: Ahead::default(),
    })
}
