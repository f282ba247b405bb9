//! The energy sensor of a measurement, and the GPU of a command.

use crate::error::{AppError, Result};
use crate::load::Load;
use crate::print;
use greenup_device::cuda::Gpu;
use greenup_files::Outputs;
pub use greenup_meter::choose::{Chosen, Target, found};
use greenup_meter::sensors::{BusId, nvml};
use greenup_meter::{Problem, Sensor};
use greenup_report::si::si;

/// The GPU with this number, or a known GPU that need not be here, such as `h200`; without a name the first GPU.
///
/// # Errors
/// There is none, with what is missing.
pub fn gpu(named: Option<&str>) -> Result<Gpu> {
    if let Some(known) = named.and_then(Gpu::known) {
        // The one here, where there is one of that kind.
        let here = Gpu::all().unwrap_or_default().into_iter();
        return Ok(here
            .into_iter()
            .find(|g| g.name == known.name)
            .unwrap_or(known));
    }
    let wanted: usize = match named {
        None => 0,
        Some(n) => n.parse().map_err(|_| {
            AppError::new(format!("invalid GPU `{n}`")).hint("give its number, or h200")
        })?,
    };
    let all = Gpu::all()?;
    let count = all.len();
    all.into_iter().nth(wanted).ok_or_else(|| match count {
        0 => AppError::new("the CUDA driver shows no GPU").hint("check `nvidia-smi -L`"),
        n => AppError::new(format!("there is no GPU {wanted}"))
            .hint(format!("there are {n}, counted from 0")),
    })
}

/// The file that a named sensor reads, as an input of a command that writes files.
pub fn input(named: Option<&str>, outputs: &mut Outputs) {
    let file = named.and_then(|n| {
        n.strip_prefix("recorded:").or_else(|| {
            n.strip_prefix("external:")
                .filter(|n| !n.starts_with("cmd:"))
        })
    });
    if let Some(file) = file {
        outputs.input(file);
    }
}

/// The target of work on a GPU.
///
/// # Errors
/// It is not on this host.
pub fn on_gpu(gpu: &Gpu) -> Result<Target> {
    Ok(Target::Gpu(bus_id(gpu)?))
}

/// The PCI bus id of a GPU.
///
/// # Errors
/// It is not on this host.
pub fn bus_id(gpu: &Gpu) -> Result<BusId> {
    gpu.bus_id.parse().map_err(|_| {
        AppError::new(format!("there is no {} here", gpu.name))
            .hint("name a GPU by its number; `greenup doctor` lists them")
    })
}

/// The energy counter of a GPU, if it has one.
pub fn energy_counter(gpu: &Gpu) -> Option<Box<dyn Sensor>> {
    let index = nvml::index(bus_id(gpu).ok()?).ok()?;
    let id = format!("nvml:{}:energy", index.get());
    let mut found = nvml::discover().into_iter().flatten();
    found.find(|s| s.info().id == id)
}

/// The host, or without a sensor of it the first GPU that a command started here would see.
pub const ANY: Target = Target::HostOr(|| match Gpu::all() {
    // CUDA heeds CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER; NVML does not.
    Ok(all) => all.first()?.bus_id.parse().ok(),
    Err(_) => nvml::only(),
});

/// Picks the sensor named, or the best one for the target, and probes that it moves with all cores busy.
///
/// # Errors
/// When the named sensor does not exist or is not usable.
pub fn sensors(named: Option<&str>, target: Target, probe_s: f64) -> Result<Chosen> {
    // Made only where there is a sensor to probe.
    let mut load = None;
    let chosen = greenup_meter::choose::sensors(named, target, probe_s, &mut |s| {
        load.get_or_insert_with(Load::cpu).run(s);
    })
    .map_err(problem)?;
    print::detail(|| match chosen.main() {
        Some(id) => format!("sensor {id}, updated every {}", si(chosen.period_s, "s")),
        None => "no energy sensor".to_owned(),
    });
    Ok(chosen)
}

/// A sensor that cannot be used, as an error with its fix.
pub fn problem(p: Problem) -> AppError {
    let e = if p.present && p.id != "nvml" {
        AppError::new(format!("sensor `{}` is not usable: {}", p.id, p.cause))
    } else {
        AppError::new(p.cause)
    };
    if p.fix.is_empty() { e } else { e.hint(p.fix) }
}
