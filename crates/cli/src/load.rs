//! A load for sensors to move under: all cores, or a command of the user's.

use crate::error::{CliError, Result};
use greenup_app::process::{Group, OnInterrupt};
use greenup_calibrate::bench::{Bench, Prepared};
use greenup_device::{CpuFacts, Team};
use greenup_meter::command::CommandLine;
use greenup_meter::sensor::now_s;
use std::process::{Command, Stdio};
use std::time::Duration;

pub enum Load {
    /// Vector FMAs on every core.
    Cpu(Box<Prepared>),
    /// A running command, stopped between bursts.
    Command(Group),
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
        let mut process = Command::new(&command.program);
        process
            .args(&command.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let group = Group::spawn(&mut process, OnInterrupt::Keep)
            .map_err(|e| CliError::new(format!("the load `{text}` cannot be started: {e}")))?;
        // Its set-up is no load yet.
        std::thread::sleep(Duration::from_secs(2));
        group.signal(libc::SIGSTOP);
        Ok(Self::Command(group))
    }

    /// Loads the machine for `seconds`.
    pub fn run(&mut self, seconds: f64) {
        match self {
            Load::Cpu(prepared) => {
                prepared.run(seconds);
            }
            Load::Command(group) => {
                let end = now_s() + seconds;
                group.signal(libc::SIGCONT);
                std::thread::sleep(Duration::from_secs_f64((end - now_s()).max(0.0)));
                group.signal(libc::SIGSTOP);
            }
        }
    }
}
