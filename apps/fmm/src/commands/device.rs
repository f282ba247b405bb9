//! The engine of a command, and measurements with it.

use super::check_interrupt;
use greenup_app::args::{Device, DeviceSet};
use greenup_app::progress::Bars;
use greenup_app::{AppError, Result, print, sensors, wisdom};
use greenup_device::cuda;
use greenup_fmm::cpu::{Cpu, check_memory};
use greenup_fmm::engine::{Engine, Steps};
use greenup_fmm::gpu::{Config, Gpu};
use greenup_fmm::hybrid::Hybrid;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::plan::Plan;
use greenup_fmm::precision::Real;
use greenup_meter::{Measurement, Meter, Policy, Run};
use greenup_setting::setting;
use greenup_wisdom::Device as Known;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// `--device` of `fmm run`: devices with a share of the targets each, or a GPU and the host's cores with a share of the
/// phases each.
#[derive(Clone, Debug)]
pub enum RunDevice {
    Set(DeviceSet),
    GpuAndCpu(usize),
}

/// An invalid device.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "invalid device `{0}`: use cpu, cuda or cuda:N; several GPUs: cuda:0,1 or cuda:all; a GPU and the cores: cuda+cpu or cuda:N+cpu"
)]
pub struct InvalidRunDevice(String);

impl FromStr for RunDevice {
    type Err = InvalidRunDevice;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidRunDevice> {
        if let Ok(Device::CudaAndCpu(n)) = text.parse() {
            return Ok(Self::GpuAndCpu(n));
        }
        let set = text.parse().map(Self::Set);
        set.map_err(|_| InvalidRunDevice(text.to_owned()))
    }
}

impl fmt::Display for RunDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(set) => set.fmt(f),
            Self::GpuAndCpu(n) => Device::CudaAndCpu(*n).fmt(f),
        }
    }
}

impl RunDevice {
    /// The numbers of the GPUs of one of the ranks of a host, as of [`DeviceSet::gpus`].
    pub fn gpus(&self, local: (usize, usize), gpus: usize) -> Vec<usize> {
        match self {
            Self::Set(set) => set.gpus(local, gpus),
            Self::GpuAndCpu(n) => vec![*n],
        }
    }

    /// The device of one of the ranks of a host.
    pub fn of_rank(&self, local: (usize, usize), gpus: usize) -> Device {
        match self {
            Self::Set(set) => {
                let own = set.gpus(local, gpus);
                own.first().map_or(Device::Cpu, |n| Device::Cuda(*n))
            }
            Self::GpuAndCpu(n) => Device::CudaAndCpu(*n),
        }
    }

    /// Whether it has a GPU.
    pub fn is_gpu(&self) -> bool {
        match self {
            Self::Set(set) => set.is_gpu(),
            Self::GpuAndCpu(_) => true,
        }
    }
}

/// The tuning parameters of the P2P kernel on a GPU: of wisdom or the default, with those of `--kernels`.
pub fn config<R: Real>(
    kernel: Kernel,
    gradient: bool,
    gpu: usize,
    kernels: &str,
) -> Result<Config> {
    let device = Known::of_gpu(&cuda::Gpu::numbered(gpu)?);
    let known = wisdom::load()?;
    let (config, choice) = Config::tuned::<R>(&known, &device, kernel, gradient);
    if let Some(choice) = choice {
        wisdom::note("P2P", &choice);
    }
    changed(config, kernels)
}

/// Refuses invalid values of `--kernels`, before a GPU is looked for.
pub fn check_kernels<R: Real>(kernel: Kernel, gradient: bool, kernels: &str) -> Result<()> {
    changed(Config::default_for::<R>(kernel, gradient), kernels).map(|_| ())
}

fn changed(config: Config, kernels: &str) -> Result<Config> {
    config
        .with(kernels)
        .map_err(|e| AppError::new(format!("{}: {e}", setting("kernels"))))
}

/// A plan on a GPU and the host's cores.
pub fn hybrid<R: Real>(plan: Arc<Plan<R>>, gpu: usize, kernels: &str) -> Result<Hybrid<R>> {
    check_memory(&plan)?;
    let o = plan.options();
    let config = config::<R>(o.kernel, o.gradient, gpu, kernels)?;
    Ok(Hybrid::open(plan, gpu, config)?)
}

/// The engine of a plan on a device, or on a GPU and the host's cores, and its name.
pub fn any_engine<R: Real>(
    plan: Arc<Plan<R>>,
    device: Device,
    kernels: &str,
) -> Result<(Box<dyn Engine>, String)> {
    if let Device::CudaAndCpu(n) = device {
        let isa = plan.isa();
        let hybrid = hybrid(plan, n, kernels)?;
        let threads = rayon::current_num_threads();
        let name = format!("{} and {isa} on {threads} threads", hybrid.gpu_name());
        return Ok((Box::new(hybrid), name));
    }
    let (engine, name) = engine(plan, device, kernels)?;
    Ok((engine, name))
}

/// The engine of a plan on a device, and its name.
pub fn engine<R: Real>(
    plan: Arc<Plan<R>>,
    device: Device,
    kernels: &str,
) -> Result<(Box<dyn Steps<R>>, String)> {
    let Some(ordinal) = device.gpu() else {
        check_memory(&plan)?;
        let name = plan.isa().to_string();
        return Ok((Box::new(Cpu::new(plan)), name));
    };
    let o = plan.options();
    let config = config::<R>(o.kernel, o.gradient, ordinal, kernels)?;
    let gpu = Gpu::open(plan, ordinal, config)?;
    let name = gpu.name().to_owned();
    Ok((Box::new(gpu), name))
}

/// A meter of time, and of energy where there is a sensor.
pub fn meter(device: Device) -> Result<Meter> {
    let target = match device.gpu() {
        None => sensors::Target::Host,
        Some(n) => sensors::on_gpu(&sensors::gpu(Some(&n.to_string()))?)?,
    };
    let chosen = sensors::sensors(None, target, 0.3)?;
    if let Some(why) = &chosen.missing {
        print::note(format!("no energy: {why}"));
    }
    Ok(chosen.meter(Policy::quick()))
}

/// Time and energy of an evaluation, without copies to and from the device.
pub fn measured(meter: &mut Meter, engine: &mut dyn Engine) -> Result<Measurement> {
    let measured = meter.measure(&Bars::quiet(), &mut |seconds: f64| {
        let start = Instant::now();
        let mut n = 0usize;
        // Batches of a hundredth of a second, so that launches have no gaps.
        let mut batch = 1;
        while start.elapsed().as_secs_f64() < seconds {
            check_interrupt()?;
            let t = Instant::now();
            engine.repeat(batch)?;
            n += batch;
            if t.elapsed().as_secs_f64() < 0.01 {
                batch *= 2;
            }
        }
        Ok::<_, AppError>(Run {
            iterations: n as f64,
            seconds: start.elapsed().as_secs_f64(),
        })
    })?;
    measured.ok_or_else(|| AppError::interrupted("interrupted"))
}
