//! `greenup calibrate --network`: messages between ranks, or between the GPUs of this host.

use super::file;
use crate::args::CalibrateArgs;
use greenup_app::args::DeviceSet;
use greenup_app::error::{AppError, Result};
use greenup_app::machine;
use greenup_app::progress::Bars;
use greenup_app::provenance::Provenance;
use greenup_app::{interrupt, print, sensors};
use greenup_calibrate::network::peers::Pair;
use greenup_calibrate::network::{Line, Messages, line, ping_pong};
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_files::{Outputs, write};
use greenup_meter::observe::Silent;
use greenup_meter::{Meter, Observer, Policy, Run};
use greenup_model::machine::{Estimate, Label};
use greenup_model::{Link, Machine, Network};
use greenup_ranks::Ranks;
use greenup_report::si::{percent, si};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was measured and fitted.
#[derive(Serialize)]
struct Measured {
    /// What the messages went between.
    between: String,
    /// Whether all were on this host.
    one_host: bool,
    #[serde(flatten)]
    messages: Messages,
    fit: Line,
    all_reduce_stage_s: Option<Estimate>,
    /// Power of a rank or GPU that waits, W.
    idle_power_w: Option<f64>,
    energy_j_per_byte: Option<f64>,
    /// Why there is no energy.
    without_energy: Option<String>,
    sensor: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    machine: &'a str,
    file: PathBuf,
    #[serde(flatten)]
    measured: &'a Measured,
    provenance: &'a Provenance,
}

pub fn run(args: &CalibrateArgs) -> Result {
    let from = Provenance::of_process();
    let gpus = args.device.as_ref().filter(|d| d.is_gpu());
    if gpus.is_some() && args.ranks.ranks.is_some() {
        return Err(AppError::new(
            "--ranks and --device of GPUs: messages go between one or the other",
        )
        .hint("leave out one of them"));
    }
    let measured = match gpus {
        Some(devices) => {
            greenup_app::ranks::check_alone()?;
            let base = base(args)?;
            Some((base, between_gpus(args, devices)?))
        }
        None => between_ranks(args)?,
    };
    // Other processes leave the rest to the first.
    let Some(((mut machine, path), measured)) = measured else {
        return Ok(());
    };
    let _saving = interrupt::saving();
    add(&mut machine, &measured, &from.command);
    machine.check()?;
    let written = machine
        .to_toml()
        .map_err(AppError::from)
        .and_then(|text| Ok(write(&path, text.as_bytes())?));
    if args.json {
        print::json(&Answer {
            machine: &machine.name,
            file: path.clone(),
            measured: &measured,
            provenance: &from,
        })?;
    } else {
        show(&measured);
    }
    written?;
    print::note(format!("wrote {}", path.display()));
    Ok(())
}

/// The machine that the network is added to, and its file.
fn base(args: &CalibrateArgs) -> Result<(Machine, PathBuf)> {
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
        name: String::new(),
        title: CpuFacts::read().model,
        label: Label::Measured,
        about: "Messages alone; `greenup calibrate` measures operations.".into(),
        sources: Vec::new(),
        facts: BTreeMap::new(),
        warnings: Vec::new(),
        constant_power_w: None,
        usable_power_w: None,
        clock: None,
        network: None,
        link: None,
        host: None,
        cost: BTreeMap::new(),
    });
    if machine.name.is_empty() || args.machine.is_some() {
        machine.name.clone_from(&args.name);
    }
    Ok((machine, path))
}

type WithBase = ((Machine, PathBuf), Measured);

fn between_ranks(args: &CalibrateArgs) -> Result<Option<WithBase>> {
    let team = args.ranks.team(2)?;
    if team.size() < 2 {
        return Err(AppError::new("one rank has nobody to send messages to")
            .hint("start two: `mpirun -np 2 greenup calibrate --network`, or --ranks 2"));
    }
    // Find out before measuring, not after.
    let base = match team.has_first() {
        true => Some(base(args)?),
        false => None,
    };
    if team.has_first() {
        print::estimate(
            if args.quick { 5.0 } else { 20.0 },
            format!("messages and all-reduces of {} ranks", team.size()),
        );
    }
    let measured = team.run(|ranks| of_ranks(args, &**ranks))?;
    Ok(base.zip(measured))
}

/// On the first rank what was measured.
fn of_ranks(args: &CalibrateArgs, ranks: &dyn Ranks) -> Result<Option<Measured>> {
    let first = ranks.rank() == 0;
    let bars = first.then(Bars::new);
    let observer: &dyn Observer = match &bars {
        Some(bars) => bars,
        None => &Silent,
    };
    let messages = ping_pong::measure(ranks, args.quick, observer);
    let one_host = ranks.local().1 == ranks.size();
    // A sensor is looked for while the others wait.
    let mut meter = None;
    let mut missing = None;
    if first {
        let named = args.sensor.sensor.as_deref();
        let chosen = sensors::sensors(named, sensors::Target::Host, 0.5)?;
        missing.clone_from(&chosen.missing);
        let found = chosen.meter(policy(args.quick));
        meter = found.has_energy().then_some(found);
    }
    let mut any = [f64::from(u8::from(meter.is_some()))];
    ranks.max(&mut any);
    let (mut idle, mut energy) = (None, None);
    let sensor = meter
        .as_ref()
        .and_then(|m| m.main_sensor().map(str::to_owned));
    if any[0] > 0.0 {
        idle = meter.as_mut().and_then(|m| idle_power(m, observer));
        let sent = ping_pong::power(ranks, meter.as_mut(), observer);
        energy = idle
            .zip(sent)
            .map(|(idle, (w, rate))| (w - idle).max(0.0) / rate);
    }
    if !first {
        return Ok(None);
    }
    Ok(Some(Measured {
        between: format!(
            "{} ranks{}",
            ranks.size(),
            if one_host { " of one host" } else { "" }
        ),
        one_host,
        fit: line(&messages.messages)?,
        all_reduce_stage_s: messages.stage_s(),
        idle_power_w: idle.map(|w| w / ranks.local().1 as f64),
        energy_j_per_byte: energy,
        without_energy: missing,
        sensor,
        messages,
    }))
}

