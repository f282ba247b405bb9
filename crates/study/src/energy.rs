//! Predicted time and energy of a kernel: at the roof, and for the time that was measured.

use greenup_model::clocked::follows_core;
use greenup_model::{Machine, MachineError, Op, Prediction, Unit, Work, predict, predict_clocked};
use greenup_tune::analyze::counted::marginal;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where the predicted energy of a kernel goes (thesis, chapter 6): operations and bytes by their costs, and constant power
/// over the measured time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergySplit {
    /// Energy of the operations, J.
    pub arithmetic_j: f64,
    /// Energy of the bytes of all memory levels, J.
    pub data_j: f64,
    /// Constant power × measured time, J.
    pub constant_j: f64,
    /// Sum of the three, J.
    pub total_j: f64,
    /// Sums at the lower and the upper ends of the machine's intervals, J.
    pub interval_j: (f64, f64),
    /// Energy of each class, J.
    pub by_op_j: BTreeMap<Op, f64>,
}

/// Predicts the energy of work that took `time_s`; where the machine knows how its voltage follows the clock, at the
/// clock that was measured. `None` if the machine lacks an energy.
pub fn split(
    machine: &Machine,
    work: &Work,
    time_s: f64,
    clock_hz: Option<f64>,
) -> Option<EnergySplit> {
    let squared = match (&machine.clock, clock_hz) {
        (Some(c), Some(hz)) => c.voltage(hz).powi(2),
        _ => 1.0,
    };
    let total = |m: &Machine| -> Option<f64> {
        let marginal: f64 = marginal(m, work, squared).ok()?.values().sum();
        Some(marginal + m.constant_power_w.as_ref()?.value * time_s)
    };
    let by_op_j = marginal(machine, work, squared).ok()?;
    let sum = |data: bool| -> f64 {
        let of_kind = by_op_j.iter().filter(|(op, _)| moves_data(**op) == data);
        of_kind.map(|(_, j)| j).sum()
    };
    Some(EnergySplit {
        arithmetic_j: sum(false),
        data_j: sum(true),
        constant_j: machine.constant_power_w.as_ref()?.value * time_s,
        total_j: total(machine)?,
        interval_j: (
            total(&machine.corner(true))?,
            total(&machine.corner(false))?,
        ),
        by_op_j,
    })
}

fn moves_data(op: Op) -> bool {
    matches!(op.unit(), Unit::L1 | Unit::L2 | Unit::L3 | Unit::Dram)
}

/// Predicts work at the roof: on a machine that lowers its clock at its power cap, at the clock where it settles.
///
/// # Errors
/// The machine has no cost for a class of the work.
pub fn at_roof(machine: &Machine, work: &Work) -> Result<Prediction, MachineError> {
    let mut p = predict(machine, work)?;
    let (Some(clocking), Some(pi0), Ok(c)) = (
        &machine.clock,
        &machine.constant_power_w,
        predict_clocked(machine, work),
    ) else {
        return Ok(p);
    };
    let scaled = |(lo, hi): (f64, f64), k: f64| (lo * k, hi * k);
    p.time_interval_s = scaled(p.time_interval_s, c.time_s / p.time_s);
    p.energy_interval_j = (p.energy_interval_j.zip(p.energy_j))
        .map(|(interval, energy)| scaled(interval, c.energy_j / energy));
    let squared = clocking.voltage(c.clock_hz).powi(2);
    for (op, joules) in &mut p.energy_by_op_j {
        *joules *= if follows_core(*op) { squared } else { 1.0 };
    }
    p.time_s = c.time_s;
    p.energy_j = Some(c.energy_j);
    p.power_w = Some(c.power_w);
    p.bound = c.bound;
    p.constant_energy_j = Some(pi0.value * c.time_s);
    Ok(p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::shipped;

    #[test]
    fn the_parts_add_up_at_any_clock() {
        let h200 = shipped::find("h200").unwrap().unwrap();
        let work = Work::new()
            .with(Op::TensorF64, 1e12)
            .and_then(|w| w.with(Op::Dram, 1e10))
            .unwrap();
        let at = |hz| split(&h200, &work, 0.02, hz).unwrap();
        for s in [at(None), at(Some(1.6e9))] {
            let sum = s.arithmetic_j + s.data_j + s.constant_j;
            assert!((sum / s.total_j - 1.0).abs() < 1e-12);
            assert!(s.interval_j.0 < s.total_j && s.total_j < s.interval_j.1);
        }
        // Slow memory has its own clock, constant power is constant.
        assert!(at(Some(1.6e9)).arithmetic_j < 0.7 * at(None).arithmetic_j);
        assert_eq!(at(Some(1.6e9)).data_j, at(None).data_j);
    }

    #[test]
    fn a_roof_at_the_cap_has_the_power_of_the_cap() {
        let h200 = shipped::find("h200").unwrap().unwrap();
        let work = Work::new()
            .with(Op::TensorF64, 1e12)
            .and_then(|w| w.with(Op::L1, 4e11))
            .unwrap();
        let p = at_roof(&h200, &work).unwrap();
        assert!((p.power_w.unwrap() - 699.0).abs() < 1.0, "{p:?}");
        let sum: f64 = p.energy_by_op_j.values().sum::<f64>() + p.constant_energy_j.unwrap();
        assert!((sum / p.energy_j.unwrap() - 1.0).abs() < 1e-6, "{p:?}");
        let (lo, hi) = p.energy_interval_j.unwrap();
        assert!(lo < p.energy_j.unwrap() && p.energy_j.unwrap() < hi);
    }
}
