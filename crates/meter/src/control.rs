//! Clocks and power limit of a GPU through NVML, reset when this process ends.
//!
//! A second process, the watchdog, holds the other end of a pipe. However this process ends, the
//! pipe closes, and the watchdog resets locked clocks to the driver's default and restores the
//! power limit that it found at its start. Only the watchdog does this.

use crate::sensors::nvml::GpuIndex;
use crate::sensors::nvml::advice::{NO_PERMISSION, NOT_SUPPORTED};
use crate::sensors::nvml::library::{Device, Nvml, NvmlError};
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
    /// The driver denies this user the setting.
    #[error("the driver refuses to let this user set {what}")]
    Permission {
        /// The setting.
        what: &'static str,
    },
    /// The GPU does not offer the setting.
    #[error("this GPU does not offer {what}")]
    Unsupported {
        /// The setting.
        what: &'static str,
    },
    /// Another error of the driver.
    #[error("{what}: {cause}")]
    Driver {
        /// The setting.
        what: &'static str,
        /// The cause.
        cause: String,
    },
    /// The watchdog process that restores the settings cannot be started.
    #[error("the process that restores the clocks cannot be started: {0}")]
    Watchdog(String),
}

impl ControlError {
    /// Suggested fix.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Permission { .. } => {
                "run as root on a GPU that no one else uses, or remove clock_sm, clock_mem and power_limit from the space"
            }
            Self::Unsupported { .. } => "remove the parameter from the space",
            Self::Driver { .. } => {
                "`nvidia-smi -q -d SUPPORTED_CLOCKS,POWER` lists the valid values of this GPU"
            }
            Self::Watchdog(_) => "start greenup by its full path",
        }
    }
}

fn failed(what: &'static str) -> impl Fn(NvmlError) -> ControlError {
    move |e| match e {
        NvmlError::Code {
            code: NO_PERMISSION,
            ..
        } => ControlError::Permission { what },
        NvmlError::Code {
            code: NOT_SUPPORTED,
            ..
        } => ControlError::Unsupported { what },
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
        device.lock_clock(mhz).map_err(failed(SM))?;
    }
    if let Some(mhz) = s.clock_mem {
        device.lock_memory_clock(mhz).map_err(failed(MEMORY))?;
    }
    if let Some(watts) = s.power_limit {
        device
            .set_limit_mw(watts.saturating_mul(1000))
            .map_err(failed(POWER))?;
    }
    Ok(())
}

/// Control over one GPU's settings.
pub struct Control {
    nvml: Nvml,
    gpu: GpuIndex,
    watchdog: Child,
    /// Closing it is what makes the watchdog restore.
    pipe: Option<ChildStdin>,
}

impl Control {
    /// Starts the watchdog: `watchdog` is a command that leads to [`keep`] with the same index.
    ///
    /// # Errors
    /// No driver, no such GPU, no permission, or no watchdog.
    pub fn open(gpu: GpuIndex, mut watchdog: Command) -> Result<Self, ControlError> {
        let nvml = Nvml::init().map_err(failed("NVML"))?;
        {
            let mut device = nvml.device(gpu.get()).map_err(failed("the GPU"))?;
            // Changes nothing that is not locked, and tells whether changing is allowed.
            device.free_clock().map_err(failed(SM))?;
        }
        let wrong = |e: std::io::Error| ControlError::Watchdog(e.to_string());
        let mut child = watchdog
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(wrong)?;
        let pipe = child.stdin.take();
        // It has noted what it will restore before anything is changed.
        let mut answer = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut answer).map_err(wrong)?;
        }
        if answer.trim() != READY {
            let _ = child.kill();
            let _ = child.wait();
            return Err(ControlError::Watchdog(if answer.is_empty() {
                "it ended".into()
            } else {
                answer
            }));
        }
        Ok(Self {
            nvml,
            gpu,
            watchdog: child,
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
            .device(self.gpu.get())
            .map_err(failed("the GPU"))?;
        apply(&mut device, setting)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.watchdog.wait();
    }
}

const READY: &str = "ready";

/// The watchdog: notes the power limit, says that it is ready, waits for the end of its input, and
/// restores; `index` is the number of a [`GpuIndex`]. Signals of the terminal must not reach it: give it a session of
/// its own.
///
/// # Errors
/// Nothing can be noted, or something cannot be restored.
pub fn keep(index: u32) -> Result<(), ControlError> {
    detach();
    let nvml = Nvml::init().map_err(failed("NVML"))?;
    let mut device = nvml.device(index).map_err(failed("the GPU"))?;
    let limit = device.limit_mw().ok();
    {
        use std::io::Write as _;
        let mut out = std::io::stdout();
        let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    }
    // Whatever ends the other side closes the pipe.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let clocks = device.free_clock().map_err(failed(SM));
    let memory = match device.free_memory_clock() {
        Err(NvmlError::Code {
            code: NOT_SUPPORTED,
            ..
        }) => Ok(()),
        r => r.map_err(failed(MEMORY)),
    };
    if let Some(limit) = limit
        && device.limit_mw().ok() != Some(limit)
    {
        device.set_limit_mw(limit).map_err(failed(POWER))?;
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
