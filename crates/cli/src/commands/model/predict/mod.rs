//! `greenup predict`.

mod table;

use crate::args::PredictArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, print};
use greenup_model::network::{Nodes, Scaled, Share, Traffic, scaled, traffic::Messages};
use greenup_model::{ClockedPrediction, Machine, Prediction, Work, predict, predict_clocked};
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use greenup_study::pages::applications;
use greenup_tune::analyze::counted;
use serde::Serialize;

#[derive(Serialize)]
struct PredictionJson<'a> {
    machine: &'a str,
    label: &'static str,
    #[serde(flatten)]
    prediction: greenup_model::Prediction,
    /// With the clock giving way to the cap, where the machine tells how.
    #[serde(skip_serializing_if = "Option::is_none")]
    clocked: Option<ClockedPrediction>,
    /// Of several devices: their parts of time and energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Scaled>,
}

/// The devices that were asked for.
fn devices(args: &PredictArgs, machine: &Machine) -> Option<Nodes> {
    let by_nodes = args.nodes.map(|n| Nodes::full(machine, n));
    by_nodes.or_else(|| args.devices.map(|n| Nodes::of_devices(machine, n)))
}

/// The work shared by several devices, with their messages: time, energy and their intervals become those of all.
fn spread(machine: &Machine, at: Nodes, args: &PredictArgs, p: &mut Prediction) -> Scaled {
    let t = &args.traffic;
    let messages = Messages {
        count: t.messages,
        bytes: t.messages * t.message_bytes,
        total_bytes: at.devices as f64 * t.messages * t.message_bytes,
    };
    let one_node = at.nodes == 1;
    let none = Messages::default();
    let traffic = Traffic {
        exchanges: 1.0,
        within: if one_node { messages } else { none },
        between: if one_node { none } else { messages },
        all_reduces: t.all_reduces,
        ..Traffic::default()
    };
    let of = |machine: &Machine, time_s, energy_j| {
        let share = Share {
            busiest_s: time_s,
            mean_s: time_s,
            energy_j,
            ..Share::default()
        };
        scaled(machine, at, &share, &traffic)
    };
    let all = of(machine, p.time_s, p.energy_j);
    let (t, e) = (p.time_interval_s, p.energy_interval_j);
    let low = of(&machine.corner(true), t.0, e.map(|e| e.0));
    let high = of(&machine.corner(false), t.1, e.map(|e| e.1));
    p.time_s = all.time_s;
    p.energy_j = all.energy_j;
    p.power_w = all.energy_j.map(|e| e / all.time_s);
    p.time_interval_s = (low.time_s, high.time_s);
    p.energy_interval_j = low.energy_j.zip(high.energy_j);
    all
}

