//! A profile on the terminal.

use crate::args::ProfileArgs;
use greenup_app::error::Result;
use greenup_app::print;
use greenup_profile::attribution::{GpuProfile, Row};
use greenup_profile::page::{cpu_counts, sums};
use greenup_profile::{Profile, Recorded};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns};
use serde_json::Value;

/// The profile with where it comes from.
pub fn json(profile: &Profile, recorded: &Recorded) -> Result<String> {
    let mut all = serde_json::to_value(profile)?;
    if let Value::Object(keys) = &mut all {
        keys.insert("exit".into(), serde_json::to_value(recorded.exit)?);
        keys.insert("interrupted".into(), recorded.interrupted.into());
        keys.insert("provenance".into(), recorded.provenance.clone());
    }
    Ok(serde_json::to_string_pretty(&all)?)
}

pub fn print(args: &ProfileArgs, profile: &Profile, recorded: &Recorded) -> Result {
    if args.json {
        print::line(json(profile, recorded)?);
        return Ok(());
    }
    for g in &profile.gpus {
        gpu(g, args.top);
    }
    cpu(profile);
    for n in &profile.notes {
        print::warn(n);
    }
    Ok(())
}

fn gpu(g: &GpuProfile, top: usize) {
    print::line(print::bold(&format!("{} at {}", g.name, g.bus_id)));
    let span = (g.busy_s + g.gap_s).max(1e-12);
    let all = g.measured_j.or(g.model_j);
    let count = |r: &Row| Some(r.launches as f64).filter(|n| *n > 0.0);
    let more = g.kernels.get(top..).unwrap_or_default();
    let rest = more.first().map(|first| {
        let name = format!("{} other kernels", more.len());
        let time = more.iter().map(|r| r.share_s).sum();
        Row {
            launches: more.iter().map(|r| r.launches).sum(),
            joules: more.iter().map(|r| r.joules).sum(),
            model_j: more.iter().map(|r| r.model_j).sum(),
            ..Row::plain(&name, first.basis, time)
        }
    });
    // A row with what its energy rests on: that of the other kernels rests on several things.
    let columns = Columns::<(&Row, &str)>::new()
        .text("kernel", "", |(r, _)| r.name.clone())
        .cell("launches", "", |(r, _)| {
            Cell::shown(count(r), |n| n.to_string())
        })
        .si("time", "", "s", |(r, _)| r.share_s)
        .percent("of time", "", |(r, _)| r.share_s / span)
        .si("median", "", "s", |(r, _)| {
            Some(r.median_s).filter(|s| *s > 0.0)
        })
        .si("energy", "", "J", |(r, _)| g.energy(r))
        .percent("of energy", "", |(r, _)| {
            g.energy(r).zip(all).map(|(j, a)| j / a)
        })
        .si("power", "", "W", |(r, _)| r.power_w)
        .text("rests on", "", |(_, basis)| (*basis).to_owned())
        .cell("binds", "", |(r, _)| Cell::known(r.bound.as_ref()))
        .percent("of roof", "", |(r, _)| r.of_roof);
    fn with_basis(r: &Row) -> (&Row, &str) {
        (r, r.basis.name())
    }
    let kernels = g.kernels.iter().take(top).map(with_basis);
    let rows = kernels
        .chain(rest.as_ref().map(|r| (r, "–")))
        .chain(g.others.iter().map(with_basis));
    print::table(&columns.table("", rows));
    print::line(sums(g));
    if let Some(first) = g.kernels.first().filter(|r| !r.advice.is_empty()) {
        print::line(format!("{}: {}", first.name, first.advice));
    }
}

fn cpu(profile: &Profile) {
    let c = &profile.cpu;
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
