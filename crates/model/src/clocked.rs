//! The cap as it acts on a GPU: not flat, as eqs 32–38 of the thesis have it, but through the clock.
//! At the cap the clock falls, and the voltage with it, so that both τ and ε change.
//!
//! Times of classes that the core clock drives are τ f₀/f, with f₀ the clock at which τ was
//! measured; their energies are ε v², v = 1 − s (1 − f/f_max) (eqs 39–48 with voltage linear in the
//! clock). Slow memory has a clock of its own. The device runs at the highest clock at which it stays
//! within its cap.

use crate::machine::{Clocking, Machine, MachineError};
use crate::op::{Op, Unit};
use crate::predict::Bound;
use crate::work::Work;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a computation costs on a device that lowers its clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockedPrediction {
    /// Core clock, Hz.
    pub clock_hz: f64,
    /// Time, s.
    pub time_s: f64,
    /// Energy, J.
    pub energy_j: f64,
    /// Mean power, W.
    pub power_w: f64,
    /// What limits the time.
    pub bound: Bound,
}

/// Whether the core clock drives the class.
pub fn follows_core(op: Op) -> bool {
    op.unit() != Unit::Dram
}

impl Clocking {
    /// v(f): voltage over that at the highest clock, at least a half.
    pub fn voltage(&self, clock_hz: f64) -> f64 {
        (1.0 - self.voltage_slope.value * (1.0 - clock_hz / self.highest_hz.value)).max(0.5)
    }
}

/// Clocks below this share of the highest are not considered.
const LEAST_SHARE: f64 = 0.15;

/// Predicts clock, time, energy and power of `work` on a machine that lowers its clock.
///
/// # Errors
/// The machine lacks the cost of a class, its energy, or has no clock.
pub fn predict_clocked(machine: &Machine, work: &Work) -> Result<ClockedPrediction, MachineError> {
    let (Some(clocking), Some(pi0)) = (&machine.clock, &machine.constant_power_w) else {
        return Err(MachineError::NoEnergy(machine.name.clone()));
    };
    let mut parts = Vec::new();
    for (op, n) in work.iter() {
        let cost = machine.cost_of(op)?;
        let energy = cost
            .energy_j
            .as_ref()
            .ok_or_else(|| MachineError::NoEnergy(machine.name.clone()))?;
        parts.push(Part {
            op,
            time_s: n * cost.time_s.as_ref().map_or(0.0, |t| t.value),
            at_hz: cost.clock_hz.unwrap_or(clocking.highest_hz.value),
            energy_j: n * energy.value,
        });
    }
    let at = |clock_hz: f64| point(&parts, clocking, pi0.value, clock_hz);
    let highest = clocking.highest_hz.value;
    // A class that binds has its own highest clock: that at which its time was measured.
    let free = at(highest);
    let own = parts
        .iter()
        .filter(|p| free.bound == Bound::Op(p.op) && follows_core(p.op))
        .map(|p| p.at_hz)
        .fold(highest, f64::min);
    let best = at(own);
    if !(best.time_s.is_finite() && best.energy_j.is_finite() && best.power_w.is_finite()) {
        return Err(MachineError::BeyondNumbers(machine.name.clone()));
    }
    if best.power_w <= clocking.cap_w.value {
        return Ok(best);
    }
    // Power rises with the clock: halve the interval.
    let (mut lo, mut hi) = (LEAST_SHARE * highest, own);
    for _ in 0..60 {
        let mid = 0.5 * (lo + hi);
        if at(mid).power_w > clocking.cap_w.value {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    Ok(ClockedPrediction {
        bound: Bound::Cap,
        ..at(lo)
    })
}

/// One class of a computation, at the clock of its cost.
struct Part {
    op: Op,
    time_s: f64,
    at_hz: f64,
    energy_j: f64,
}

fn point(parts: &[Part], clocking: &Clocking, pi0: f64, clock_hz: f64) -> ClockedPrediction {
    let mut by_unit: BTreeMap<Unit, f64> = BTreeMap::new();
    let mut energy_j = 0.0;
    let mut longest = (0.0, Op::Dram);
    let squared = clocking.voltage(clock_hz).powi(2);
    for p in parts {
        let (t, e) = if follows_core(p.op) {
            (p.time_s * p.at_hz / clock_hz, p.energy_j * squared)
        } else {
            (p.time_s, p.energy_j)
        };
        *by_unit.entry(p.op.unit()).or_insert(0.0) += t;
        energy_j += e;
        if t > longest.0 {
            longest = (t, p.op);
        }
    }
    let time_s = by_unit.values().copied().fold(0.0, f64::max);
    energy_j += pi0 * time_s;
    ClockedPrediction {
        clock_hz,
        time_s,
        energy_j,
        power_w: if time_s > 0.0 { energy_j / time_s } else { pi0 },
        bound: Bound::Op(longest.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Estimate, OpCost};

    fn machine(slope: f64, cap: f64) -> Machine {
        let cost = |t: f64, e: f64| OpCost {
            time_s: Some(Estimate::new(t)),
            energy_j: Some(Estimate::new(e)),
            clock_hz: Some(2e9),
        };
        Machine {
            name: "m".into(),
            title: "m".into(),
            label: Default::default(),
            about: String::new(),
            sources: vec![],
            facts: Default::default(),
            warnings: vec![],
            constant_power_w: Some(Estimate::new(100.0)),
            usable_power_w: None,
            clock: Some(Clocking {
                highest_hz: Estimate::new(2e9),
                voltage_slope: Estimate::new(slope),
                cap_w: Estimate::new(cap),
            }),
            network: None,
            link: None,
            host: None,
            cost: [(Op::F64, cost(1e-12, 8e-10)), (Op::Dram, cost(1e-11, 2e-9))].into(),
        }
    }

    fn flops(n: f64) -> Work {
        Work::new().with(Op::F64, n).unwrap()
    }

    #[test]
    fn below_the_cap_it_is_the_uncapped_model() {
        let p = predict_clocked(&machine(1.0, 1000.0), &flops(1e12)).unwrap();
        assert_eq!((p.clock_hz, p.bound), (2e9, Bound::Op(Op::F64)));
        assert!((p.time_s - 1.0).abs() < 1e-12 && (p.energy_j - 900.0).abs() < 1e-9);
    }

    #[test]
    fn at_the_cap_power_is_the_cap_and_a_falling_voltage_pays() {
        // With v = f/f_max the power above 100 W goes as the cube of the clock.
        let p = predict_clocked(&machine(1.0, 500.0), &flops(1e12)).unwrap();
        assert_eq!(p.bound, Bound::Cap);
        assert!((p.power_w - 500.0).abs() < 1e-6);
        assert!((p.clock_hz / 2e9 - 0.5_f64.cbrt()).abs() < 1e-9, "{p:?}");
        // At one voltage only the time gives: the flat cap of eq 34.
        let flat = predict_clocked(&machine(0.0, 500.0), &flops(1e12)).unwrap();
        assert!((flat.time_s - 800.0 / 400.0).abs() < 1e-9, "{flat:?}");
        assert!(p.time_s < flat.time_s && p.energy_j < flat.energy_j);
    }

    #[test]
    fn slow_memory_has_its_own_clock() {
        let w = Work::new().with(Op::Dram, 1e11).unwrap();
        let p = predict_clocked(&machine(1.0, 150.0), &w).unwrap();
        assert!((p.time_s - 1.0).abs() < 1e-12, "{p:?}");
    }
}
