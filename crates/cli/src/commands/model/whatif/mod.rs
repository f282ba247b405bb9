//! `greenup whatif`.

mod cap;
mod tradeoff;
mod view;

use crate::args::{Intensities, Question, WhatifArgs};
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, print};
use greenup_model::EnergyRoofline;
use greenup_model::refined::{Instruction, refined_peak};
use greenup_report::si::{si, three};
use greenup_report::table::Columns;
use serde_json::{Value, json};
use view::view;

pub fn run(args: &WhatifArgs) -> Result {
    match &args.question {
        Question::Throttle { machine, k, at } => throttle(args, machine, k, &at.intensity.0),
        Question::Schedule {
            machine,
            watts,
            intensity,
            out,
            look,
        } => cap::schedule(args, machine, *watts, intensity, out.as_deref(), look),
        Question::NoThrottle { machine, intensity } => {
            let range = intensity.as_ref().map(Intensities::span);
            cap::no_throttle(args, machine, range)
        }
        Question::Bound {
            machine,
            watts,
            against,
            at,
        } => bound(args, machine, *watts, against.as_deref(), &at.intensity.0),
        Question::Cluster {
            machine,
            of,
            nodes,
            at,
        } => cluster(args, machine, of, *nodes, &at.intensity.0),
        Question::Tradeoff {
            machine,
            intensity,
            work,
            traffic,
        } => tradeoff::tradeoff(args, machine, &intensity.0, (*work, *traffic)),
        Question::Streaming => streaming(args),
        Question::Refined {
            instructions,
            lanes,
            cores,
            clock,
        } => refined(args, instructions, *lanes, *cores, *clock),
    }
}

fn positive(values: &[(&str, f64)]) -> Result {
    match values.iter().find(|(_, v)| !v.is_finite() || *v <= 0.0) {
        Some((flag, v)) => Err(AppError::new(format!("{flag} {v}: give a positive number"))),
        None => Ok(()),
    }
}

/// Speed, power and efficiency of `new` over `old` at some intensities.
fn ratios(old: &EnergyRoofline, new: &EnergyRoofline, intensity: &[f64]) -> Vec<[f64; 6]> {
    intensity
        .iter()
        .map(|&i| {
            [
                i,
                1.0 / new.time_per_flop(i),
                new.power(i),
                1.0 / new.energy_per_flop(i),
                old.time_per_flop(i) / new.time_per_flop(i),
                old.energy_per_flop(i) / new.energy_per_flop(i),
            ]
        })
        .collect()
}

/// A case with one of its ratios.
type Row = (String, [f64; 6]);

fn rows<'a>(name: &'a str, ratios: &'a [[f64; 6]]) -> impl Iterator<Item = Row> + use<'a> {
    ratios.iter().map(|r| (name.to_owned(), *r))
}

fn print_ratios(rows: impl IntoIterator<Item = Row>) {
    let columns = Columns::<Row>::new()
        .text("", "", |r| r.0.clone())
        .three("flop/B", "", |r| r.1[0])
        .si("speed", "", "flop/s", |r| r.1[1])
        .si("power", "", "W", |r| r.1[2])
        .detail()
        .si("efficiency", "", "flop/J", |r| r.1[3])
        .text("speedup", "", |r| format!("{:.3}", r.1[4]))
        .text("greenup", "", |r| format!("{:.3}", r.1[5]));
    print::table(&columns.table("", rows));
}

fn ratio_json(name: &str, ratios: &[[f64; 6]]) -> Vec<Value> {
    ratios
        .iter()
        .map(|[i, f, w, e, s, g]| {
            json!({ "case": name, "intensity": i, "flops_per_s": f, "power_w": w,
                    "flops_per_j": e, "speedup": s, "greenup": g })
        })
        .collect()
}

fn throttle(args: &WhatifArgs, machine: &str, ks: &[f64], intensity: &[f64]) -> Result {
    let m = machine::load(machine)?;
    let base = view(args, &m)?;
    let (mut all, mut values) = (Vec::new(), Vec::new());
    for &k in ks {
        let new = view(args, &m.throttled(k)?)?;
        let r = ratios(&base, &new, intensity);
        let name = format!("Δπ/{}", three(k));
        all.extend(rows(&name, &r));
        values.extend(ratio_json(&name, &r));
    }
    if args.json {
        return print::json(&values);
    }
    print::line(format!(
        "{} with its usable power cut; ratios against no cut",
        m.title
    ));
    print_ratios(all);
    Ok(())
}

