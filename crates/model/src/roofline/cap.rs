//! The power cap: balances B⁺ and B⁻, the capped power line, throttling factors (eqs 34–38).

use crate::roofline::EnergyRoofline;

/// By how much each class is slowed against its own peak (slides 95–101).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttling {
    /// s_flop ≥ 1: effective flop time is `tau_flop * flop`.
    pub flop: f64,
    /// s_mem ≥ 1: effective memory time is `tau_mem * mem`.
    pub mem: f64,
}

/// What limits a point on the capped roofline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Memory bandwidth.
    Memory,
    /// The power cap.
    Cap,
    /// Arithmetic throughput.
    Compute,
}

impl EnergyRoofline {
    /// B⁺ (eq 36): the cap stops binding above this intensity.
    ///
    /// Eq 36 holds only for Δπ > π_flop; otherwise the cap binds for ever and B⁺ = ∞ (the guard
    /// that the printed equation lacks).
    pub fn balance_plus(&self) -> f64 {
        let b = self.time_balance();
        match self.dpi {
            None => b,
            Some(dpi) if dpi <= self.pi_flop() => f64::INFINITY,
            Some(dpi) => b * f64::max(1.0, self.pi_mem() / (dpi - self.pi_flop())),
        }
    }

    /// B⁻ (eq 37): the cap binds above this intensity. 0 when Δπ ≤ π_mem (guard, as for eq 36).
    pub fn balance_minus(&self) -> f64 {
        let b = self.time_balance();
        match self.dpi {
            None => b,
            Some(dpi) if dpi <= self.pi_mem() => 0.0,
            Some(dpi) => b * f64::min(1.0, (dpi - self.pi_mem()) / self.pi_flop()),
        }
    }

    /// Capped power by eq 38 with the guards.
    pub fn capped_power(&self, intensity: f64) -> f64 {
        let (pf, pm, b) = (self.pi_flop(), self.pi_mem(), self.time_balance());
        self.pi0
            + if intensity >= self.balance_plus() {
                pf + pm * b / intensity
            } else if intensity <= self.balance_minus() {
                pf * intensity / b + pm
            } else {
                self.dpi.unwrap_or(f64::INFINITY)
            }
    }

    /// What limits a computation of intensity I.
    pub fn regime(&self, intensity: f64) -> Regime {
        if intensity > self.balance_minus() && intensity < self.balance_plus() {
            Regime::Cap
        } else if intensity < self.time_balance() {
            Regime::Memory
        } else {
            Regime::Compute
        }
    }

    /// Factors by which memory or cap slow each class at intensity I.
    ///
    /// s_flop = max(1, B_τ/I, (π_flop/Δπ)(1 + B_ε/I)); s_mem = s_flop·I/B_τ.
    pub fn throttling(&self, intensity: f64) -> Throttling {
        let flop = self.time_per_flop(intensity) / self.tau_flop;
        Throttling {
            flop,
            mem: flop * intensity / self.time_balance(),
        }
    }

    /// Whether no algorithm is ever slowed by the cap: Δπ ≥ π_flop + π_mem.
    pub fn never_throttles(&self) -> bool {
        self.dpi
            .is_none_or(|dpi| dpi >= self.pi_flop() + self.pi_mem())
    }
}
