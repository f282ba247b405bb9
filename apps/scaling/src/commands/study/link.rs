//! The link between the devices, by which scaling is predicted.

use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, machine, print, programs};
use greenup_device::CpuFacts;
use greenup_model::Machine;
use greenup_model::machine::Label;
use greenup_process::capture::output;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A measurement that takes longer is killed.
const LIMIT: Duration = Duration::from_secs(300);

/// A machine with the link between so many GPUs, or ranks where there are none, and where the link comes from: from the machine
/// that the user names, else from a measurement.
pub fn link(
    named: Option<Machine>,
    (gpus, most): (&[usize], usize),
    temporary: &Path,
) -> (Machine, String) {
    let (machine, from) = match named {
        Some(m) => {
            let from = format!("of {}", m.name);
            (m, from)
        }
        None if most < 2 => (none(), "none".into()),
        None => measured(gpus, most, temporary),
    };
    if machine.link.is_none() && most > 1 {
        print::warn("without a link the predicted messages cost nothing");
    }
    (machine, from)
}

fn none() -> Machine {
    Machine::without_constants("this-host".into(), CpuFacts::read().model, Label::Measured)
}

/// By `greenup calibrate --network`; a machine without a link if that fails.
fn measured(gpus: &[usize], most: usize, temporary: &Path) -> (Machine, String) {
    let file = temporary.join("link.toml");
    let run = || -> Result<Machine> {
        let mut command = Command::new(programs::needed("greenup")?);
        command.args(["calibrate", "--network", "--quick", "-q", "-o"]);
        command.arg(&file);
        match gpus {
            [] => command.args(["--sensor", "none", "--ranks", &most.to_string()]),
            all => {
                let some: Vec<String> = all.iter().take(most).map(usize::to_string).collect();
                command.args(["--device", &format!("cuda:{}", some.join(","))])
            }
        };
        let out = output(&mut command, LIMIT, &interrupt::requested)?;
        if out.success() {
            Ok(machine::read(&file)?)
        } else {
            let last = out.stderr.lines().find(|l| l.starts_with("error:"));
            Err(AppError::new(last.unwrap_or("it did not end")))
        }
    };
    match run() {
        Ok(m) => (
            m,
            "measured by `greenup calibrate --network --quick`".into(),
        ),
        Err(e) => {
            print::warn(format!("the link is not measured: {}", e.message));
            (none(), "not measured".into())
        }
    }
}
