//! Powers with their intervals, and that of a CPU without a sensor.

use greenup_app::{AppError, Result};
use greenup_model::Machine;
use serde::Serialize;

/// A value with the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            lo: value,
            hi: value,
        }
    }

    pub fn of(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        Self {
            value: f(self.value),
            lo: a.min(b),
            hi: a.max(b),
        }
    }

    pub fn with(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        // Both ends of a machine belong together.
        let (a, b) = (f(self.lo, other.lo), f(self.hi, other.hi));
        Self {
            value: f(self.value, other.value),
            lo: a.min(b),
            hi: a.max(b),
        }
    }
}

/// Power of the CPU, W, busy on all its cores or while one of them waits for a GPU.
#[derive(Clone, Copy, Debug)]
pub struct CpuPower {
    pub busy: Range,
    pub waiting: Range,
}

impl CpuPower {
    pub fn of(m: &Machine) -> Result<Self> {
        let (Some(idle), Some(usable)) = (&m.constant_power_w, &m.usable_power_w) else {
            return Err(AppError::new(format!(
                "machine `{}` has no constant_power_w and usable_power_w",
                m.name
            ))
            .hint("give both in the machine file, with lo and hi and where they come from"));
        };
        let cores = (m.facts.get("threads"))
            .and_then(|t| t.parse().ok())
            .filter(|n: &f64| *n >= 1.0)
            .unwrap_or(1.0);
        let at = |share: f64| Range {
            value: idle.value + share * usable.value,
            lo: idle.low() + share * usable.low(),
            hi: idle.high() + share * usable.high(),
        };
        Ok(Self {
            busy: at(1.0),
            waiting: at(1.0 / cores),
        })
    }
}
