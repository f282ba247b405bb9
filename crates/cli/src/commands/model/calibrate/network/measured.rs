//! What was measured of a network, and with which machine it goes.

use crate::args::CalibrateArgs;
use crate::commands::model::calibrate::file;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, sensors};
use greenup_calibrate::network::{Line, Messages};
use greenup_device::CpuFacts;
use greenup_files::Outputs;
use greenup_meter::{Meter, Observer, Policy, Run};
use greenup_model::Machine;
use greenup_model::machine::{Estimate, Label};
use greenup_model::network::Host;
use serde::Serialize;
use std::path::PathBuf;

/// What was measured and fitted.
#[derive(Serialize)]
pub(super) struct Measured {
    /// What the messages went between.
    pub(super) between: String,
    /// Whether all were on this host.
    pub(super) one_host: bool,
    #[serde(flatten)]
    pub(super) messages: Messages,
    pub(super) fit: Line,
    pub(super) all_reduce_stage_s: Option<Estimate>,
    /// Power of a rank or GPU that waits, W.
    pub(super) idle_power_w: Option<f64>,
    pub(super) energy_j_per_byte: Option<f64>,
    /// Why there is no energy.
    pub(super) without_energy: Option<String>,
    pub(super) sensor: Option<String>,
    /// What the cores of the host share.
    pub(super) host: Option<Host>,
}

/// The machine that the network is added to, and its file.
pub(super) fn base(args: &CalibrateArgs) -> Result<(Machine, PathBuf)> {
    if args.out.is_none() && args.name.contains('/') {
        return Err(
            AppError::new(format!("invalid name of a machine: `{}`", args.name))
                .hint("a name has no `/`; --out names the file"),
        );
    }
    let path = file(args);
    let mut outputs = Outputs::new();
    sensors::input(args.sensor.sensor.as_deref(), &mut outputs);
    let known = match &args.machine {
        Some(name) => Some(machine::load(name)?),
        None if path.exists() => Some(machine::read(&path)?),
        None => None,
    };
    outputs.file(&path, &["toml"])?;
    let mut machine = known.unwrap_or_else(|| Machine {
        about: "Messages alone; `greenup calibrate` measures operations.".into(),
        ..Machine::without_constants(String::new(), CpuFacts::read().model, Label::Measured)
    });
    if machine.name.is_empty() || args.machine.is_some() {
        machine.name.clone_from(&args.name);
    }
    Ok((machine, path))
}

pub(super) type WithBase = ((Machine, PathBuf), Measured);

pub(super) fn policy(quick: bool) -> Policy {
    if quick {
        Policy::quick()
    } else {
        Policy {
            max_repeats: 7,
            ..Policy::thorough()
        }
    }
}

/// Power of a device that does nothing, W.
pub(super) fn idle_power(meter: &mut Meter, observer: &dyn Observer) -> Option<f64> {
    let sleeps = &mut |seconds| {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
        Ok::<_, std::convert::Infallible>(Run {
            iterations: 1.0,
            seconds,
        })
    };
    Some(meter.measure(observer, sleeps).ok()??.power_w?.median)
}
