//! A profile on the terminal.

use crate::args::ProfileArgs;
use greenup_app::error::Result;
use greenup_app::print;
use greenup_profile::attribution::{GpuProfile, Row};
use greenup_profile::cpu::Cpu;
use greenup_profile::page::{columns, cpu_counts, sums};
use greenup_profile::{Profile, Recorded};
use greenup_report::si::si;
use greenup_report::table::Cell;
use serde_json::Value;

/// The profile with where it comes from.
pub fn json(profile: &Profile, recorded: &Recorded) -> Result<String> {
    let mut all = serde_json::to_value(profile)?;
    if let Value::Object(keys) = &mut all {
        if !recorded.from_table {
            keys.insert("exit".into(), serde_json::to_value(recorded.exit)?);
            keys.insert("interrupted".into(), recorded.interrupted.into());
        }
        keys.insert("provenance".into(), recorded.provenance.clone());
    }
    Ok(serde_json::to_string_pretty(&all)?)
}

pub fn print(args: &ProfileArgs, profile: &Profile, recorded: &Recorded) -> Result {
    if args.json {
        print::data(json(profile, recorded)?);
        return Ok(());
    }
    for g in &profile.gpus {
        gpu(g, args.top);
    }
    profile.cpu.iter().for_each(cpu);
    for n in &profile.notes {
        print::warn(n);
    }
    Ok(())
}

fn gpu(g: &GpuProfile, top: usize) {
    print::line(print::bold(&format!("{} at {}", g.name, g.bus_id)));
    let more = g.kernels.get(top..).unwrap_or_default();
    let rest = more.first().map(|first| {
        let name = format!("{} other kernels", more.len());
        let time = more.iter().map(|r| r.share_s).sum();
        Row {
            time_s: more.iter().map(|r| r.time_s).sum(),
            launches: more.iter().map(|r| r.launches).sum(),
            joules: more.iter().map(|r| r.joules).sum(),
            model_j: more.iter().map(|r| r.model_j).sum(),
            ..Row::plain(&name, first.basis, time)
        }
    });
    // The energy of the other kernels rests on several things.
    let several = |r: &Row| rest.as_ref().is_some_and(|all| std::ptr::eq(all, r));
    let columns = columns(g)
        .si("median", "", "s", |(_, r)| {
            Some(r.median_s).filter(|s| *s > 0.0)
        })
        .cell("rests on", "", |(_, r)| {
            Cell::known(Some(r.basis.name()).filter(|_| !several(r)))
        });
    let kernels = (g.kernels.iter().take(top).enumerate()).map(|(k, r)| (Some(k), r));
    let others = rest.iter().chain(&g.others).map(|r| (None, r));
    print::table(&columns.table("", kernels.chain(others)));
    print::line(sums(g));
    if let Some(first) = g.kernels.first().filter(|r| !r.advice.is_empty()) {
        print::line(format!("{}: {}", first.name, first.advice));
    }
}

fn cpu(c: &Cpu) {
    let mut text = format!(
        "CPU: {} of wall time, {} in user space, {} in the kernel, {:.2} cores busy",
        si(c.wall_s, "s"),
        si(c.user_s, "s"),
        si(c.system_s, "s"),
        c.cores
    );
    if let Some(j) = c.joules {
        text.push_str(&format!(
            ", {} by {}",
            si(j, "J"),
            c.sensor.as_deref().unwrap_or("?")
        ));
    }
    print::line(text);
    let counts: Vec<String> = (cpu_counts(c).into_iter())
        .map(|(name, v)| format!("{name} {v}"))
        .collect();
    if !counts.is_empty() {
        print::line(counts.join(", "));
    }
    if let Some(why) = &c.counts.missing {
        print::line(format!("No hardware counters: {why}."));
    }
    print::line(&c.advice);
}