fn bound(
    args: &WhatifArgs,
    machine: &str,
    watts: f64,
    against: Option<&str>,
    intensity: &[f64],
) -> Result {
    let m = machine::load(machine)?;
    let bounded = m.power_bounded(watts)?;
    let base = view(args, &m)?;
    let new = view(args, &bounded)?;
    let r = ratios(&base, &new, intensity);
    let name = format!("{} at {}", m.name, si(watts, "W"));
    let mut all: Vec<Row> = rows(&name, &r).collect();
    let mut values = ratio_json(&bounded.name, &r);
    if let Some(small) = against {
        let s = machine::load(small)?;
        let n = (watts / s.max_power()?).floor();
        if n < 1.0 {
            return Err(AppError::new(format!(
                "one `{}` draws up to {}, more than the bound of {}",
                s.name,
                si(s.max_power()?, "W"),
                si(watts, "W")
            ))
            .hint("raise --watts, or name a smaller machine with --against"));
        }
        let r = ratios(&new, &view(args, &s.cluster(n)?)?, intensity);
        let name = format!("{n} × {}", s.name);
        all.extend(rows(&name, &r));
        values.extend(ratio_json(&name, &r));
    }
    if args.json {
        return print::json(&values);
    }
    print::line(format!(
        "{} bounded to {}; its ratios against no bound, the cluster's against the bounded machine",
        m.title,
        si(watts, "W")
    ));
    print_ratios(all);
    Ok(())
}

fn cluster(
    args: &WhatifArgs,
    big: &str,
    small: &str,
    nodes: Option<f64>,
    intensity: &[f64],
) -> Result {
    let (b, s) = (machine::load(big)?, machine::load(small)?);
    let exact = s.nodes_for_power_of(&b)?;
    let n = nodes.unwrap_or_else(|| exact.round().max(1.0));
    let r = ratios(&view(args, &b)?, &view(args, &s.cluster(n)?)?, intensity);
    if args.json {
        return print::json(&json!({ "nodes": n, "iso_power_nodes": exact,
            "points": ratio_json(&s.name, &r) }));
    }
    print::line(format!(
        "{} × {} against {} ({:.1} nodes draw its maximum power); no network",
        n, s.name, b.name, exact
    ));
    print_ratios(rows(&format!("{n} × {}", s.name), &r));
    Ok(())
}

fn streaming(args: &WhatifArgs) -> Result {
    let mut found: Vec<(String, f64, f64, f64)> = machine::all()?
        .iter()
        .filter_map(|m| {
            let r = view(args, m).ok()?;
            Some((
                m.name.clone(),
                r.streaming_energy(),
                r.pi0 * r.tau_mem / r.streaming_energy(),
                m.constant_share().ok()?,
            ))
        })
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    if args.json {
        let values: Vec<Value> = found
            .iter()
            .map(|(n, e, c, p)| {
                json!({ "machine": n, "energy_j_per_b": e, "constant_part": c, "constant_share": p })
            })
            .collect();
        return print::json(&values);
    }
    let columns = Columns::<(String, f64, f64, f64)>::new()
        .text("machine", "", |r| r.0.clone())
        .si("streaming", "", "J/B", |r| r.1)
        .percent("of it constant", "", |r| r.2)
        .percent("π₀/(π₀+Δπ)", "", |r| r.3);
    print::table(&columns.table("", found));
    Ok(())
}

fn refined(args: &WhatifArgs, mix: &[String], lanes: f64, cores: f64, clock: f64) -> Result {
    positive(&[("--lanes", lanes), ("--cores", cores)])?;
    let mix: Vec<Instruction> = mix
        .iter()
        .map(|text| {
            instruction(text).ok_or_else(|| {
                AppError::new(format!("invalid instruction `{text}`")).hint(
                    "give name=count:flops:lanes per cycle[:co-issued lanes], like rsqrt=1:1:4:16",
                )
            })
        })
        .collect::<Result<_>>()?;
    let p = refined_peak(&mix, lanes, cores, clock);
    if args.json {
        return print::json(&p);
    }
    print::line(format!("  cycles               {}", three(p.cycles)));
    print::line(format!(
        "  instructions/cycle   {}",
        three(p.instructions_per_cycle)
    ));
    print::line(format!(
        "  flops/cycle          {}",
        three(p.flops_per_cycle)
    ));
    print::line(format!(
        "  refined peak         {}",
        si(p.flops_per_second, "flop/s")
    ));
    Ok(())
}

fn instruction(text: &str) -> Option<Instruction> {
    let (name, numbers) = text.split_once('=')?;
    let v: Vec<f64> = numbers
        .split(':')
        .map(|x| x.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0))
        .collect::<Option<_>>()?;
    let (count, flops, lanes, co) = match v[..] {
        [c, f, l] => (c, f, l, 0.0),
        [c, f, l, co] => (c, f, l, co),
        _ => return None,
    };
    (count > 0.0 && lanes > 0.0).then(|| Instruction {
        name: name.to_owned(),
        count,
        flops,
        lanes_per_cycle: lanes,
        co_issued_lanes: co,
    })
}
