//! Costs as functions of voltage and clock (eqs 39–48).
//!
//! Dynamic power is C₀V²f and leakage C₁V (eqs 39–42 at fixed temperature), so an operation
//! costs c·V² joules (eqs 44, 45) and constant power is linear in the two voltages (eq 46).
//! Shared memory and L2 follow the core voltage. Over temperature, leakage is that of eq 40.

use crate::op::{Op, Unit};
use crate::work::Work;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One operating point of a two-domain device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Core clock, Hz.
    pub core_clock_hz: f64,
    /// Memory clock, Hz.
    pub mem_clock_hz: f64,
    /// Core voltage, V.
    pub core_volt: f64,
    /// Memory voltage, V.
    pub mem_volt: f64,
}

/// Supply voltage as a function of clock: flat up to a knee, then linear.
///
/// `V(f) = floor_volt · (1 + slope · max(0, f/max_clock − knee))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoltageCurve {
    /// Lowest voltage, V; 1 where only ratios of voltages are known.
    pub floor_volt: f64,
    /// Maximum clock, Hz.
    pub max_clock_hz: f64,
    /// Share of the maximum clock at which the voltage starts to rise, 0…1.
    pub knee: f64,
    /// Relative voltage per relative clock above the knee.
    pub slope: f64,
}

impl VoltageCurve {
    /// Voltage at a clock in Hz, in the unit of `floor_volt`.
    pub fn volt(&self, clock_hz: f64) -> f64 {
        self.floor_volt
            * (1.0 + self.slope * f64::max(0.0, clock_hz / self.max_clock_hz - self.knee))
    }
}

/// Leakage over temperature (eq 40): P_leak ∝ V exp(−q V_th/(a k_a T)).
///
/// With Θ = q V_th/(a k_a) and C₁ the leakage per volt at a reference temperature T₀, P_leak = C₁ V exp(−Θ (1/T − 1/T₀)).
/// Temperatures are in kelvins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeakageTemperature {
    /// Θ = q V_th/(a k_a), K; 0 for a leakage that does not depend on temperature (eq 42).
    pub theta_k: f64,
    /// T₀, K.
    pub reference_k: f64,
}

impl LeakageTemperature {
    /// 0 °C, K.
    pub const ZERO_C: f64 = 273.15;

    /// Leakage at a temperature over that at T₀.
    pub fn factor(&self, kelvin: f64) -> f64 {
        (-self.theta_k * (1.0 / kelvin - 1.0 / self.reference_k)).exp()
    }

    /// P_leak, W, of `w_per_volt` = C₁ at a voltage in V and a temperature in K.
    pub fn power_w(&self, w_per_volt: f64, volt: f64, kelvin: f64) -> f64 {
        w_per_volt * volt * self.factor(kelvin)
    }

    /// How much warmer than `kelvin` leakage is twice that at it, K; `None` where it never is.
    pub fn doubling_k(&self, kelvin: f64) -> Option<f64> {
        let inverse = 1.0 / kelvin - std::f64::consts::LN_2 / self.theta_k;
        (self.theta_k > 0.0 && inverse > 0.0).then(|| 1.0 / inverse - kelvin)
    }
}

/// The coefficients of eqs 44–48.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DvfsMachine {
    /// c of each class, J/(op·V²): ε = c·V² of its domain.
    pub switched: BTreeMap<Op, f64>,
    /// C₁,core, W/V.
    pub leak_core: f64,
    /// C₁,mem, W/V.
    pub leak_mem: f64,
    /// π_misc, W.
    pub misc_w: f64,
}

impl DvfsMachine {
    /// ε of a class at a setting, J (eqs 44, 45).
    pub fn energy_per_op(&self, op: Op, s: Setting) -> f64 {
        let volt = if op.unit() == Unit::Dram {
            s.mem_volt
        } else {
            s.core_volt
        };
        self.switched.get(&op).copied().unwrap_or(0.0) * volt * volt
    }

    /// π₀ at a setting, W (eq 46).
    pub fn constant_power(&self, s: Setting) -> f64 {
        self.leak_core * s.core_volt + self.leak_mem * s.mem_volt + self.misc_w
    }

    /// π₀ at a setting and a temperature in K, W: eq 46 with the leakage of eq 40; the coefficients are those at T₀.
    pub fn constant_power_at(&self, s: Setting, leakage: &LeakageTemperature, kelvin: f64) -> f64 {
        let at = |c: f64, volt: f64| leakage.power_w(c, volt, kelvin);
        at(self.leak_core, s.core_volt) + at(self.leak_mem, s.mem_volt) + self.misc_w
    }

