//! What a problem is measured on and with: a GPU where its kernels run on one, a sensor that watches
//! it, control over its clocks, and the process in which kernels run.

use crate::choose;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use greenup_device::CpuFacts;
use greenup_device::cuda::Compiler;
use greenup_meter::control::Control;
use greenup_meter::sensors::nvml;
use greenup_tune::run::cubin::OnGpu;
use greenup_tune::run::parent::Launcher;
use greenup_tune::{Plan, Problem};
use std::collections::BTreeMap;
use std::path::Path;

/// What a problem is measured on and with.
pub struct Rig {
    pub gpu: Option<OnGpu>,
    /// Name of the GPU, or of the host's processor.
    pub device: String,
    /// Id of the energy sensor.
    pub sensor: Option<String>,
    /// Why there is none.
    pub missing: Option<String>,
    pub launcher: Launcher,
    /// Over the GPU's clocks, for a problem that sets them.
    pub control: Option<Control>,
}

impl Rig {
    /// A plan for configs that are given: nothing is searched, and nothing ends it.
    pub fn given<'a>(self, problem: &Problem, out: &'a Path, observer: &'a Bars) -> Plan<'a> {
        Plan {
            objectives: vec![problem.objective],
            trials: usize::MAX,
            seconds: f64::INFINITY,
            seed: 1,
            out,
            resume: false,
            accept: Vec::new(),
            launcher: self.launcher,
            finalists: 0,
            facts: BTreeMap::new(),
            device: self.device,
            gpu: self.gpu,
            control: self.control,
            observer,
        }
    }
}

/// The GPU for kernels in CUDA, a sensor that watches it, and the process in which they run.
pub fn rig(problem: &Problem, gpu: Option<&str>, sensor: Option<&str>) -> Result<Rig> {
    let gpu = on_gpu(problem, gpu)?;
    let target = match &gpu {
        None => choose::Target::Host,
        Some(on) => choose::on_gpu(&on.gpu)?,
    };
    let chosen = choose::sensors(sensor, target, 0.5)?;
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
    Ok(Rig {
        control,
        launcher: launcher(sensor.as_deref().map(|id| (id, chosen.period_s)))?,
        device,
        sensor,
        missing: chosen.missing,
        gpu,
    })
}

/// Control over the clocks of the problem's GPU, or of the first; this program is its keeper too.
fn control(gpu: Option<&OnGpu>) -> Result<Control> {
    let index = match gpu {
        None => nvml::first(),
        Some(on) => nvml::index(choose::place(&on.gpu)?),
    }
    .map_err(choose::problem)?;
    let mut keeper = std::process::Command::new(std::env::current_exe()?);
    keeper.args(["clock-keeper", "--index", &index.get().to_string()]);
    Control::open(index, keeper).map_err(|e| {
        let cure = e.cure();
        CliError::new(format!("the space sets clocks or power: {e}")).hint(cure)
    })
}

fn on_gpu(problem: &Problem, named: Option<&str>) -> Result<Option<OnGpu>> {
    if !problem.on_gpu() {
        return Ok(None);
    }
    // Said now, not by every trial.
    Compiler::new(None).map_err(crate::commands::compile::failed)?;
    let gpu = choose::gpu(named)?;
    choose::place(&gpu)?;
    Ok(Some(OnGpu {
        gpu,
        cubins: crate::folders::cache()?.join("cubins"),
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
