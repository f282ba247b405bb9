//! Symbols and constants as tables (thesis, tables 1, 3 and 6).

use super::machine_of;
use crate::values::of_machine;
use crate::{PaperError, Records};
use greenup_model::{Estimate, Machine, Op};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};
use serde::Deserialize;

/// A symbol of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// As it is written.
    pub symbol: String,
    /// What it is.
    pub meaning: String,
    /// Its unit; empty for a number.
    #[serde(default)]
    pub unit: String,
    /// Its value on a machine, by the name of `from = "machine"`; none for quantities of a computation.
    pub value: Option<String>,
}

fn headers<const N: usize>(names: [(&str, &str); N]) -> Vec<Header> {
    names.map(|(n, t)| Header::new(n, t)).to_vec()
}

/// Symbols with their values on a machine.
///
/// # Errors
/// The machine is missing, lacks a cost, or has no such value.
pub fn symbols(
    records: &Records,
    name: &str,
    flop: Op,
    all: &[Symbol],
) -> Result<Table, PaperError> {
    let m = machine_of(records, name)?;
    let r = m.roofline(flop, Op::Dram)?;
    let mut rows = Vec::new();
    for s in all {
        let value = match &s.value {
            Some(value) => {
                let v = of_machine(&r, value, 1.0)
                    .ok_or_else(|| PaperError::NoValue(format!("{name} with {value}")))?;
                let shown = match s.unit.as_str() {
                    "" | "flop/B" => three(v),
                    unit => si(v, unit),
                };
                Cell::number(v, shown)
            }
            None => Cell::text("–"),
        };
        rows.push(vec![
            Cell::text(&s.symbol),
            Cell::wrapped(&s.meaning),
            Cell::text(&s.unit),
            value,
        ]);
    }
    Ok(Table {
        caption: format!("Symbols, and their values on the {}", m.title),
        header: headers([
            ("symbol", ""),
            ("meaning", ""),
            ("unit", ""),
            ("value", "Of quantities of the machine."),
        ]),
        rows,
    })
}

/// Constants of machines: rates, energies with their intervals, constant and usable power, and costs of caches and random
/// accesses where they are known.
///
/// # Errors
/// A machine is missing.
pub fn constants(records: &Records, names: &[String], flop: Op) -> Result<Table, PaperError> {
    let mut rows = Vec::new();
    for name in names {
        let m = machine_of(records, name)?;
        let rate = |op: Op, unit: &str| match m.time_of(op) {
            Ok(t) => Cell::number(1.0 / t, si(1.0 / t, unit)),
            Err(_) => Cell::text("–"),
        };
        let energy = |op: Op, scale: f64| {
            let cost = m.cost.get(&op).and_then(|c| c.energy_j.as_ref());
            cost.map_or_else(|| Cell::text("–"), |e| estimate(e, scale))
        };
        let value = |op: Op, scale: f64| {
            let cost = m.cost.get(&op).and_then(|c| c.energy_j.as_ref());
            let v = cost.map(|e| e.value);
            v.map_or_else(|| Cell::text("–"), |v| Cell::number(v, three(v / scale)))
        };
        let power = |e: &Option<Estimate>| match e {
            Some(e) => Cell::number(e.value, three(e.value)),
            None => Cell::text("–"),
        };
        let share = m.constant_share().ok();
        rows.push(vec![
            Cell::text(m.title.split(" (").next().unwrap_or(&m.title)),
            rate(flop, "flop/s"),
            rate(Op::Dram, "B/s"),
            energy(flop, PICO),
            energy(Op::Dram, PICO),
            power(&m.constant_power_w),
            power(&m.usable_power_w),
            share.map_or_else(|| Cell::text("–"), |s| Cell::number(s, percent(s))),
            value(Op::L1, PICO),
            value(Op::L2, PICO),
            value(Op::Random, 1000.0 * PICO),
        ]);
    }
    Ok(Table {
        caption: format!("Constants for {flop}, with the intervals of the energies"),
        header: headers([
            ("machine", ""),
            ("flops", "Rate of the class."),
            ("memory", "Bandwidth of slow memory."),
            ("ε_flop, pJ", "Energy of a flop."),
            ("ε_mem, pJ/B", "Energy of a byte of slow memory."),
            ("π₀, W", "Constant power."),
            ("Δπ, W", "Usable power above it."),
            (
                "constant",
                "π₀/(π₀ + Δπ): constant share of the largest power.",
            ),
            ("L1, pJ/B", "Energy of a byte of L1 or shared memory."),
            ("L2, pJ/B", "Energy of a byte of L2."),
            ("random, nJ", "Energy of a random access to slow memory."),
        ]),
        rows,
    })
}

/// A picojoule, J.
const PICO: f64 = 1e-12;

/// A value over `scale` with its interval.
fn estimate(e: &Estimate, scale: f64) -> Cell {
    let shown = |v: f64| three(v / scale);
    let text = match (e.lo, e.hi) {
        (Some(lo), Some(hi)) if lo < hi => {
            format!("{} [{} … {}]", shown(e.value), shown(lo), shown(hi))
        }
        _ => shown(e.value),
    };
    Cell::number(e.value, text)
}

/// Peaks of machines in single and double precision, bandwidth and largest power.
///
/// # Errors
/// A machine is missing.
pub fn peaks(records: &Records, names: &[String]) -> Result<Table, PaperError> {
    let mut rows = Vec::new();
    for name in names {
        let m: Machine = machine_of(records, name)?;
        let rate = |op: Op, unit: &str| match m.time_of(op) {
            Ok(t) => Cell::number(1.0 / t, si(1.0 / t, unit)),
            Err(_) => Cell::text("–"),
        };
        let most = m.max_power().ok();
        rows.push(vec![
            Cell::text(&m.title),
            rate(Op::F32, "flop/s"),
            rate(Op::F64, "flop/s"),
            rate(Op::Dram, "B/s"),
            Cell::text(m.facts.get("tdp").map_or("–", String::as_str)),
            most.map_or_else(|| Cell::text("–"), |p| Cell::number(p, si(p, "W"))),
            Cell::text(m.label.name()),
        ]);
    }
    Ok(Table {
        caption: "Peaks of the platforms".into(),
        header: headers([
            ("machine", ""),
            ("single precision", ""),
            ("double precision", ""),
            ("bandwidth", ""),
            ("design power", "As the paper prints it."),
            ("largest power", "π₀ + Δπ of the model."),
            ("numbers", "Where they come from."),
        ]),
        rows,
    })
}
