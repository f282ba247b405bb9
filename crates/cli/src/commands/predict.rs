//! `greenup predict`.

use crate::args::PredictArgs;
use crate::error::{CliError, Result};
use crate::{lookup, out};
use greenup_model::{Machine, Work, predict};
use greenup_report::si::{percent, si};
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    machine: &'a str,
    label: &'static str,
    #[serde(flatten)]
    prediction: greenup_model::Prediction,
}

pub fn run(args: &PredictArgs) -> Result {
    let mut machine: Machine = lookup::machine(&args.machine)?;
    if let Some(watts) = args.cap {
        machine = machine.power_bounded(watts).map_err(|e| {
            CliError::new(e.to_string()).hint("--cap is the total power of one node")
        })?;
    }
    if let Some(nodes) = args.nodes {
        machine = machine.cluster(nodes)?;
    }
    let mut work = Work::new();
    for &(op, count) in &args.ops {
        work.add(op, count)?;
    }
    if work.is_empty() {
        return Err(CliError::new("the work is empty: every count is 0"));
    }
    let p = predict(&machine, &work)?;
    if args.json {
        return out::json(&Answer {
            machine: &machine.name,
            label: machine.label.name(),
            prediction: p,
        });
    }
    out::line(format!(
        "{} ({} numbers)",
        out::bold(&machine.title),
        machine.label.name()
    ));
    let interval =
        |(lo, hi): (f64, f64), unit: &str| format!("[{} … {}]", si(lo, unit), si(hi, unit));
    out::line(format!(
        "  time    {:>12}  {}",
        si(p.time_s, "s"),
        interval(p.time_interval_s, "s")
    ));
    match (p.energy_j, p.power_w, p.energy_interval_j) {
        (Some(e), Some(w), Some(i)) => {
            out::line(format!(
                "  energy  {:>12}  {}",
                si(e, "J"),
                interval(i, "J")
            ));
            out::line(format!("  power   {:>12}", si(w, "W")));
            let mut parts: Vec<String> = p
                .energy_by_op_j
                .iter()
                .map(|(op, v)| format!("{op} {}", percent(v / e)))
                .collect();
            if let Some(c) = p.constant_energy_j {
                parts.push(format!("constant power {}", percent(c / e)));
            }
            out::line(format!("  energy is {}", parts.join(", ")));
        }
        _ => {
            let names: Vec<&str> = p.ops_without_energy.iter().map(|op| op.name()).collect();
            out::line(format!(
                "  energy  unknown: this machine has no energy cost for {}",
                if names.is_empty() {
                    "constant power".to_owned()
                } else {
                    names.join(", ")
                }
            ));
        }
    }
    out::line(format!("  bound by {}", p.bound));
    Ok(())
}
