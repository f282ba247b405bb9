//! A load for sensors to move under: all cores, or a command of the user's.

use crate::error::{CliError, Result};
use greenup_calibrate::bench::{Bench, Prepared};
use greenup_device::{CpuFacts, Team};
use greenup_meter::command::CommandLine;
use greenup_meter::sensor::now_s;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub enum Load {
    /// Vector FMAs on every core.
    Cpu(Box<Prepared>),
    /// A running command, stopped between bursts.
    Command(Child),
}

impl Load {
    /// Every core busy.
    pub fn cpu() -> Result<Self> {
        let facts = CpuFacts::read();
        let team = Team::new(&facts.cores);
        let bench = Bench::f64_peak(team.len());
        let prepared = bench
            .prepare(&facts, &team)
            .ok_or_else(|| CliError::new("no load could be prepared"))?;
        Ok(Self::Cpu(Box::new(prepared)))
    }

    /// A command that must keep running until it is killed.
    pub fn command(text: &str) -> Result<Self> {
        let command = CommandLine::parse(text)?;
        let mut load = Command::new(&command.program);
        load.args(&command.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        ends_with_us(&mut load);
        let child = load
            .spawn()
            .map_err(|e| CliError::new(format!("the load `{text}` cannot be started: {e}")))?;
        // Its set-up is no load yet.
        std::thread::sleep(Duration::from_secs(2));
        signal(&child, libc::SIGSTOP);
        Ok(Self::Command(child))
    }

    /// Loads the machine for `seconds`.
    pub fn run(&mut self, seconds: f64) {
        match self {
            Load::Cpu(prepared) => {
                prepared.run(seconds);
            }
            Load::Command(child) => {
                let end = now_s() + seconds;
                signal(child, libc::SIGCONT);
                std::thread::sleep(Duration::from_secs_f64((end - now_s()).max(0.0)));
                signal(child, libc::SIGSTOP);
            }
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Load::Command(child) = self {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Has the kernel end the load with this program, however it ends: a stopped process would stay for ever.
fn ends_with_us(load: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt as _;
        // SAFETY: prctl is one system call, which may be made between fork and exec.
        unsafe {
            load.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = load;
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: sends a signal to our own child, which is not yet waited for.
    unsafe { libc::kill(child.id().cast_signed(), signal) };
}
