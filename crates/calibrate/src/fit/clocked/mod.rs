//! The cap through the clock: energies that fall with the voltage, fitted from the clocks that occur
//! by themselves under load, and compared with the flat cap on held-out benchmarks.

mod held_out;

pub use held_out::HeldOut;

use super::identify::{self, NotKnown};
use super::{Constant, Errors, FitError};
use crate::linalg::nnls;
use crate::record::Record;
use crate::roof::roof;
use greenup_meter::stats::{median, quantile};
use greenup_model::clocked::follows_core;
use greenup_model::{Clocking, Estimate, Label, Machine, Op, OpCost, predict_clocked};
use nalgebra::DMatrix;
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest slope of the voltage: it more than doubles over no range of clocks.
pub(super) const STEEPEST: f64 = 2.5;
/// Clocks of processors, Hz.
const CLOCKS_HZ: std::ops::RangeInclusive<f64> = 1e6..=1e11;
/// Largest standard error of a slope of the voltage that counts as known; slopes are 0 to 2.
const SLOPE_ERROR: f64 = 0.125;

/// What was fitted.
#[derive(Clone, Debug, Serialize)]
pub struct ClockedFit {
    /// Number of records.
    pub records: usize,
    /// Highest core clock, Hz.
    pub highest_hz: f64,
    /// s of v = 1 − s (1 − f/f_max); `None` where the records do not determine it.
    pub voltage_slope: Option<Constant>,
    /// Power cap, W.
    pub cap_w: f64,
    /// π₀, W; `None` where the records do not determine it.
    pub constant_power_w: Option<Constant>,
    /// ε of each class at the highest clock, J, where the records determine it.
    pub energy_j: BTreeMap<Op, Constant>,
    /// The constants that they do not determine.
    pub not_known: Vec<NotKnown>,
    /// Energy with the measured time and clock.
    pub energy_errors: Option<Errors>,
    /// Errors on held-out benchmarks, if there are enough of them.
    pub held_out: Option<HeldOut>,
}

/// A record with its clock.
#[derive(Clone)]
pub(super) struct ClockedRecord {
    pub record: Record,
    pub energy_j: f64,
    pub clock_hz: f64,
}

struct Costs {
    slope: f64,
    pi0: f64,
    energy_j: BTreeMap<Op, f64>,
    squares: f64,
}

/// Records that hold an energy and a clock.
pub(super) fn rows(records: &[Record]) -> Vec<ClockedRecord> {
    records
        .iter()
        .filter(|r| r.on_plain_data())
        .filter_map(|r| {
            Some(ClockedRecord {
                record: r.clone(),
                energy_j: r.energy_j?,
                clock_hz: r.note("_clock_hz").filter(|f| *f > 0.0)?,
            })
        })
        .collect()
}

pub(super) fn ops(rows: &[ClockedRecord]) -> Vec<Op> {
    Op::ALL
        .into_iter()
        .filter(|&op| rows.iter().any(|r| r.record.work.count(op) > 0.0))
        .collect()
}

pub(super) fn highest(rows: &[ClockedRecord]) -> f64 {
    rows.iter().map(|r| r.clock_hz).fold(0.0, f64::max)
}

/// Counts times voltages of each class, and the time, over the energy: times ε and π₀ it is 1.
fn design(rows: &[ClockedRecord], ops: &[Op], top: f64, slope: f64) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), ops.len() + 1, |i, j| {
        let r = &rows[i];
        let v = 1.0 - slope * (1.0 - r.clock_hz / top);
        let x = match ops.get(j) {
            Some(&op) if follows_core(op) => r.record.work.count(op) * v * v,
            Some(&op) => r.record.work.count(op),
            None => r.record.time_s,
        };
        x / r.energy_j
    })
}

/// ε and π₀ by non-negative least squares on relative errors, for one slope of the voltage.
fn costs(rows: &[ClockedRecord], top: f64, slope: f64) -> Costs {
    let ops = ops(rows);
    let n = ops.len();
    let a = design(rows, &ops, top, slope);
    let x = nnls(&a, &vec![1.0; rows.len()]);
    let squares = (0..rows.len())
        .map(|i| ((0..=n).map(|j| a[(i, j)] * x[j]).sum::<f64>() - 1.0).powi(2))
        .sum();
    Costs {
        slope,
        pi0: x[n],
        energy_j: ops.into_iter().zip(x).collect(),
        squares,
    }
}

