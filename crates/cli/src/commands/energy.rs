//! `greenup energy`: the energy between two times of a power log.

use crate::args::EnergyArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_meter::sensors::external::log::{
    DeviceLog, Energy, LogError, Moment, MomentError, NoLogEnergy, Options, energy, read,
};
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use serde::Serialize;
use std::collections::BTreeSet;

/// The energy of one device in one region.
#[derive(Clone, Serialize)]
struct Row {
    /// Name of the region; absent where there is one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    /// The device as the log has it; absent where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    time_s: f64,
    #[serde(flatten)]
    energy: Energy,
}

pub fn run(args: &EnergyArgs) -> Result {
    let options = Options {
        columns: args.columns.clone(),
        power: args.power.clone(),
        every_s: args.every,
        device: args.device.clone(),
    };
    let logs = read(&args.log, &options).map_err(unread)?;
    let notes: BTreeSet<&String> = logs.iter().flat_map(|l| &l.notes).collect();
    for note in notes {
        print::warn(format!("{}: {note}", args.log.display()));
    }
    if args.device.is_some() && logs.iter().all(|l| l.device.is_none()) {
        return Err(AppError::new(format!(
            "--device has no effect: {} does not say of which GPU its lines are",
            args.log.display()
        ))
        .hint("leave it out, or name the columns with --columns timestamp,index,power.draw"));
    }
    let regions: Vec<(Option<&str>, Option<Moment>, Option<Moment>)> = if args.regions.is_empty() {
        vec![(None, args.from, args.to)]
    } else {
        (args.regions.iter())
            .map(|r| (Some(r.name.as_str()), Some(r.from), Some(r.to)))
            .collect()
    };
    for (i, (name, ..)) in regions.iter().enumerate() {
        if let Some(name) = name.filter(|n| regions[..i].iter().any(|(o, ..)| *o == Some(n))) {
            return Err(AppError::new(format!("two regions are called {name}"))
                .hint("give each --region a name of its own"));
        }
    }
    let moments = || (regions.iter()).flat_map(|(_, from, to)| [from, to].into_iter().flatten());
    let shifted = |m: &Moment| (logs.iter()).any(|l| m.on(l, None) != m.on(l, args.utc_offset));
    if args.utc_offset.is_some() && !moments().any(shifted) {
        return Err(AppError::new(
            "--utc-offset has no effect: no time that was given needs the zone of the log",
        )
        .hint("leave it out, or give times with a zone or seconds since 1970"));
    }
    let mut rows = Vec::new();
    for (name, from, to) in regions {
        for log in &logs {
            rows.push(row(args, log, name, from, to)?);
        }
    }
    if args.json {
        return print::json(&rows);
    }
    show(&rows, &logs);
    Ok(())
}

fn row(
    args: &EnergyArgs,
    log: &DeviceLog,
    name: Option<&str>,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<Row> {
    let on = |m: Option<Moment>| -> Result<Option<f64>> {
        let at = m.map(|m| m.on(log, args.utc_offset)).transpose();
        at.map_err(|e: MomentError| AppError::new(format!("{}: {e}", args.log.display())))
    };
    let e = energy(log, on(from)?, on(to)?).map_err(|e| {
        let of = (name.map(|n| format!("region {n}: ")).into_iter())
            .chain(log.device.as_ref().map(|d| format!("device {d}: ")))
            .collect::<String>();
        let out = AppError::new(format!("{}: {of}{e}", args.log.display()));
        match e {
            NoLogEnergy::Paused { .. } => {
                out.hint("choose times before or after the pause with --from and --to")
            }
            NoLogEnergy::Fell { .. } => {
                out.hint("choose times before or after the fall with --from and --to")
            }
            NoLogEnergy::NotReached { .. } | NoLogEnergy::Empty => {
                out.hint("without --from and --to the energy is that of the whole log")
            }
        }
    })?;
    Ok(Row {
        region: name.map(str::to_owned),
        device: log.device.clone(),
        time_s: e.to_s - e.from_s,
        energy: e,
    })
}

fn unread(e: LogError) -> AppError {
    let hint = match &e {
        LogError::NoTimes(_) => {
            "name the time between them with --every, as `nvidia-smi dmon -d 1` has 1s; or log with `nvidia-smi dmon -o DT`"
        }
        LogError::HasTimes(_) => "leave it out",
        LogError::NoDevice { .. } => "--device names one as the log does",
        LogError::Read { .. } => return AppError::new(e.to_string()),
        LogError::Line { .. } | LogError::TooFew { .. } => {
            "a log is lines of times and powers: `nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -lms 100`; without a header, --columns names the columns"
        }
    };
    AppError::new(e.to_string()).hint(hint)
}

fn show(rows: &[Row], logs: &[DeviceLog]) {
    let names = rows.iter().any(|r| r.region.is_some());
    let devices = logs.iter().any(|l| l.device.is_some());
    let columns = Columns::<Row>::new()
        .and_if(names, |all| {
            all.text("region", "", |r| r.region.clone().unwrap_or_default())
        })
        .and_if(devices, |all| {
            all.text("GPU", "", |r| r.device.clone().unwrap_or_default())
        })
        .si("time", "", "s", |r| r.time_s)
        .si("energy", "", "J", |r| r.energy.energy_j)
        .text("±", "", |r| si(r.energy.error_j, "J"))
        .si("mean power", "", "W", |r| r.energy.power_w)
        .si("least", "", "W", |r| r.energy.least_w)
        .si("greatest", "", "W", |r| r.energy.greatest_w)
        .count("samples", "", |r| r.energy.samples as u64);
    print::table(&columns.table("", rows));
    if logs.len() > 1 {
        let mut done: Vec<&Option<String>> = Vec::new();
        for r in rows {
            if done.contains(&&r.region) {
                continue;
            }
            done.push(&r.region);
            let own = || {
                rows.iter()
                    .filter(|o| o.region == r.region)
                    .map(|o| &o.energy)
            };
            let times = rows.iter().filter(|o| o.region == r.region);
            let times = || times.clone().map(|o| o.time_s);
            let (least, greatest) = (
                times().fold(f64::INFINITY, f64::min),
                times().fold(0.0, f64::max),
            );
            if greatest > 1.01 * least {
                print::warn(format!(
                    "the times that are added differ, from {} to {}: --from and --to give all the same",
                    si(least, "s"),
                    si(greatest, "s")
                ));
            }
            let error = own().map(|e| e.error_j.powi(2)).sum::<f64>().sqrt();
            let of = r
                .region
                .as_ref()
                .map(|n| format!("{n}, "))
                .unwrap_or_default();
            print::line(format!(
                "{of}all {} together: {} ± {}",
                logs.len(),
                si(own().map(|e| e.energy_j).sum(), "J"),
                si(error, "J")
            ));
        }
    }
    print::line(match logs.iter().find_map(|l| l.gain_error) {
        Some(share) => format!(
            "± is the 95 % interval of what lies between samples and at both ends; the sensor itself may be off by {} more",
            percent(share)
        ),
        None => "± is the 95 % interval of what lies between samples and at both ends; the meter's own error is not in it".to_owned(),
    });
}