fn policy(quick: bool) -> Policy {
    match quick {
        true => Policy::quick(),
        false => Policy {
            max_repeats: 7,
            ..Policy::thorough()
        },
    }
}

/// Power of a device that does nothing, W.
fn idle_power(meter: &mut Meter, observer: &dyn Observer) -> Option<f64> {
    let sleeps = &mut |seconds| {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
        Ok::<_, std::convert::Infallible>(Run {
            iterations: 1.0,
            seconds,
        })
    };
    Some(meter.measure(observer, sleeps).ok()??.power_w?.median)
}

fn between_gpus(args: &CalibrateArgs, devices: &DeviceSet) -> Result<Measured> {
    let all = Gpu::all()?;
    let numbers = match devices {
        DeviceSet::Gpu => vec![0],
        other => other.gpus((0, 1), all.len()),
    };
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
    Ok(Measured {
        between: format!("{} GPUs, {}", numbers.len(), first.name),
        one_host: true,
        fit: line(&messages.messages)?,
        all_reduce_stage_s: None,
        idle_power_w: idle,
        energy_j_per_byte: energy,
        without_energy,
        sensor,
        messages,
    })
}

/// Adds what was measured to a machine: as its network, or as the link of the devices of a host.
fn add(machine: &mut Machine, m: &Measured, command: &str) {
    let source = format!("{}: {command}", m.between);
    let marked = |e: Estimate| Estimate {
        label: Some(Label::Measured),
        source: Some(source.clone()),
        ..e
    };
    let single = |v: Option<f64>| v.map(|v| marked(Estimate::new(v)));
    let latency_s = marked(m.fit.latency_s.clone());
    let bandwidth_bytes_per_s = marked(m.fit.bandwidth_bytes_per_s.clone());
    let all_reduce_stage_s = m.all_reduce_stage_s.clone().map(marked);
    if m.one_host {
        machine.link = Some(Link {
            latency_s,
            bandwidth_bytes_per_s,
            energy_j_per_byte: single(m.energy_j_per_byte),
            idle_power_w: single(m.idle_power_w),
            all_reduce_stage_s,
        });
    } else {
        let devices_per_node = machine.devices_per_node();
        machine.network = Some(Network {
            latency_s,
            bandwidth_bytes_per_s,
            energy_j_per_byte: single(m.energy_j_per_byte),
            idle_power_w: single(m.idle_power_w.map(|w| w * devices_per_node as f64)),
            all_reduce_stage_s,
            devices_per_node,
        });
    }
    machine.facts.insert("network".into(), command.to_owned());
}

fn show(m: &Measured) {
    print::line(print::bold(&format!("Messages between {}", m.between)));
    let rows = |sizes: &[greenup_calibrate::network::Size]| {
        sizes
            .iter()
            .map(|s| {
                let t = &s.time_s;
                vec![
                    si(s.bytes, "B"),
                    si(t.median, "s"),
                    format!("{} … {}", si(t.lo, "s"), si(t.hi, "s")),
                    si(s.bytes / t.median, "B/s"),
                ]
            })
            .collect()
    };
    print::table(
        &["message", "time", "interval", "rate"],
        rows(&m.messages.messages),
    );
    if !m.messages.all_reduces.is_empty() {
        print::line("");
        print::table(
            &["all-reduce", "time", "interval", "rate"],
            rows(&m.messages.all_reduces),
        );
    }
    let interval = |e: &Estimate, unit: &str| {
        format!(
            "{}  [{} … {}]",
            si(e.value, unit),
            si(e.low(), unit),
            si(e.high(), unit)
        )
    };
    print::line("");
    print::line(format!("latency      {}", interval(&m.fit.latency_s, "s")));
    print::line(format!(
        "bandwidth    {}",
        interval(&m.fit.bandwidth_bytes_per_s, "B/s")
    ));
    print::line(format!(
        "α + n/β misses a size by {} at most",
        percent(m.fit.worst)
    ));
    if let Some(s) = &m.all_reduce_stage_s {
        print::line(format!("all-reduce   {} a stage", interval(s, "s")));
    }
    if let Some(w) = m.idle_power_w {
        print::line(format!("idle power   {}", si(w, "W")));
    }
    match (m.energy_j_per_byte, &m.without_energy) {
        (Some(e), _) => print::line(format!("energy       {}", si(e, "J/B"))),
        (None, Some(why)) => print::note(format!("no energy of a byte: {why}")),
        (None, None) => {}
    }
}
