//! `greenup predict`.

use crate::args::PredictArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, print};
use greenup_model::{ClockedPrediction, Machine, Work, predict, predict_clocked};
use greenup_report::si::{percent, si};
use greenup_tune::analyze::counted;
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    machine: &'a str,
    label: &'static str,
    #[serde(flatten)]
    prediction: greenup_model::Prediction,
    /// With the clock giving way to the cap, where the machine tells how.
    #[serde(skip_serializing_if = "Option::is_none")]
    clocked: Option<ClockedPrediction>,
}

pub fn run(args: &PredictArgs) -> Result {
    let mut machine: Machine = machine::load(&args.machine)?;
    if let Some(dir) = &args.from_counters {
        return from_counters(dir, &machine, args.json);
    }
    if let Some(watts) = args.cap {
        machine = machine.power_bounded(watts).map_err(|e| {
            AppError::new(e.to_string()).hint("--cap is the total power of one node")
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
        return Err(AppError::new("the work is empty: every count is 0"));
    }
    let p = predict(&machine, &work)?;
    let clocked = machine
        .clock
        .as_ref()
        .and_then(|_| predict_clocked(&machine, &work).ok());
    if args.json {
        return print::json(&Answer {
            machine: &machine.name,
            label: machine.label.name(),
            prediction: p,
            clocked,
        });
    }
    print::line(format!(
        "{} ({} numbers)",
        print::bold(&machine.title),
        machine.label.name()
    ));
    let interval =
        |(lo, hi): (f64, f64), unit: &str| format!("[{} … {}]", si(lo, unit), si(hi, unit));
    print::line(format!(
        "  time    {:>12}  {}",
        si(p.time_s, "s"),
        interval(p.time_interval_s, "s")
    ));
    match (p.energy_j, p.power_w, p.energy_interval_j) {
        (Some(e), Some(w), Some(i)) => {
            print::line(format!(
                "  energy  {:>12}  {}",
                si(e, "J"),
                interval(i, "J")
            ));
            print::line(format!("  power   {:>12}", si(w, "W")));
            let mut parts: Vec<String> = p
                .energy_by_op_j
                .iter()
                .map(|(op, v)| format!("{op} {}", percent(v / e)))
                .collect();
            if let Some(c) = p.constant_energy_j {
                parts.push(format!("constant power {}", percent(c / e)));
            }
            print::line(format!("  energy is {}", parts.join(", ")));
        }
        _ => {
            let names: Vec<&str> = p.ops_without_energy.iter().map(|op| op.name()).collect();
            print::line(format!(
                "  energy  unknown: this machine has no energy cost for {}",
                if names.is_empty() {
                    "constant power".to_owned()
                } else {
                    names.join(", ")
                }
            ));
        }
    }
    print::line(format!("  bound by {}", p.bound));
    if let Some(c) = clocked {
        print::line(format!(
            "with the clock giving way to the cap, at {}:\n  time    {:>12}\n  energy  {:>12}\n  power   {:>12}\n  bound by {}",
            si(c.clock_hz, "Hz"),
            si(c.time_s, "s"),
            si(c.energy_j, "J"),
            si(c.power_w, "W"),
            c.bound
        ));
    }
    Ok(())
}

/// Energies of a sweep's configs from their counters, compared with measurements.
fn from_counters(dir: &std::path::Path, machine: &Machine, json: bool) -> Result {
    let sweep = crate::search::recorded(dir)?;
    let rows = counted::predict(&sweep, machine)?;
    if rows.is_empty() {
        return Err(
            AppError::new(format!("{} has no counters with energies", dir.display()))
                .hint("`greenup profile` reads them"),
        );
    }
    if json {
        return print::json(&rows);
    }
    let share = |j: f64, of: f64| percent(j / of);
    let table = rows
        .iter()
        .map(|r| {
            let top = r.by_op_j.iter().max_by(|a, b| a.1.total_cmp(b.1));
            vec![
                r.trial.to_string(),
                si(r.time_s, "s"),
                si(r.measured_j, "J"),
                si(r.predicted_j, "J"),
                format!("{:+.1} %", 100.0 * r.error()),
                top.map_or_else(String::new, |(op, j)| {
                    format!("{op} {}", share(*j, r.predicted_j))
                }),
                share(r.constant_j, r.predicted_j),
            ]
        })
        .collect();
    print::table(
        &[
            "trial",
            "time",
            "measured",
            "predicted",
            "error",
            "most",
            "constant",
        ],
        table,
    );
    let errors: Vec<f64> = rows.iter().map(|r| r.error().abs()).collect();
    print::line(format!(
        "energy from counters and measured time: mean error {}, largest {} over {} configs",
        percent(errors.iter().sum::<f64>() / errors.len() as f64),
        percent(errors.iter().copied().fold(0.0, f64::max)),
        errors.len()
    ));
    Ok(())
}
