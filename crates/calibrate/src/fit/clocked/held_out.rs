//! How well the fit predicts benchmarks that it has not seen.

use super::{ClockedRecord, best, cap, costs, highest, machine, ops};
use crate::fit::Errors;
use greenup_model::{Op, predict, predict_clocked};
use serde::Serialize;
use std::collections::BTreeSet;

/// Errors on benchmarks left out, on the whole device: time, energy and clock come from the work
/// alone.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOut {
    /// Relative errors of the time.
    pub time: Errors,
    /// Relative errors of the energy.
    pub energy: Errors,
    /// Relative errors of the core clock.
    pub clock: Errors,
    /// Relative errors of the time with the thesis's flat cap and clock-independent costs.
    pub flat_time: Errors,
    /// Relative errors of the energy with the flat cap.
    pub flat_energy: Errors,
    /// Time, capped benchmarks only.
    pub capped_time: Option<Errors>,
    /// Time with the flat cap, capped benchmarks only.
    pub capped_flat_time: Option<Errors>,
    /// Energy, capped benchmarks only.
    pub capped_energy: Option<Errors>,
    /// Energy with the flat cap, capped benchmarks only.
    pub capped_flat_energy: Option<Errors>,
    /// Benchmarks that are not tested, because no other benchmark reaches the roof of one of their classes.
    pub skipped: Vec<String>,
    /// Benchmark and its relative errors: time and energy with the clock model, time and energy with the flat cap.
    pub rows: Vec<(String, [f64; 4])>,
}

/// A class counts as covered if another benchmark comes within this factor of its roof.
const NEAR: f64 = 1.15;

/// Whether the training rows do not cover some class of the test rows.
fn alone(test: &[ClockedRecord], train: &[ClockedRecord]) -> bool {
    let roof = |rows: &[ClockedRecord], op: Op| {
        rows.iter()
            .filter(|r| r.record.occupancy >= 1.0 && r.record.work.count(op) > 0.0)
            .map(|r| r.record.time_s / r.record.work.count(op))
            .fold(f64::INFINITY, f64::min)
    };
    ops(test)
        .into_iter()
        .any(|op| roof(train, op) > NEAR * roof(test, op))
}

/// Leaves out one benchmark after the other.
pub(super) fn held_out(rows: &[ClockedRecord]) -> Option<HeldOut> {
    let names: BTreeSet<&str> = rows.iter().map(|r| r.record.benchmark.as_str()).collect();
    let mut table: Vec<(String, [f64; 5], bool)> = Vec::new();
    let mut skipped = Vec::new();
    for name in names {
        let (test, train): (Vec<ClockedRecord>, Vec<ClockedRecord>) = rows
            .iter()
            .cloned()
            .partition(|r| r.record.benchmark == name);
        if alone(&test, &train) {
            skipped.push(name.to_owned());
            continue;
        }
        let (top, cap_w) = (highest(&train), cap(&train, highest(&train)));
        let (clocked, flat) = (best(&train, top), costs(&train, top, 0.0));
        let clocked = machine(&train, &clocked, top, cap_w, false);
        let flat = machine(&train, &flat, top, cap_w, true);
        for r in test.iter().filter(|r| r.record.occupancy >= 1.0) {
            let (Ok(c), Ok(f)) = (
                predict_clocked(&clocked, &r.record.work),
                predict(&flat, &r.record.work),
            ) else {
                continue;
            };
            let Some(flat_energy) = f.energy_j else {
                continue;
            };
            table.push((
                name.to_owned(),
                [
                    c.time_s / r.record.time_s - 1.0,
                    c.energy_j / r.energy_j - 1.0,
                    f.time_s / r.record.time_s - 1.0,
                    flat_energy / r.energy_j - 1.0,
                    c.clock_hz / r.clock_hz - 1.0,
                ],
                r.clock_hz < 0.995 * top,
            ));
        }
    }
    let column = |i: usize, capped: bool| -> Option<Errors> {
        let e: Vec<f64> = table
            .iter()
            .filter(|(_, _, slowed)| *slowed || !capped)
            .map(|(_, e, _)| e[i])
            .collect();
        Errors::of(&e)
    };
    Some(HeldOut {
        time: column(0, false)?,
        energy: column(1, false)?,
        clock: column(4, false)?,
        flat_time: column(2, false)?,
        flat_energy: column(3, false)?,
        capped_time: column(0, true),
        capped_energy: column(1, true),
        capped_flat_time: column(2, true),
        capped_flat_energy: column(3, true),
        skipped,
        rows: table
            .iter()
            .map(|(n, e, _)| (n.clone(), [e[0], e[1], e[2], e[3]]))
            .collect(),
    })
}
