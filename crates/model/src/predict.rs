//! Work on a machine: time, energy, power and what binds.

use crate::machine::{End, Machine, MachineError};
use crate::op::{Op, Unit};
use crate::work::Work;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// What sets the time of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// An operation class (the largest on the busiest unit): a flop class or a memory level.
    Op(Op),
    /// The power cap.
    Cap,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Bound::Op(op) => op.name(),
            Bound::Cap => "cap",
        })
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Predicted cost of a computation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Time, s.
    pub time_s: f64,
    /// `None` where the machine has no energy costs for this work.
    pub energy_j: Option<f64>,
    /// Average power E/T.
    pub power_w: Option<f64>,
    /// What limits the time.
    pub bound: Bound,
    /// [low, high] of time from the machine's intervals.
    pub time_interval_s: (f64, f64),
    /// [low, high] of energy from the machine's intervals.
    pub energy_interval_j: Option<(f64, f64)>,
    /// Time each operation class would need alone, s.
    pub time_by_op_s: BTreeMap<Op, f64>,
    /// Marginal energy of each class, J.
    pub energy_by_op_j: BTreeMap<Op, f64>,
    /// π₀ T, J.
    pub constant_energy_j: Option<f64>,
    /// Classes of the work that have no energy cost on this machine.
    pub ops_without_energy: Vec<Op>,
    /// Classes of the work whose time the machine does not know: the time is a lower bound, and the energy unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops_without_time: Vec<Op>,
}

/// Predicts the cost of `work` on `machine`.
///
/// T = max over units of Σ N_k τ_k (classes on one unit add, units overlap), and not below
/// Σ N_k ε_k/Δπ where there is a cap; E = Σ N_k ε_k + π₀ T. With one flop class and one memory
/// level these are eqs 1–4 and 32–35.
///
/// ```
/// use greenup_model::{Bound, Op, Work, predict, shipped};
///
/// let machine = shipped::find("fermi-2010").unwrap()?;
/// // y = a x + y on 10⁹ doubles: 2 flops and 24 bytes each.
/// let work = Work::new().with(Op::F64, 2e9)?.with(Op::Dram, 24e9)?;
/// let p = predict(&machine, &work)?;
/// assert_eq!(p.bound, Bound::Op(Op::Dram));
/// assert!((p.time_s - 24e9 / 144e9).abs() < 1e-6);
/// assert!((p.energy_j.unwrap() - (2e9 * 25e-12 + 24e9 * 360e-12)).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MachineError::NoCost`] when the machine has no cost for a class of the work, [`MachineError::BeyondNumbers`] when time or
/// energy is no finite number.
pub fn predict(machine: &Machine, work: &Work) -> Result<Prediction, MachineError> {
    let mut p = point(machine, work, End::Value)?;
    let (low, high) = (
        point(machine, work, End::Low)?,
        point(machine, work, End::High)?,
    );
    p.time_interval_s = (low.time_s, high.time_s);
    p.energy_interval_j = low.energy_j.zip(high.energy_j);
    Ok(p)
}

