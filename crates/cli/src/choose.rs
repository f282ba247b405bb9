//! Choosing the sensors of a measurement, and a GPU.

use crate::error::{CliError, Result};
use crate::load::Load;
use greenup_device::cuda::Gpu;
use greenup_files::Outputs;
use greenup_meter::Problem;
pub use greenup_meter::choose::{Chosen, Target, found};
use greenup_meter::sensors::{BusId, nvml};

/// The GPU with this number, or a known one that need not be here; the first without a name.
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
            CliError::new(format!("`{n}` is no GPU")).hint("give its number, or h200")
        })?,
    };
    let all = Gpu::all().map_err(crate::commands::compile::failed)?;
    let count = all.len();
    all.into_iter().nth(wanted).ok_or_else(|| match count {
        0 => CliError::new("the CUDA driver shows no GPU").hint("check `nvidia-smi -L`"),
        n => CliError::new(format!("there is no GPU {wanted}"))
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
    Ok(Target::Gpu(place(gpu)?))
}

/// Where a GPU sits.
///
/// # Errors
/// It is not on this host.
pub fn place(gpu: &Gpu) -> Result<BusId> {
    gpu.bus_id.parse().map_err(|_| {
        CliError::new(format!("there is no {} here", gpu.name))
            .hint("name a GPU by its number; `greenup doctor` lists them")
    })
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
        if let Ok(load) = load.get_or_insert_with(Load::cpu) {
            load.run(s);
        }
    });
    if let Some(Err(e)) = load {
        return Err(e);
    }
    chosen.map_err(problem)
}

/// A sensor that cannot be used, as an error with its fix.
pub fn problem(p: Problem) -> CliError {
    let e = if p.present && p.id != "nvml" {
        CliError::new(format!("sensor `{}` is not usable: {}", p.id, p.cause))
    } else {
        CliError::new(p.cause)
    };
    if p.cure.is_empty() { e } else { e.hint(p.cure) }
}