/// What the records do not determine.
fn not_known(rows: &[ClockedRecord], top: f64, found: &Costs) -> Vec<NotKnown> {
    let ops = ops(rows);
    let mut a = design(rows, &ops, top, found.slope);
    // What a change of the slope does to each record.
    let of_slope: Vec<f64> = (rows.iter())
        .map(|r| {
            let below = 1.0 - r.clock_hz / top;
            let v = 1.0 - found.slope * below;
            let core = found.energy_j.iter().filter(|(op, _)| follows_core(**op));
            let joules: f64 = core.map(|(&op, e)| e * r.record.work.count(op)).sum();
            2.0 * v * below * joules / r.energy_j
        })
        .collect();
    let n = a.ncols();
    a = a.insert_column(n, 0.0);
    a.column_mut(n).copy_from_slice(&of_slope);
    let mut out = Vec::new();
    for (k, c) in identify::columns(&a, found.squares).iter().enumerate() {
        let (constant, unit) = match ops.get(k) {
            Some(op) => (format!("{op} energy_j"), format!("J/{}", op.unit_name())),
            None if k < n => ("constant_power_w".to_owned(), "W".to_owned()),
            None => ("voltage_slope".to_owned(), String::new()),
        };
        let slope = k == n;
        let known = if slope {
            // At the end of its range it says only that it may be more.
            c.error < SLOPE_ERROR && found.slope < 0.99 * STEEPEST
        } else {
            c.is_known()
        };
        if !known {
            out.push(NotKnown {
                constant,
                at_most: (!slope && c.most.is_finite()).then_some(c.most),
                unit,
            });
        }
    }
    out
}

