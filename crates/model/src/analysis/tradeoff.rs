//! Work–communication trade-offs (eqs 13–32): is it worth doing f times the flops to move only
//! 1/m of the bytes?
//!
//! The baseline does W flops on Q bytes at intensity I; the new algorithm does fW on Q/m, so its
//! intensity is f·m·I. No cap. Bounds for π₀ = 0 and π₀ > 0 are one formula here: η = 1 at
//! π₀ = 0, where the general form reduces to the thesis's eqs 18–23.

use crate::roofline::EnergyRoofline;

/// A new algorithm relative to its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tradeoff {
    /// I, the intensity of the baseline, flop/B.
    pub intensity: f64,
    /// f > 1: the new algorithm's flops over the baseline's.
    pub extra_work: f64,
    /// m > 1: the baseline's bytes over the new algorithm's.
    pub less_traffic: f64,
}

/// Which side of the time balance the two algorithms lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Both memory bound.
    Memory,
    /// Memory bound before, compute bound after.
    Crossing,
    /// Both compute bound.
    Compute,
}

/// What the trade gains, and the bounds that the theory puts on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Region of the trade-off.
    pub case: Case,
    /// ΔT, old time over new.
    pub speedup: f64,
    /// ΔE, old energy over new.
    pub greenup: f64,
    /// Open lower and upper bound of the greenup in this case.
    pub greenup_bounds: (f64, f64),
    /// Largest f (not reached) at which the trade still saves energy at this m.
    pub max_extra_work: f64,
    /// The same as m → ∞: no reduction of traffic pays for more work than this.
    pub max_extra_work_any_traffic: f64,
}

impl EnergyRoofline {
    /// Evaluates a trade-off on this machine, ignoring its cap.
    pub fn tradeoff(&self, t: Tradeoff) -> Gain {
        let r = EnergyRoofline { dpi: None, ..*self };
        let Tradeoff {
            intensity: i,
            extra_work: f,
            less_traffic: m,
        } = t;
        let (bt, be, eta) = (r.time_balance(), r.energy_balance(), r.eta());
        let new_i = f * m * i;
        let speedup = f64::max(1.0, bt / i) / f64::max(f, bt / (m * i));
        let old = 1.0 + r.effective_balance(i) / i;
        let new_traffic = r.effective_balance(new_i) / (m * i);
        let greenup = old / (f + new_traffic);

        // g of the thesis's 3.5.10; G of eq 18 at η = 1.
        let g = (bt * (1.0 - eta) + eta * (be + i)) / (bt + eta * be);
        let (case, greenup_bounds) = if i >= bt {
            let old = 1.0 + eta * be / i;
            (
                Case::Compute,
                (
                    speedup * old / (1.0 + eta * be / (f * i)),
                    old / (1.0 + eta * be / (m * i)),
                ),
            )
        } else if new_i >= bt {
            (Case::Crossing, (speedup * g, m * g))
        } else {
            // Upper bound corrected: the thesis bounds B̂(fmI) from the wrong side for π₀ > 0.
            (Case::Memory, (g, old / (1.0 + eta * be / bt)))
        };
        Gain {
            case,
            speedup,
            greenup,
            greenup_bounds,
            max_extra_work: r.max_extra_work(i, m),
            max_extra_work_any_traffic: old,
        }
    }

    /// The f at which greenup is 1 for given I and m: eq 17 at π₀ = 0, eq 27 in general.
    ///
    /// f + B̂(fmI)/(mI) grows with f (its memory-bound slope is η ≥ 0), so bisection finds the
    /// root.
    fn max_extra_work(&self, i: f64, m: f64) -> f64 {
        let budget = 1.0 + self.effective_balance(i) / i;
        let cost = |f: f64| f + self.effective_balance(f * m * i) / (m * i);
        let (mut lo, mut hi) = (0.0, budget);
        for _ in 0..200 {
            let mid = 0.5 * (lo + hi);
            if cost(mid) < budget {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        0.5 * (lo + hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eq_17_at_pi0_zero() {
        let r = EnergyRoofline {
            tau_flop: 1.0,
            tau_mem: 3.6,
            eps_flop: 25.0,
            eps_mem: 360.0,
            pi0: 0.0,
            dpi: None,
        };
        for (i, m) in [(0.5, 2.0), (3.0, 4.0), (20.0, 16.0)] {
            let gain = r.tradeoff(Tradeoff {
                intensity: i,
                extra_work: 1.5,
                less_traffic: m,
            });
            let want = 1.0 + (m - 1.0) / m * r.energy_balance() / i;
            assert!((gain.max_extra_work / want - 1.0).abs() < 1e-12);
            assert_eq!(gain.greenup > 1.0, 1.5 < want);
        }
    }
}