    /// Energy of `work` that took `time_s` at a setting, J (eq 47).
    pub fn energy(&self, work: &Work, time_s: f64, s: Setting) -> f64 {
        let marginal: f64 = work
            .iter()
            .map(|(op, n)| n * self.energy_per_op(op, s))
            .sum();
        marginal + self.constant_power(s) * time_s
    }

    /// Index of the setting with the least predicted energy, given the time at each (§5.3).
    pub fn lowest_energy(&self, work: &Work, points: &[(Setting, f64)]) -> Option<usize> {
        let energy = |p: &(Setting, f64)| self.energy(work, p.1, p.0);
        (0..points.len()).min_by(|&a, &b| energy(&points[a]).total_cmp(&energy(&points[b])))
    }
}

/// "Energy lost" of a choice: E_chosen/E_min − 1.
pub fn energy_lost(energies: &[f64], chosen: usize) -> f64 {
    let best = energies.iter().copied().fold(f64::INFINITY, f64::min);
    energies[chosen] / best - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_quadratic_in_its_own_voltage() {
        let m = DvfsMachine {
            switched: [(Op::F32, 2.0), (Op::L2, 1.0), (Op::Dram, 3.0)].into(),
            leak_core: 5.0,
            leak_mem: 7.0,
            misc_w: 11.0,
        };
        let s = |core_volt, mem_volt| Setting {
            core_clock_hz: 1e9,
            mem_clock_hz: 1e9,
            core_volt,
            mem_volt,
        };
        assert_eq!(m.energy_per_op(Op::F32, s(2.0, 1.0)), 8.0);
        assert_eq!(m.energy_per_op(Op::L2, s(2.0, 1.0)), 4.0);
        assert_eq!(m.energy_per_op(Op::Dram, s(2.0, 1.0)), 3.0);
        assert_eq!(m.constant_power(s(2.0, 3.0)), 42.0);
        let w = Work::new().with(Op::F32, 10.0).unwrap();
        assert_eq!(m.energy(&w, 1.0, s(1.0, 1.0)), 20.0 + 23.0);
        // Half the time at twice the voltage: 80 + 0.5·28 against 20 + 23.
        assert_eq!(
            m.lowest_energy(&w, &[(s(2.0, 1.0), 0.5), (s(1.0, 1.0), 1.0)]),
            Some(1)
        );
        assert!((energy_lost(&[94.0, 43.0], 0) - (94.0 / 43.0 - 1.0)).abs() < 1e-15);
    }

    #[test]
    fn leakage_follows_eq_40() {
        // q V_th/(a k_a) of V_th = 0.3 V and a = 1.4: k_a/q = 8.617e-5 V/K.
        let theta_k = 0.3 / (1.4 * 8.617_333e-5);
        let l = LeakageTemperature {
            theta_k,
            reference_k: 323.15,
        };
        // Ratios of eq 40 as printed, with any k.
        let eq_40 = |v: f64, t: f64| 7.0 * v * (-theta_k / t).exp();
        for (v, t) in [(0.8, 300.0), (1.0, 323.15), (1.1, 363.15)] {
            let want = 5.0 * eq_40(v, t) / eq_40(1.0, 323.15);
            assert!((l.power_w(5.0, v, t) / want - 1.0).abs() < 1e-12);
        }
        let warmer = l.doubling_k(323.15).unwrap();
        assert!((l.factor(323.15 + warmer) - 2.0).abs() < 1e-12 && warmer > 20.0 && warmer < 40.0);

        let m = DvfsMachine {
            switched: BTreeMap::new(),
            leak_core: 5.0,
            leak_mem: 7.0,
            misc_w: 11.0,
        };
        let s = Setting {
            core_clock_hz: 1e9,
            mem_clock_hz: 1e9,
            core_volt: 2.0,
            mem_volt: 3.0,
        };
        // At the reference it is eq 46, and without Θ at any temperature.
        assert_eq!(m.constant_power_at(s, &l, 323.15), m.constant_power(s));
        let flat = LeakageTemperature { theta_k: 0.0, ..l };
        assert_eq!(m.constant_power_at(s, &flat, 400.0), m.constant_power(s));
        assert_eq!(flat.doubling_k(323.15), None);
        let hot = m.constant_power_at(s, &l, 323.15 + warmer);
        assert!((hot - (2.0 * 31.0 + 11.0)).abs() < 1e-9, "{hot}");
    }

    #[test]
    fn voltage_is_flat_then_rises() {
        let v = VoltageCurve {
            floor_volt: 0.8,
            max_clock_hz: 1e9,
            knee: 0.5,
            slope: 1.0,
        };
        assert_eq!(v.volt(0.4e9), 0.8);
        assert!((v.volt(1e9) - 1.2).abs() < 1e-12);
    }
}