/// What of a prediction rests on constants that the machine does not know.
fn not_known(machine: &Machine, p: &Prediction) -> Option<String> {
    let names: Vec<&str> = p.ops_without_time.iter().map(|op| op.name()).collect();
    if !names.is_empty() {
        return Some(format!(
            "machine `{}` does not know the time of {}: the time is a lower bound, and the energy is not known",
            machine.name,
            names.join(", ")
        ));
    }
    let zero = machine
        .constant_power_w
        .as_ref()
        .is_some_and(|p| p.value == 0.0);
    (zero && p.energy_j.is_some()).then(|| {
        format!(
            "machine `{}` has no constant power (it is taken as 0): the energy is that of the operations alone",
            machine.name
        )
    })
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
    let at = devices(args, &machine);
    let one = machine.clone();
    if let Some(at) = at {
        machine = machine.cluster(at.devices as f64)?;
    }
    let mut work = Work::new();
    for &(op, count) in &args.ops {
        work.add(op, count)?;
    }
    if work.is_empty() {
        return Err(AppError::new("the work is empty: every count is 0"));
    }
    let mut p = predict(&machine, &work)?;
    if let Some(what) = not_known(&machine, &p) {
        print::warn(what);
    }
    // Waiting and messages cost what they cost a device.
    let network = at.map(|at| spread(&one, at, args, &mut p));
    let sends = args.traffic.messages > 0.0 || args.traffic.all_reduces > 0.0;
    if sends && at.is_none() {
        return Err(
            AppError::new("messages go between several devices, and there is one")
                .hint("add --nodes N or --devices N"),
        );
    }
    if let Some(at) = at.filter(|a| a.devices > 1) {
        if one.network.is_none() && one.link.is_none() {
            print::note(format!(
                "`{}` has no network: messages cost nothing (`greenup calibrate --network` measures one)",
                one.name
            ));
        } else if !sends {
            print::note(format!(
                "{} devices send no messages: --messages, --message-bytes and --all-reduces name them",
                at.devices
            ));
        }
    }
    if args.traffic.message_bytes > 0.0 && args.traffic.messages == 0.0 {
        return Err(
            AppError::new("bytes of messages without messages have no effect")
                .hint("add --messages N"),
        );
    }
    let clocked = machine
        .clock
        .as_ref()
        .filter(|_| p.ops_without_time.is_empty())
        .and_then(|_| predict_clocked(&machine, &work).ok());
    if args.json {
        return print::json(&PredictionJson {
            machine: &machine.name,
            label: machine.label.name(),
            prediction: p,
            clocked,
            network,
        });
    }
    print::line(format!(
        "{} ({} numbers)",
        print::bold(&machine.title),
        machine.label.name()
    ));
    if let Some(n) = &network {
        print::line(format!("{} nodes, {} devices", n.nodes, n.devices));
    }
    let interval =
        |(lo, hi): (f64, f64), unit: &str| format!("[{} … {}]", si(lo, unit), si(hi, unit));
    print::line(format!(
        "  time    {:>12}  {}",
        if p.ops_without_time.is_empty() {
            si(p.time_s, "s")
        } else {
            format!("≥ {}", si(p.time_s, "s"))
        },
        if p.ops_without_time.is_empty() {
            interval(p.time_interval_s, "s")
        } else {
            "a lower bound".to_owned()
        }
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
            if let Some(n) = network.as_ref().filter(|_| sends) {
                let waits = n.wait_j.unwrap_or(0.0);
                parts.push(format!("waiting {}", percent(waits / e)));
                parts.push(format!("messages {}", percent(n.message_j / e)));
            }
            print::line(format!("  energy is {}", parts.join(", ")));
        }
        _ => {
            let names: Vec<&str> = p.ops_without_energy.iter().map(|op| op.name()).collect();
            print::line(format!(
                "  energy  unknown: this machine has no {}",
                if !p.ops_without_time.is_empty() {
                    "time for a class, which constant power needs".to_owned()
                } else if names.is_empty() {
                    "constant power".to_owned()
                } else {
                    format!("energy cost for {}", names.join(", "))
                }
            ));
        }
    }
    print::line(format!("  bound by {}", p.bound));
    if let Some(n) = network.as_ref().filter(|_| sends) {
        print::line(format!(
            "  time is {} computation, {} messages, {} all-reduces",
            percent(n.compute_s / n.time_s),
            percent(n.exchange_s / n.time_s),
            percent(n.all_reduce_s / n.time_s)
        ));
    }
    if let Some(c) = clocked {
        print::line(format!(
            "with the clock giving way to the cap, at {}:\n  time    {:>12}\n  energy  {:>12}\n  power   {:>12}\n  bound by {}",
            si(c.clock_hz, "Hz"),
            si(c.time_s, "s"),
            si(c.energy_j, "J"),
            si(c.power_w, "W"),
            c.bound
        ));
        if let Some(cap) = machine
            .clock
            .as_ref()
            .filter(|k| c.power_w > 1.001 * k.cap_w.value)
        {
            print::warn(format!(
                "even the lowest clock of the model does not keep the cap of {}",
                si(cap.cap_w.value, "W")
            ));
        }
    }
    Ok(())
}

/// Energies of a sweep's configs from their counters, compared with measurements.
fn from_counters(dir: &std::path::Path, machine: &Machine, json: bool) -> Result {
    if table::is_it(dir) {
        return table::run(dir, machine, json);
    }
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
    let columns = applications::columns(Columns::new()).text("most", "", |r| {
        r.most().map_or_else(String::new, |(op, share)| {
            format!("{op} {}", percent(share))
        })
    });
    print::table(&columns.table("", applications::Case::in_order(&rows)));
    let errors: Vec<f64> = rows.iter().map(|r| r.error().abs()).collect();
    print::line(format!(
        "energy from counters and measured time: mean error {}, largest {} over {} configs",
        percent(errors.iter().sum::<f64>() / errors.len() as f64),
        percent(errors.iter().copied().fold(0.0, f64::max)),
        errors.len()
    ));
    Ok(())
}
