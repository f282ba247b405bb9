//! Symbols and constants as tables (thesis, tables 1, 3 and 6).

use super::machine_of;
use crate::values::of_machine;
use crate::{PaperError, Records};
use greenup_model::{Estimate, Machine, Op};
use greenup_report::si::{si, three};
use greenup_report::table::{Cell, Columns, Table};
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

fn read(records: &Records, names: &[String]) -> Result<Vec<Machine>, PaperError> {
    names.iter().map(|name| machine_of(records, name)).collect()
}

/// Units a second that a machine reaches in a class.
fn rate(m: &Machine, op: Op) -> Option<f64> {
    m.time_of(op).ok().map(|t| 1.0 / t)
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
        let value = |value: &String| {
            of_machine(&r, value, 1.0)
                .ok_or_else(|| PaperError::NoValue(format!("{name} with {value}")))
        };
        rows.push((s, s.value.as_ref().map(value).transpose()?));
    }
    Ok(Columns::<(&Symbol, Option<f64>)>::new()
        .text("symbol", "", |(s, _)| s.symbol.clone())
        .wrapped("meaning", "", |(s, _)| s.meaning.clone())
        .text("unit", "", |(s, _)| s.unit.clone())
        .cell("value", "Of quantities of the machine.", |(s, v)| {
            Cell::shown(*v, |v| match s.unit.as_str() {
                "" | "flop/B" => three(v),
                unit => si(v, unit),
            })
        })
        .table(
            format!("Symbols, and their values on the {}", m.title),
            rows,
        ))
}

/// Constants of machines: rates, energies with their intervals, constant and usable power, and costs of caches and random
/// accesses where they are known.
///
/// # Errors
/// A machine is missing.
pub fn constants(records: &Records, names: &[String], flop: Op) -> Result<Table, PaperError> {
    let energy = |m: &Machine, op: Op| m.cost.get(&op)?.energy_j.clone();
    let scaled = |m: &Machine, op: Op, scale: f64| {
        Cell::shown(energy(m, op).map(|e| e.value), |v| three(v / scale))
    };
    let watts = |e: &Option<Estimate>| e.as_ref().map(|e| e.value);
    Ok(Columns::<Machine>::new()
        .text("machine", "", |m| {
            m.title.split(" (").next().unwrap_or(&m.title).to_owned()
        })
        .si("flops", "Rate of the class.", "flop/s", |m| rate(m, flop))
        .si("memory", "Bandwidth of slow memory.", "B/s", |m| {
            rate(m, Op::Dram)
        })
        .cell("ε_flop, pJ", "Energy of a flop.", |m| {
            picojoules(energy(m, flop))
        })
        .cell("ε_mem, pJ/B", "Energy of a byte of slow memory.", |m| {
            picojoules(energy(m, Op::Dram))
        })
        .three("π₀, W", "Constant power.", |m| {
            watts(&m.constant_power_w)
        })
        .three("Δπ, W", "Usable power above it.", |m| {
            watts(&m.usable_power_w)
        })
        .percent(
            "constant",
            "π₀/(π₀ + Δπ): constant share of the largest power.",
            |m| m.constant_share().ok(),
        )
        .cell(
            "L1, pJ/B",
            "Energy of a byte of L1 or shared memory.",
            |m| scaled(m, Op::L1, PICO),
        )
        .cell("L2, pJ/B", "Energy of a byte of L2.", |m| {
            scaled(m, Op::L2, PICO)
        })
        .cell(
            "random, nJ",
            "Energy of a random access to slow memory.",
            |m| scaled(m, Op::Random, 1000.0 * PICO),
        )
        .table(
            format!("Constants for {flop}, with the intervals of the energies"),
            read(records, names)?,
        ))
}

/// A picojoule, J.
const PICO: f64 = 1e-12;

/// An energy in picojoules with its interval.
fn picojoules(e: Option<Estimate>) -> Cell {
    let shown = |v: f64| three(v / PICO);
    let ends = e.as_ref().and_then(|e| e.lo.zip(e.hi));
    Cell::shown(e.map(|e| e.value), |v| {
        match ends.filter(|(lo, hi)| lo < hi) {
            Some((lo, hi)) => format!("{} [{} … {}]", shown(v), shown(lo), shown(hi)),
            None => shown(v),
        }
    })
}

/// Peaks of machines in single and double precision, bandwidth and largest power.
///
/// # Errors
/// A machine is missing.
pub fn peaks(records: &Records, names: &[String]) -> Result<Table, PaperError> {
    Ok(Columns::<Machine>::new()
        .text("machine", "", |m| m.title.clone())
        .si("single precision", "", "flop/s", |m| rate(m, Op::F32))
        .si("double precision", "", "flop/s", |m| rate(m, Op::F64))
        .si("bandwidth", "", "B/s", |m| rate(m, Op::Dram))
        .cell("design power", "As the paper prints it.", |m| {
            Cell::known(m.facts.get("tdp"))
        })
        .si("largest power", "π₀ + Δπ of the model.", "W", |m| {
            m.max_power().ok()
        })
        .text("numbers", "Where they come from.", |m| {
            m.label.name().to_owned()
        })
        .table("Peaks of the platforms", read(records, names)?))
}
