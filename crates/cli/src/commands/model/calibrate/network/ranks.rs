//! Messages between ranks.

use super::{Measured, WithBase, base, idle_power, policy};
use crate::args::CalibrateArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{print, sensors};
use greenup_calibrate::network::{host, line, ping_pong};
use greenup_device::CpuFacts;
use greenup_meter::Observer;
use greenup_meter::observe::Silent;
use greenup_ranks::Ranks;

/// Measures them; only the process of the first rank has a result.
pub fn between_ranks(args: &CalibrateArgs) -> Result<Option<WithBase>> {
    let team = args.ranks.team(2)?;
    if team.size() < 2 {
        return Err(AppError::new("one rank has nobody to send messages to")
            .hint("start two: `mpirun -np 2 greenup calibrate --network`, or --ranks 2"));
    }
    // Find out before measuring, not after.
    let base = if team.has_first() {
        Some(base(args)?)
    } else {
        None
    };
    if team.has_first() {
        print::estimate(
            if args.quick { 5.0 } else { 20.0 },
            format!("messages and all-reduces of {} ranks", team.size()),
        );
    }
    let mut measured = team.run(|ranks| of_ranks(args, &**ranks))?;
    if let Some(m) = measured.as_mut().filter(|m| m.one_host) {
        // The other ranks have ended: they would take cores.
        let facts = CpuFacts::read();
        m.host = host::measure(&facts, facts.cores.len(), args.quick, &Bars::new());
    }
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
        host: None,
        messages,
    }))
}
