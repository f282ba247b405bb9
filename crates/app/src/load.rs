//! A load that makes sensors move: all cores busy, or a command of the user.

use crate::error::{AppError, Result};
use greenup_device::{CpuFacts, Team};
use greenup_meter::command::CommandLine;
use greenup_meter::sensor::now_s;
use greenup_process::{Group, OnInterrupt};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A load.
pub enum Load {
    /// Multiplications and additions on every core.
    Cpu(Team),
    /// A running command, stopped between bursts.
    Command(Group),
}

impl Load {
    /// Every core busy.
    pub fn cpu() -> Self {
        Self::Cpu(Team::new(&CpuFacts::read().cores))
    }

    /// A command that must run until it is killed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn command(text: &str) -> Result<Self> {
        let command = CommandLine::parse(text)?;
        let mut process = Command::new(&command.program);
        process
            .args(&command.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let group = Group::spawn(&mut process, OnInterrupt::Keep)
            .map_err(|e| AppError::new(format!("the load `{text}` cannot be started: {e}")))?;
        // Its set-up is not yet a load.
        std::thread::sleep(Duration::from_secs(2));
        group.signal(libc::SIGSTOP);
        Ok(Self::Command(group))
    }

    /// Loads the machine for `seconds`.
    pub fn run(&mut self, seconds: f64) {
        match self {
            Self::Cpu(team) => {
                team.run(|_| [1.0; 32], multiply_add, |_, s| s < seconds);
            }
            Self::Command(group) => {
                let end = now_s() + seconds;
                group.signal(libc::SIGCONT);
                std::thread::sleep(Duration::from_secs_f64((end - now_s()).max(0.0)));
                group.signal(libc::SIGSTOP);
            }
        }
    }
}

/// About a millisecond of independent multiplications and additions.
fn multiply_add(x: &mut [f64; 32]) {
    for _ in 0..100_000 {
        for v in &mut *x {
            *v = *v * 0.999_999 + 1e-6;
        }
    }
    std::hint::black_box(x);
}
