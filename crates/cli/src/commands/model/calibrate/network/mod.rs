//! `greenup calibrate --network`: messages between ranks, or between the GPUs of this host, and what its cores share.

mod gpus;
mod measured;
mod ranks;

use crate::args::CalibrateArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, print};
use greenup_calibrate::network::Size;
use greenup_files::write;
use greenup_model::machine::{Estimate, Label};
use greenup_model::network::host::Active;
use greenup_model::{Link, Machine, Network};
use greenup_report::provenance::Provenance;
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use measured::{Measured, WithBase, base, idle_power, policy};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
struct NetworkJson<'a> {
    machine: &'a str,
    #[serde(serialize_with = "greenup_app::print::as_lossy")]
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
            Some((base, gpus::between_gpus(args, devices)?))
        }
        None => ranks::between_ranks(args)?,
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
        print::json(&NetworkJson {
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
    if let Some(host) = &m.host {
        let mut host = host.clone();
        for a in &mut host.active {
            a.memory_bytes_per_s = marked(a.memory_bytes_per_s.clone());
            a.cache_bytes_per_s = a.cache_bytes_per_s.take().map(marked);
            a.flops_per_s = a.flops_per_s.take().map(marked);
        }
        machine.host = Some(host);
    }
    machine.facts.insert("network".into(), command.to_owned());
}

fn show(m: &Measured) {
    print::line(print::bold(&format!("Messages between {}", m.between)));
    let columns = |what| {
        Columns::<Size>::new()
            .si(what, "", "B", |s| s.bytes)
            .si("time", "", "s", |s| s.time_s.median)
            .range("interval", "", "s", |s| (s.time_s.lo, s.time_s.hi))
            .si("rate", "", "B/s", |s| s.bytes / s.time_s.median)
    };
    print::table(&columns("message").table("", &m.messages.messages));
    if !m.messages.all_reduces.is_empty() {
        print::line("");
        print::table(&columns("all-reduce").table("", &m.messages.all_reduces));
    }
    if let Some(host) = &m.host {
        let value = |e: &Option<Estimate>| e.as_ref().map(|e| e.value);
        let columns = Columns::<Active>::new()
            .count("active cores", "", |a| a.cores as u64)
            .si("memory", "", "B/s", |a| a.memory_bytes_per_s.value)
            .si("shared cache", "", "B/s", |a| value(&a.cache_bytes_per_s))
            .si("multiply–adds", "", "flop/s", |a| value(&a.flops_per_s));
        print::line("");
        print::table(&columns.table("", &host.active));
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