fn point(machine: &Machine, work: &Work, end: End) -> Result<Prediction, MachineError> {
    let mut time_by_op = BTreeMap::new();
    let mut energy_by_op = BTreeMap::new();
    let mut by_unit: BTreeMap<Unit, f64> = BTreeMap::new();
    let (mut ops_without_energy, mut ops_without_time) = (Vec::new(), Vec::new());
    for (op, n) in work.iter() {
        let cost = machine.cost_of(op)?;
        let t = n * cost.time_s.as_ref().map_or(0.0, |e| end.of(e));
        if cost.time_s.is_none() && n > 0.0 {
            ops_without_time.push(op);
        }
        time_by_op.insert(op, t);
        *by_unit.entry(op.unit()).or_insert(0.0) += t;
        match &cost.energy_j {
            Some(e) => {
                energy_by_op.insert(op, n * end.of(e));
            }
            None => ops_without_energy.push(op),
        }
    }

    let (unit, busy) = by_unit
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or((None, 0.0), |(unit, t)| (Some(unit), t));
    let largest = time_by_op
        .iter()
        .filter(|(op, _)| Some(op.unit()) == unit)
        .max_by(|a, b| a.1.total_cmp(b.1));
    let mut bound = Bound::Op(largest.map_or(Op::Dram, |(&op, _)| op));

    let complete = machine.constant_power_w.is_some()
        && ops_without_energy.is_empty()
        && ops_without_time.is_empty();
    let marginal: f64 = energy_by_op.values().sum();
    let mut time_s = busy;
    if let Some(dpi) = &machine.usable_power_w {
        let longer = marginal / end.of_usable_power(dpi);
        if longer > time_s {
            (time_s, bound) = (longer, Bound::Cap);
        }
    }
    let constant = machine
        .constant_power_w
        .as_ref()
        .filter(|_| complete)
        .map(|p| end.of(p) * time_s);
    let energy_j = constant.map(|c| marginal + c);
    let power_w = energy_j.filter(|_| time_s > 0.0).map(|e| e / time_s);
    let finite = |x: Option<f64>| x.is_none_or(f64::is_finite);
    if !(time_s.is_finite() && finite(energy_j) && finite(power_w)) {
        return Err(MachineError::BeyondNumbers(machine.name.clone()));
    }
    Ok(Prediction {
        time_s,
        energy_j,
        power_w,
        bound,
        time_interval_s: (time_s, time_s),
        energy_interval_j: energy_j.map(|e| (e, e)),
        time_by_op_s: time_by_op,
        energy_by_op_j: energy_by_op,
        constant_energy_j: constant,
        ops_without_energy,
        ops_without_time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Estimate;
    use crate::machine::OpCost;

    fn machine() -> Machine {
        let cost = |t, e| OpCost {
            time_s: Some(Estimate::new(t)),
            energy_j: Some(Estimate::with_interval(e, 0.5 * e, 2.0 * e)),
            clock_hz: None,
        };
        Machine {
            name: "m".into(),
            title: "m".into(),
            label: Default::default(),
            about: String::new(),
            sources: vec![],
            facts: Default::default(),
            warnings: vec![],
            constant_power_w: Some(Estimate::new(10.0)),
            usable_power_w: Some(Estimate::new(100.0)),
            clock: None,
            network: None,
            link: None,
            host: None,
            cost: [
                (Op::F32, cost(1.0, 40.0)),
                (Op::F64, cost(2.0, 80.0)),
                (Op::Dram, cost(4.0, 80.0)),
                (Op::L2, cost(1.0, 8.0)),
            ]
            .into(),
        }
    }

    fn work(counts: &[(Op, f64)]) -> Work {
        counts
            .iter()
            .fold(Work::new(), |w, &(op, n)| w.with(op, n).unwrap())
    }

    #[test]
    fn names_what_binds() {
        let m = machine();
        let bound = |w: &[(Op, f64)]| predict(&m, &work(w)).unwrap().bound;
        assert_eq!(
            bound(&[(Op::F32, 8.0), (Op::Dram, 1.0)]),
            Bound::Op(Op::F32)
        );
        assert_eq!(
            bound(&[(Op::F32, 1.0), (Op::Dram, 1.0)]),
            Bound::Op(Op::Dram)
        );
        assert_eq!(bound(&[(Op::L2, 9.0), (Op::Dram, 1.0)]), Bound::Op(Op::L2));
        // f32 and f64 share the vector pipes: 3 + 2·3 > 4·2.
        assert_eq!(
            bound(&[(Op::F32, 3.0), (Op::F64, 3.0), (Op::Dram, 2.0)]),
            Bound::Op(Op::F64)
        );
        let capped = Machine {
            usable_power_w: Some(Estimate::new(30.0)),
            ..m.clone()
        };
        let p = predict(&capped, &work(&[(Op::F32, 3.0)])).unwrap();
        assert_eq!((p.bound, p.time_s), (Bound::Cap, 4.0));
        assert_eq!(p.power_w, Some(40.0));
    }

    #[test]
    fn intervals_hold_the_value_and_energy_splits_up() {
        let p = predict(&machine(), &work(&[(Op::F32, 8.0), (Op::Dram, 1.0)])).unwrap();
        let (lo, hi) = p.energy_interval_j.unwrap();
        let e = p.energy_j.unwrap();
        assert!(lo < e && e < hi);
        let parts: f64 = p.energy_by_op_j.values().sum::<f64>() + p.constant_energy_j.unwrap();
        assert!((parts - e).abs() < 1e-9);
    }

    #[test]
    fn time_alone_without_energy_costs() {
        let mut m = machine();
        m.constant_power_w = None;
        let p = predict(&m, &work(&[(Op::F32, 8.0)])).unwrap();
        assert_eq!((p.time_s, p.energy_j), (8.0, None));
        assert!(predict(&m, &work(&[(Op::Int, 8.0)])).is_err());
    }
}
