//! Gases, and the walls around them.

use serde::{Deserialize, Serialize};

/// A gas with p = (γ − 1) ρ e − γ p∞; ideal if p∞ = 0, else stiffened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gas {
    /// Ratio of specific heats γ.
    pub gamma: f64,
    /// Pressure p∞ of a stiffened gas.
    #[serde(default)]
    pub p_inf: f64,
}

/// Boundary condition of a part of the boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Prescribed velocity per component; `None` leaves the component free.
    pub constrained: [Option<f64>; 3],
    /// Whether its nodes must lie in a plane.
    pub straight: bool,
}

impl Wall {
    /// A straight wall normal to x, y or z, for attribute 1, 2 or 3.
    pub fn normal(number: u32) -> Self {
        Self {
            constrained: std::array::from_fn(|c| (c as u32 + 1 == number).then_some(0.0)),
            straight: true,
        }
    }

    /// A free boundary.
    pub fn free() -> Self {
        Self {
            constrained: [None; 3],
            straight: false,
        }
    }
}
