//! Energies of the kernels in a table of `ncu`, from their counters and their times there.

use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_model::{Machine, MachineError, Op};
use greenup_profile::attribution::{Basis, Row};
use greenup_profile::{attribute, table};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Columns};
use greenup_tune::counters::csv::is_table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A kernel with one grid, all of its launches together.
#[derive(Serialize)]
struct Predicted<'a> {
    #[serde(skip)]
    short: &'a str,
    kernel: &'a str,
    grid: Option<[i32; 3]>,
    block: Option<[i32; 3]>,
    launches: u64,
    /// Under the profiler, s.
    time_s: f64,
    /// Absent where counters are missing.
    energy_j: Option<f64>,
    power_w: Option<f64>,
    /// Shortest time on this machine, s.
    predicted_s: Option<f64>,
    bound: Option<&'a str>,
    /// Operations and bytes of one launch.
    work: &'a BTreeMap<Op, f64>,
    /// Marginal energy of one launch by class, J.
    energy_by_op_j: &'a BTreeMap<Op, f64>,
}

impl<'a> Predicted<'a> {
    fn of(r: &'a Row) -> Self {
        let energy_j = r.model_j.filter(|_| r.basis == Basis::Counters);
        Self {
            short: &r.name,
            kernel: &r.full_name,
            grid: r.grid,
            block: r.block,
            launches: r.launches,
            time_s: r.time_s,
            energy_j,
            power_w: energy_j.filter(|_| r.time_s > 0.0).map(|j| j / r.time_s),
            predicted_s: r.roof_s.map(|s| s * r.launches as f64),
            bound: r.bound.as_deref(),
            work: &r.work,
            energy_by_op_j: &r.energy_by_op_j,
        }
    }
}

/// Whether the file is such a table, or a text that can only be meant as one.
pub fn is_it(path: &Path) -> bool {
    let csv = || {
        path.extension()
            .is_some_and(|e| e == "csv" || e == "txt" || e == "log")
    };
    path.is_file() && (csv() || table::text_of(path).is_ok_and(|t| is_table(&t)))
}

pub fn run(path: &Path, machine: &Machine, json: bool) -> Result {
    if !machine.has_energy() {
        return Err(MachineError::NoEnergy(machine.name.clone()).into());
    }
    let all = table::read(path).map_err(|e| AppError::new(e.to_string()))?;
    let profile = attribute(
        &all.recorded,
        &all.activity,
        &|_| Some(machine.clone()),
        None,
    );
    for note in &profile.notes {
        print::warn(note);
    }
    let rows: Vec<Predicted> = (profile.gpus.iter())
        .flat_map(|g| g.kernels.iter().map(Predicted::of))
        .collect();
    let known: Vec<&Predicted> = rows.iter().filter(|r| r.energy_j.is_some()).collect();
    if known.is_empty() {
        return Err(AppError::new(format!(
            "{}: no kernel has all counters, and all of them an energy in the machine model {}",
            path.display(),
            machine.name
        ))
        .hint("the warnings above name the metrics; `ncu --metrics` counts them"));
    }
    if json {
        return print::json(&rows);
    }
    let columns = Columns::<Predicted>::new()
        .text("kernel", "", |r| r.short.to_owned())
        .count("launches", "", |r| r.launches)
        .si("time", "", "s", |r| r.time_s)
        .si("T_min", "", "s", |r| r.predicted_s)
        .si("energy", "", "J", |r| r.energy_j)
        .si("power", "", "W", |r| r.power_w)
        .cell("binds", "", |r| Cell::known(r.bound))
        .text("most", "", |r| {
            let constant = || {
                let own: f64 = r.energy_by_op_j.values().sum();
                Some(("constant power", r.energy_j? / r.launches as f64 - own))
            };
            let ops = r.energy_by_op_j.iter().map(|(op, j)| (op.name(), *j));
            let top = ops.chain(constant()).max_by(|a, b| a.1.total_cmp(&b.1));
            let share = top.zip(r.energy_j);
            share.map_or_else(String::new, |((name, j), all)| {
                format!("{name} {}", percent(j * r.launches as f64 / all))
            })
        });
    print::table(&columns.table("", &rows));
    let sum = |of: &dyn Fn(&Predicted) -> f64| known.iter().map(|r| of(r)).sum::<f64>();
    print::line(format!(
        "energy from counters and times under ncu on {}: {} in {} of {} kernels; predicted, not measured",
        machine.title,
        si(sum(&|r| r.energy_j.unwrap_or(0.0)), "J"),
        known.len(),
        rows.len()
    ));
    Ok(())
}
