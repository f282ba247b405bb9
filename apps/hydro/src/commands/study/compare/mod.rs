//! `hydro compare`: speedup, powerup and greenup of studies over a first one, as in table 7 of the BLAST paper.
//!
//! Powers are those that the studies measured. Where the CPU had no sensor, a machine file with its constant and usable
//! power estimates them; every number that depends on it is labelled so and has the interval of the machine's two ends.

mod pairs;
mod power;

use super::record::read;
use clap::Args;
use greenup_app::args::MachineArg;
use greenup_app::{AppError, Result, print};
use greenup_report::provenance::Provenance;
use greenup_report::table::{Cell, Columns, Table};
use pairs::{Pair, pairs};
use power::{CpuPower, Range};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  hydro study --intervals 8 --orders 2 --window 300ms --threads 1 -o one.json\n  hydro study --intervals 8 --orders 2 --window 300ms -o all.json\n  hydro compare one.json all.json"
)]
pub struct CompareArgs {
    /// Study that is compared with, e.g. of the CPU
    #[arg(value_name = "BASE.json")]
    base: PathBuf,
    /// Studies of the same meshes and orders, e.g. of a GPU
    #[arg(value_name = "STUDY.json", required = true)]
    others: Vec<PathBuf>,
    /// Machine whose constant and usable power stand for a CPU that had no sensor: a name of `greenup machines`, or a file
    #[command(flatten)]
    machine: MachineArg,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

pub fn compare(args: &CompareArgs) -> Result {
    let cpu = args.machine.load()?;
    let cpu = cpu.as_ref().map(CpuPower::of).transpose()?;
    let base = read(&args.base)?;
    let mut all = Vec::new();
    for path in &args.others {
        let found = pairs(&base.rows, &read(path)?.rows, cpu);
        if found.is_empty() {
            return Err(AppError::new(format!(
                "{} and {} have no step in common",
                args.base.display(),
                path.display()
            ))
            .hint("measure both with the same --dim, --intervals, --orders and --assembly"));
        }
        all.extend(found);
    }
    if all.iter().any(|p| p.greenup.is_none()) {
        print::note(
            "no greenup where the power of the CPU is unknown: name a machine file with its power by --machine",
        );
    }
    if args.json {
        let provenance = Provenance::of_process();
        return print::json(&json!({"provenance": provenance, "rows": all}));
    }
    print::table(&table(&all));
    Ok(())
}

fn table(all: &[Pair]) -> Table {
    let ratio = |r: Option<Range>| {
        Cell::shown(r.map(|r| r.value), |v| match r {
            Some(r) if r.lo < r.hi => format!("{v:.3} [{:.3} … {:.3}]", r.lo, r.hi),
            _ => format!("{v:.3}"),
        })
    };
    let columns = Columns::<Pair>::new()
        .text("spaces", "", |p| p.spaces.clone())
        .count("zones", "", |p| p.zones as u64)
        .text("assembly", "", |p| p.assembly.into())
        .text("device", "", |p| p.other.device.clone())
        .text("over", "", |p| p.base.device.clone())
        .si("time", "", "s", |p| p.other.seconds)
        .si("over time", "", "s", |p| p.base.seconds)
        .shown("speedup", "", |v| format!("{v:.3}"), |p| p.speedup)
        .cell("powerup", "", move |p| ratio(p.powerup))
        .cell("greenup", "", move |p| ratio(p.greenup))
        .text("power", "", |p| {
            p.greenup.map_or("unknown", |_| p.label.name()).into()
        });
    columns.table("", all)
}

#[cfg(test)]
mod tests;
