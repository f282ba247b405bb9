//! Clocks and power limit of a GPU through NVML, always given back.
//!
//! A second process, the keeper, holds the other end of a pipe. However this process ends, by its own
//! will, by a signal or by a crash, the pipe closes, and the keeper restores what it found at its
//! start. Nobody else restores, so that there is one way only.

use crate::sensors::nvml::GpuIndex;
use nvml_wrapper::enums::device::GpuLockedClocksSetting;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Names of the parameters that set something, in the order of [`Setting`].
pub const PARAMETERS: [&str; 3] = ["clock_sm", "clock_mem", "power_limit"];

/// What a config asks for; what is `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Clock of the multiprocessors, MHz.
    pub clock_sm: Option<u32>,
    /// Clock of the memory, MHz.
    pub clock_mem: Option<u32>,
    /// W.
    pub power_limit: Option<u32>,
}

impl Setting {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = [
            self.clock_sm.map(|v| format!("clock_sm = {v} MHz")),
            self.clock_mem.map(|v| format!("clock_mem = {v} MHz")),
            self.power_limit.map(|v| format!("power_limit = {v} W")),
        ]
        .into_iter()
        .flatten()
        .collect();
        f.write_str(&parts.join(", "))
    }
}

/// Why a setting cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("the driver refuses to let this user set {what}")]
    Permission { what: &'static str },
    #[error("this GPU has no {what} to set")]
    Unsupported { what: &'static str },
    #[error("{what}: {cause}")]
    Driver { what: &'static str, cause: String },
    #[error("the keeper of clocks cannot be started: {0}")]
    Keeper(String),
}

impl ControlError {
    /// What a user can do about it.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Permission { .. } => {
                "run as root on a GPU that is yours alone, or take clock_sm, clock_mem and power_limit out of the space"
            }
            Self::Unsupported { .. } => "take the parameter out of the space",
            Self::Driver { .. } => {
                "`nvidia-smi -q -d SUPPORTED_CLOCKS,POWER` lists what this GPU takes"
            }
            Self::Keeper(_) => "start greenup by its full path",
        }
    }
}

fn failed(what: &'static str) -> impl Fn(NvmlError) -> ControlError {
    move |e| match e {
        NvmlError::NoPermission => ControlError::Permission { what },
        NvmlError::NotSupported => ControlError::Unsupported { what },
        e => ControlError::Driver {
            what,
            cause: e.to_string(),
        },
    }
}

const SM: &str = "the clock of the multiprocessors";
const MEMORY: &str = "the clock of the memory";
const POWER: &str = "the power limit";

fn apply(device: &mut Device, s: &Setting) -> Result<(), ControlError> {
    if let Some(mhz) = s.clock_sm {
        let both = GpuLockedClocksSetting::Numeric {
            min_clock_mhz: mhz,
            max_clock_mhz: mhz,
        };
        device.set_gpu_locked_clocks(both).map_err(failed(SM))?;
    }
    if let Some(mhz) = s.clock_mem {
        device
            .set_mem_locked_clocks(mhz, mhz)
            .map_err(failed(MEMORY))?;
    }
    if let Some(watts) = s.power_limit {
        device
            .set_power_management_limit(watts.saturating_mul(1000))
            .map_err(failed(POWER))?;
    }
    Ok(())
}

/// Control over one GPU's settings.
pub struct Control {
    nvml: Nvml,
    gpu: GpuIndex,
    keeper: Child,
    /// Closing it is what makes the keeper restore.
    pipe: Option<ChildStdin>,
}

impl Control {
    /// Starts the keeper: `keeper` is a command that leads to [`keep`] with the same index.
    ///
    /// # Errors
    /// No driver, no such GPU, no permission, or no keeper.
    pub fn open(gpu: GpuIndex, mut keeper: Command) -> Result<Self, ControlError> {
        let nvml = Nvml::init().map_err(failed("NVML"))?;
        {
            let mut device = nvml.device_by_index(gpu.get()).map_err(failed("the GPU"))?;
            // Changes nothing that is not locked, and tells whether changing is allowed.
            device.reset_gpu_locked_clocks().map_err(failed(SM))?;
        }
        let wrong = |e: std::io::Error| ControlError::Keeper(e.to_string());
        let mut child = keeper
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(wrong)?;
        let pipe = child.stdin.take();
        // It has noted what it will restore before anything is changed.
        let mut said = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut said).map_err(wrong)?;
        }
        if said.trim() != READY {
            let _ = child.kill();
            let _ = child.wait();
            return Err(ControlError::Keeper(if said.is_empty() {
                "it ended".into()
            } else {
                said
            }));
        }
        Ok(Self {
            nvml,
            gpu,
            keeper: child,
            pipe,
        })
    }

    /// Makes a setting; it holds until the next, or the end.
    ///
    /// # Errors
    /// The GPU does not take it.
    pub fn set(&self, setting: &Setting) -> Result<(), ControlError> {
        let mut device = self
            .nvml
            .device_by_index(self.gpu.get())
            .map_err(failed("the GPU"))?;
        apply(&mut device, setting)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.keeper.wait();
    }
}

const READY: &str = "ready";

/// The keeper: notes the power limit, says that it is ready, waits for the end of its input, and
/// restores; `index` is the number of a [`GpuIndex`]. Signals of the terminal must not reach it: give it a session of
/// its own.
///
/// # Errors
/// Nothing can be noted, or something cannot be restored.
pub fn keep(index: u32) -> Result<(), ControlError> {
    detach();
    let nvml = Nvml::init().map_err(failed("NVML"))?;
    let mut device = nvml.device_by_index(index).map_err(failed("the GPU"))?;
    let limit = device.power_management_limit().ok();
    {
        use std::io::Write as _;
        let mut out = std::io::stdout();
        let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    }
    // Whatever ends the other side closes the pipe.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let clocks = device.reset_gpu_locked_clocks().map_err(failed(SM));
    let memory = match device.reset_mem_locked_clocks() {
        Err(NvmlError::NotSupported) => Ok(()),
        r => r.map_err(failed(MEMORY)),
    };
    if let Some(limit) = limit
        && device.power_management_limit().ok() != Some(limit)
    {
        device
            .set_power_management_limit(limit)
            .map_err(failed(POWER))?;
    }
    clocks.and(memory)
}

/// Out of the reach of the terminal's signals.
fn detach() {
    #[cfg(unix)]
    // SAFETY: only makes this process the leader of a new session.
    unsafe {
        libc::setsid();
    }
}
