//! Messages between the GPUs of this host.

use super::{Measured, idle_power, policy};
use crate::args::CalibrateArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{print, sensors};
use greenup_calibrate::network::peers::Pair;
use greenup_calibrate::network::{Messages, host, line};
use greenup_device::cuda::Gpu;
use greenup_device::{CpuFacts, DeviceSpec};

/// Measures them, and the memory that gathers the results of the GPUs.
pub fn between_gpus(args: &CalibrateArgs, devices: &DeviceSpec) -> Result<Measured> {
    let all = Gpu::all()?;
    let numbers = devices.gpus((0, 1), all.len());
    if numbers.len() < 2 || !devices.repeated().is_empty() {
        return Err(AppError::new(format!(
            "--device {devices}: messages between GPUs need two of them, and this host has {}",
            all.len()
        ))
        .hint("name two, as cuda:0,1; ranks send messages without a GPU (--ranks 2)"));
    }
    let gpu = |n: &usize| {
        all.get(*n).ok_or_else(|| {
            AppError::new(format!("there is no GPU {n}"))
                .hint(format!("there are {}, counted from 0", all.len()))
        })
    };
    let bars = Bars::new();
    let mut messages = Vec::new();
    let mut idle = None;
    let mut energy = None;
    let mut without_energy = None;
    let mut sensor = None;
    let first = gpu(&numbers[0])?;
    for other in &numbers[1..] {
        let other = gpu(other)?;
        let pair = Pair::open(first.ordinal, other.ordinal)?;
        if !pair.direct {
            print::warn(format!(
                "GPUs {} and {} do not reach each other: copies go through the host",
                first.ordinal, other.ordinal
            ));
        }
        messages.extend(pair.messages(args.quick, &bars)?);
        if energy.is_some() || without_energy.is_some() {
            continue;
        }
        // Each board is measured while copies run, and while both are idle.
        let (mut idle_w, mut sent_j) = (Vec::new(), 0.0);
        for board in [first, other] {
            let target = sensors::on_gpu(board)?;
            let chosen = sensors::sensors(args.sensor.sensor.as_deref(), target, 0.5)?;
            let missing = chosen.missing.clone();
            let mut meter = chosen.meter(policy(args.quick));
            if !meter.has_energy() {
                without_energy = Some(missing.unwrap_or_else(|| "no sensor was asked for".into()));
                break;
            }
            sensor = meter.main_sensor().map(str::to_owned);
            let Some(rest) = idle_power(&mut meter, &bars) else {
                break;
            };
            let busy = meter.measure(&bars, &mut |s| pair.copy_for(s))?;
            let Some(m) = busy else {
                return Err(AppError::interrupted("interrupted"));
            };
            idle_w.push(rest);
            sent_j += m.power_w.map_or(0.0, |w| (w.median - rest).max(0.0)) * m.time_s.median;
        }
        if idle_w.len() == 2 {
            idle = Some(0.5 * (idle_w[0] + idle_w[1]));
            energy = Some(sent_j);
        }
    }
    let messages = Messages {
        ranks: numbers.len(),
        messages,
        all_reduces: Vec::new(),
    };
    let facts = CpuFacts::read();
    let host = host::measure(&facts, facts.cores.len(), args.quick, &bars);
    Ok(Measured {
        between: format!("{} GPUs, {}", numbers.len(), first.name),
        one_host: true,
        fit: line(&messages.messages)?,
        all_reduce_stage_s: None,
        idle_power_w: idle,
        energy_j_per_byte: energy,
        without_energy,
        sensor,
        host,
        messages,
    })
}