/// The slope with the least squares, by golden sections.
fn best(rows: &[ClockedRecord], top: f64) -> Costs {
    let ratio = 0.5 * (5_f64.sqrt() - 1.0);
    let (mut lo, mut hi) = (0.0, STEEPEST);
    let (mut a, mut b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
    let (mut fa, mut fb) = (costs(rows, top, a), costs(rows, top, b));
    for _ in 0..25 {
        if fa.squares < fb.squares {
            hi = b;
            (b, fb) = (a, fa);
            a = hi - ratio * (hi - lo);
            fa = costs(rows, top, a);
        } else {
            lo = a;
            (a, fa) = (b, fb);
            b = lo + ratio * (hi - lo);
            fb = costs(rows, top, b);
        }
    }
    if fa.squares < fb.squares { fa } else { fb }
}

/// The power that loads keep to whose clock fell; without one no cap was met.
fn cap(rows: &[ClockedRecord], top: f64) -> f64 {
    let power = |r: &ClockedRecord| r.energy_j / r.record.time_s;
    let most = rows.iter().map(power).fold(0.0, f64::max);
    let slowed: Vec<f64> = rows
        .iter()
        .filter(|r| r.clock_hz < 0.995 * top && power(r) > 0.95 * most)
        .map(power)
        .collect();
    if slowed.is_empty() {
        return f64::INFINITY;
    }
    median(&slowed)
}

/// Machine of these costs: roofs with their clocks, and either the clock's cap or the flat one.
fn machine(rows: &[ClockedRecord], c: &Costs, top: f64, cap_w: f64, flat: bool) -> Machine {
    let mut cost = BTreeMap::new();
    for (&op, &energy) in &c.energy_j {
        // Fewest cycles of a class of the core; least time of memory.
        let pace = |r: &ClockedRecord| {
            let t = r.record.time_s / r.record.work.count(op);
            if follows_core(op) && !flat {
                t * r.clock_hz
            } else {
                t
            }
        };
        let roof = rows
            .iter()
            .filter(|r| r.record.occupancy >= 1.0 && r.record.work.count(op) > 0.0)
            .min_by(|a, b| pace(a).total_cmp(&pace(b)));
        cost.insert(
            op,
            OpCost {
                time_s: roof.map(|r| Estimate::new(r.record.time_s / r.record.work.count(op))),
                energy_j: Some(Estimate::new(energy)),
                clock_hz: roof.map(|r| r.clock_hz).filter(|_| follows_core(op)),
            },
        );
    }
    let capped = cap_w.is_finite();
    Machine {
        name: "fitted".into(),
        title: "fitted".into(),
        label: Label::Measured,
        about: String::new(),
        sources: Vec::new(),
        facts: BTreeMap::new(),
        warnings: Vec::new(),
        constant_power_w: Some(Estimate::new(c.pi0)),
        usable_power_w: capped.then(|| Estimate::new(cap_w - c.pi0)),
        clock: (!flat).then(|| Clocking {
            highest_hz: Estimate::new(top),
            voltage_slope: Estimate::new(c.slope),
            cap_w: Estimate::new(if capped { cap_w } else { 1e9 }),
        }),
        network: None,
        link: None,
        host: None,
        cost,
    }
}

/// Fits energies, constant power and the slope of the voltage.
///
/// # Errors
/// Fewer records with energy and clock than constants.
pub fn fit_clocked(records: &[Record], resamples: usize) -> Result<ClockedFit, FitError> {
    let rows = rows(records);
    if let Some(r) = rows.iter().find(|r| !CLOCKS_HZ.contains(&r.clock_hz)) {
        return Err(FitError::Clock {
            benchmark: r.record.benchmark.clone(),
            hertz: r.clock_hz,
        });
    }
    let need = ops(&rows).len() + 2;
    if rows.len() < need {
        return Err(FitError::TooFew {
            have: rows.len(),
            need,
            of_kind: " with an energy and a clock",
        });
    }
    let top = highest(&rows);
    let found = best(&rows, top);
    let mut rng = fastrand::Rng::with_seed(1);
    let drawn: Vec<Costs> = (0..resamples)
        .map(|_| {
            let again: Vec<ClockedRecord> = (0..rows.len())
                .map(|_| rows[rng.usize(..rows.len())].clone())
                .collect();
            best(&again, top)
        })
        .collect();
    let constant = |value: f64, of: &dyn Fn(&Costs) -> Option<f64>| {
        let values: Vec<f64> = drawn.iter().filter_map(of).collect();
        let end = |q| {
            if values.is_empty() {
                value
            } else {
                quantile(&values, q)
            }
        };
        Constant {
            value,
            lo: end(0.025).min(value),
            hi: end(0.975).max(value),
        }
    };
    let errors: Vec<f64> = rows
        .iter()
        .map(|r| {
            let v = 1.0 - found.slope * (1.0 - r.clock_hz / top);
            let marginal: f64 = found
                .energy_j
                .iter()
                .map(|(&op, e)| {
                    let e = e * r.record.work.count(op);
                    if follows_core(op) { e * v * v } else { e }
                })
                .sum();
            (marginal + found.pi0 * r.record.time_s) / r.energy_j - 1.0
        })
        .collect();
    let not_known = not_known(&rows, top, &found);
    let known = |name: &str| !not_known.iter().any(|n| n.constant == name);
    Ok(ClockedFit {
        records: rows.len(),
        highest_hz: top,
        voltage_slope: known("voltage_slope").then(|| constant(found.slope, &|c| Some(c.slope))),
        cap_w: cap(&rows, top),
        constant_power_w: known("constant_power_w").then(|| constant(found.pi0, &|c| Some(c.pi0))),
        energy_j: found
            .energy_j
            .iter()
            .filter(|(op, _)| known(&format!("{op} energy_j")))
            .map(|(&op, &e)| (op, constant(e, &|c| c.energy_j.get(&op).copied())))
            .collect(),
        not_known,
        energy_errors: Errors::of(&errors),
        held_out: held_out::held_out(&rows),
    })
}

/// Time and energy that the clock model gives each record on the whole device, from its work alone; `None` where a record has
/// no clock, or a class no cost.
pub(super) fn predictions(records: &[Record]) -> Option<Vec<(f64, f64)>> {
    let rows = rows(records);
    if rows.len() != records.len() || rows.len() < ops(&rows).len() + 2 {
        return None;
    }
    let top = highest(&rows);
    let m = machine(&rows, &best(&rows, top), top, cap(&rows, top), false);
    (rows.iter().filter(|r| r.record.occupancy >= 1.0))
        .map(|r| {
            let p = predict_clocked(&m, &r.record.work).ok()?;
            Some((p.time_s, p.energy_j))
        })
        .collect()
}

impl ClockedFit {
    /// Puts energies at the highest clock, constant power, the cap and the clock into a machine
    /// whose times are roofs, and says at which clock each roof was measured.
    pub fn apply(&self, machine: &mut Machine, records: &[Record]) {
        let estimate = |c: &Constant| {
            let mut e = Estimate::with_interval(c.value, c.lo, c.hi);
            e.label = Some(Label::Measured);
            e
        };
        for (op, cost) in &mut machine.cost {
            cost.energy_j = self.energy_j.get(op).map(estimate);
            cost.clock_hz = roof(records, *op)
                .and_then(|r| r.record.note("_clock_hz"))
                .filter(|_| follows_core(*op));
        }
        machine.constant_power_w = self.constant_power_w.as_ref().map(estimate);
        let Some(pi0) = &self.constant_power_w else {
            machine.usable_power_w = None;
            return;
        };
        if self.cap_w.is_infinite() {
            return;
        }
        machine.usable_power_w = Some(Estimate::new(self.cap_w - pi0.value));
        machine.clock = self.voltage_slope.as_ref().map(|slope| Clocking {
            highest_hz: Estimate::new(self.highest_hz),
            voltage_slope: estimate(slope),
            cap_w: Estimate::new(self.cap_w),
        });
    }

    /// What the records do not determine, in words.
    pub fn warnings(&self) -> Vec<String> {
        let of = |n: &NotKnown| {
            let what = n.constant.replace('_', " ");
            match n.unit.as_str() {
                "" => format!(
                    "the {what} is not known: the clocks of the records hardly vary, or not by the load"
                ),
                _ => format!("{what} {}: it is not known", identify::APART),
            }
        };
        self.not_known.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
