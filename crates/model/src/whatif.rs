//! What-if analyses: throttling, power bounds, iso-power clusters (thesis chapter 4).

use crate::machine::Machine;
use crate::op::Op;

/// A what-if that has no answer.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum WhatIfError {
    #[error(
        "machine `{0}` has no power cap (usable_power_w) and no energy costs to derive one from"
    )]
    NoCap(String),
    #[error("machine `{0}` has no constant power")]
    NoConstantPower(String),
    #[error(
        "a bound of {bound_w} W leaves nothing above the constant power of `{machine}`, {pi0} W"
    )]
    BelowConstant {
        machine: String,
        bound_w: f64,
        pi0: f64,
    },
    #[error("the factor must be a finite number of at least {least}, not {value}")]
    BadFactor { value: f64, least: f64 },
}

impl Machine {
    /// Usable power Δπ: the cap if there is one, else what the hungriest mix of one flop class
    /// and slow memory can draw, π_flop + π_mem.
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
    pub fn max_power(&self) -> Result<f64, WhatIfError> {
        Ok(self.pi0()? + self.usable_power()?)
    }

    /// π₀/(π₀ + Δπ): the share of maximum power that no algorithm can save.
    pub fn constant_share(&self) -> Result<f64, WhatIfError> {
        Ok(self.pi0()? / self.max_power()?)
    }

    /// This machine with its usable power cut to Δπ/k, k ≥ 1.
    pub fn throttled(&self, k: f64) -> Result<Machine, WhatIfError> {
        if !k.is_finite() || k < 1.0 {
            return Err(WhatIfError::BadFactor {
                value: k,
                least: 1.0,
            });
        }
        Ok(self.with_usable_power(self.usable_power()? / k))
    }

    /// This machine under a bound on its total power: Δπ = min(Δπ, bound − π₀).
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
        Ok(self.with_usable_power(dpi.min(bound_w - pi0)))
    }

    /// N of this machine with a free network: τ/N, ε, N·π₀, N·Δπ.
    pub fn cluster(&self, nodes: f64) -> Result<Machine, WhatIfError> {
        if !nodes.is_finite() || nodes <= 0.0 {
            return Err(WhatIfError::BadFactor {
                value: nodes,
                least: 1.0,
            });
        }
        Ok(self.scale(1.0 / nodes, nodes))
    }

    /// How many of `self` draw the same maximum power as `big`.
    pub fn nodes_for_power_of(&self, big: &Machine) -> Result<f64, WhatIfError> {
        Ok(big.max_power()? / self.max_power()?)
    }
}
