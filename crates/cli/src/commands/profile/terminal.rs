//! A profile on the terminal.

use crate::args::ProfileArgs;
use greenup_app::error::Result;
use greenup_app::print;
use greenup_profile::attribution::{GpuProfile, Row};
use greenup_profile::page::{cpu_counts, sums};
use greenup_profile::{Profile, Recorded};
use greenup_report::si::{percent, si};
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
    let optional = |v: Option<f64>, unit: &str| v.map_or_else(|| "-".to_owned(), |v| si(v, unit));
    let all = g.measured_j.or(g.model_j);
    let line = |r: &Row| {
        let energy = g.energy(r);
        vec![
            r.name.clone(),
            match r.launches {
                0 => "-".to_owned(),
                n => n.to_string(),
            },
            si(r.share_s, "s"),
            percent(r.share_s / span),
            if r.launches > 0 {
                si(r.median_s, "s")
            } else {
                "-".to_owned()
            },
            optional(energy, "J"),
            energy
                .zip(all)
                .map_or_else(|| "-".to_owned(), |(j, a)| percent(j / a)),
            optional(r.power_w, "W"),
            r.basis.name().to_owned(),
            r.bound.clone().unwrap_or_else(|| "-".to_owned()),
            r.of_roof.map_or_else(|| "-".to_owned(), percent),
        ]
    };
    let mut rows: Vec<Vec<String>> = g.kernels.iter().take(top).map(line).collect();
    let more = g.kernels.get(top..).unwrap_or_default();
    if !more.is_empty() {
        let mut rest = Row::plain(
            &format!("{} other kernels", more.len()),
            more[0].basis,
            more.iter().map(|r| r.share_s).sum(),
        );
        rest.launches = more.iter().map(|r| r.launches).sum();
        rest.joules = more.iter().map(|r| r.joules).sum();
        rest.model_j = more.iter().map(|r| r.model_j).sum();
        let mut cells = line(&rest);
        for k in [4, 8] {
            cells[k] = "-".to_owned();
        }
        rows.push(cells);
    }
    rows.extend(g.others.iter().map(line));
    print::table(
        &[
            "kernel",
            "launches",
            "time",
            "of time",
            "median",
            "energy",
            "of energy",
            "power",
            "rests on",
            "binds",
            "of roof",
        ],
        rows,
    );
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
