//! What-if analyses: throttling, power bounds, iso-power clusters (thesis chapter 4).

use crate::machine::Machine;
use crate::op::{Op, Unit};
use std::collections::BTreeMap;

/// A what-if that has no answer.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum WhatIfError {
    /// The machine, named, has neither cap nor energy costs.
    #[error(
        "machine `{0}` has no power cap (usable_power_w) and no energy costs to derive one from"
    )]
    NoCap(String),
    /// The machine, named, has no constant power.
    #[error("machine `{0}` has no constant power")]
    NoConstantPower(String),
    /// A power bound at or below the constant power.
    #[error(
        "a bound of {bound_w} W leaves nothing above the constant power of `{machine}`, {pi0} W"
    )]
    BelowConstant {
        /// Name of the machine.
        machine: String,
        /// The bound, W.
        bound_w: f64,
        /// Constant power, W.
        pi0: f64,
    },
    /// A factor outside its range.
    #[error("the factor must be a finite number of at least {least}, not {value}")]
    BadFactor {
        /// The value.
        value: f64,
        /// Smallest valid value.
        least: f64,
    },
    /// The new machine has a cost beyond the range of numbers.
    #[error("with {value:?}, {cause}: beyond the range of numbers")]
    BeyondNumbers {
        /// The argument.
        value: f64,
        /// The cost that is not valid any more.
        cause: String,
    },
}

/// The machine of a what-if with this argument, if all of its costs are still valid.
fn sound(machine: Machine, value: f64) -> Result<Machine, WhatIfError> {
    match machine.check() {
        Ok(()) => Ok(machine),
        Err(cause) => Err(WhatIfError::BeyondNumbers {
            value,
            cause: cause.to_string(),
        }),
    }
}

impl Machine {
    /// Usable power Δπ: the cap if there is one, else the largest power that a mix of one flop class
    /// and slow memory can draw, π_flop + π_mem.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn usable_power(&self) -> Result<f64, WhatIfError> {
        if let Some(dpi) = &self.usable_power_w {
            return Ok(dpi.value);
        }
        self.main_flop()
            .and_then(|flop| self.roofline(flop, Op::Dram).ok())
            .map(|r| r.pi_flop() + r.pi_mem())
            .ok_or_else(|| WhatIfError::NoCap(self.name.clone()))
    }

    fn pi0(&self) -> Result<f64, WhatIfError> {
        self.constant_power_w
            .as_ref()
            .map(|p| p.value)
            .ok_or_else(|| WhatIfError::NoConstantPower(self.name.clone()))
    }

    /// π₀ + Δπ, W.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn max_power(&self) -> Result<f64, WhatIfError> {
        Ok(self.pi0()? + self.usable_power()?)
    }

    /// π₀/(π₀ + Δπ): the share of maximum power that no algorithm can save.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn constant_share(&self) -> Result<f64, WhatIfError> {
        Ok(self.pi0()? / self.max_power()?)
    }

    /// This machine with its usable power cut to Δπ/k, k ≥ 1.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn throttled(&self, k: f64) -> Result<Machine, WhatIfError> {
        if !k.is_finite() || k < 1.0 {
            return Err(WhatIfError::BadFactor {
                value: k,
                least: 1.0,
            });
        }
        sound(self.with_usable_power(self.usable_power()? / k), k)
    }

    /// This machine under a bound on its total power: Δπ = min(Δπ, bound − π₀), and the cap that its clock keeps.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn power_bounded(&self, bound_w: f64) -> Result<Machine, WhatIfError> {
        let pi0 = self.pi0()?;
        if !bound_w.is_finite() || bound_w <= pi0 {
            return Err(WhatIfError::BelowConstant {
                machine: self.name.clone(),
                bound_w,
                pi0,
            });
        }
        let dpi = self
            .usable_power_w
            .as_ref()
            .map_or(f64::INFINITY, |p| p.value);
        let mut bounded = self.with_usable_power(dpi.min(bound_w - pi0));
        if let Some(clock) = bounded.clock.as_mut().filter(|c| c.cap_w.value > bound_w) {
            clock.cap_w = crate::machine::Estimate::new(bound_w);
        }
        sound(bounded, bound_w)
    }

    /// Power above π₀ with every unit busy at once, each with its class of the most power, W: the sum over units of the largest
    /// ε/τ. No mix of operations draws more. `None` where no class has both costs.
    pub fn full_power(&self) -> Option<f64> {
        let mut by_unit: BTreeMap<Unit, f64> = BTreeMap::new();
        for (op, cost) in &self.cost {
            if let (Some(t), Some(e)) = (&cost.time_s, &cost.energy_j) {
                let most = by_unit.entry(op.unit()).or_insert(0.0);
                *most = most.max(e.value / t.value);
            }
        }
        (!by_unit.is_empty()).then(|| by_unit.values().sum())
    }

    /// N of this machine with a free network: τ/N, ε, N·π₀, N·Δπ.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn cluster(&self, nodes: f64) -> Result<Machine, WhatIfError> {
        if !nodes.is_finite() || nodes <= 0.0 {
            return Err(WhatIfError::BadFactor {
                value: nodes,
                least: 1.0,
            });
        }
        sound(self.scale(1.0 / nodes, nodes), nodes)
    }

    /// How many of `self` draw the same maximum power as `big`.
    ///
    /// # Errors
    /// [`WhatIfError`] if the machine lacks the power it needs or an argument is out of range.
    pub fn nodes_for_power_of(&self, big: &Machine) -> Result<f64, WhatIfError> {
        Ok(big.max_power()? / self.max_power()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Work, predict, shipped};

    #[test]
    fn what_ifs_beyond_the_range_of_numbers_are_refused() {
        let m = shipped::find("h200").unwrap().unwrap();
        let once = m.throttled(1e308).unwrap();
        let e = once.throttled(1e308).unwrap_err().to_string();
        assert!(
            e.starts_with("with 1e308, usable_power_w is 0") && e.contains("range of numbers"),
            "{e}"
        );
        assert!(m.cluster(1e300).and_then(|m| m.cluster(1e300)).is_err());
        assert!(m.cluster(1e-300).and_then(|m| m.cluster(1e-300)).is_err());
        // A valid machine, on which this work takes forever.
        let work = Work::new().with(Op::F64, 1e18).unwrap();
        let e = predict(&once, &work).unwrap_err().to_string();
        assert!(e.contains("range of numbers"), "{e}");
        assert!(predict(&m.throttled(1e6).unwrap(), &work).is_ok());
    }
}
