//! The power cap: balances B⁺ and B⁻, the capped power line, throttling factors (eqs 34–38).

use crate::roofline::EnergyRoofline;
use serde::Serialize;

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

/// The usable power above which the cap slows no algorithm (slide 101).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CapWithoutThrottling {
    /// The sufficient condition Δπ ≥ π_flop (1 + B_ε/B_τ), W: it holds for any intensity.
    pub sufficient_w: f64,
    /// The least Δπ for the intensities asked about, W.
    pub least_w: f64,
    /// The intensity that needs it, flop/B.
    pub intensity: f64,
}

impl EnergyRoofline {
    /// Power above π₀ that a computation of intensity I draws where nothing slows it but arithmetic and bandwidth, W:
    /// (ε_flop + ε_mem/I)/max(τ_flop, τ_mem/I).
    pub fn unthrottled_power(&self, intensity: f64) -> f64 {
        (self.eps_flop + self.eps_mem / intensity) / self.tau_flop.max(self.tau_mem / intensity)
    }

    /// The least usable power at which no intensity from `lo` to `hi` is throttled, with the sufficient condition.
    ///
    /// The power without a cap rises up to B_τ and falls beyond, so that its largest value is at the intensity of the range
    /// nearest B_τ. Where the range holds B_τ both conditions are the same, π_flop + π_mem.
    pub fn cap_without_throttling(&self, lo: f64, hi: f64) -> CapWithoutThrottling {
        let intensity = self.time_balance().max(lo).min(hi);
        CapWithoutThrottling {
            sufficient_w: self.pi_flop() * (1.0 + self.balance_gap()),
            least_w: self.unthrottled_power(intensity),
            intensity,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 machines whose costs differ by factors of up to 100, capped anywhere from a tenth to twice what they can draw.
    fn machines() -> Vec<EnergyRoofline> {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut cost = |at: f64| at * 100_f64.powf(rng.f64() - 0.5);
        (0..200)
            .map(|_| {
                let r = EnergyRoofline {
                    tau_flop: cost(1e-12),
                    tau_mem: cost(1e-11),
                    eps_flop: cost(1e-11),
                    eps_mem: cost(1e-10),
                    pi0: cost(50.0),
                    dpi: None,
                };
                let share = cost(1.0).clamp(0.1, 2.0);
                let dpi = Some(share * (r.pi_flop() + r.pi_mem()));
                EnergyRoofline { dpi, ..r }
            })
            .collect()
    }

    fn grid(lo: f64, hi: f64) -> impl Iterator<Item = f64> {
        (0..=2000).map(move |k| lo * (hi / lo).powf(f64::from(k) / 2000.0))
    }

    #[test]
    fn the_least_cap_throttles_nothing_and_a_lower_one_does() {
        for r in machines() {
            for (lo, hi) in [(1e-6, 1e6), (0.25, 2.0), (64.0, 512.0)] {
                let found = r.cap_without_throttling(lo, hi);
                assert!(found.least_w <= found.sufficient_w * (1.0 + 1e-12));
                let with = |dpi: f64| EnergyRoofline {
                    dpi: Some(dpi),
                    ..r
                };
                let free = EnergyRoofline { dpi: None, ..r };
                let slowed = |r: &EnergyRoofline, i: f64| {
                    r.time_per_flop(i) > free.time_per_flop(i) * (1.0 + 1e-12)
                };
                let enough = with(found.least_w * (1.0 + 1e-9));
                assert!(grid(lo, hi).all(|i| !slowed(&enough, i)), "{r:?}");
                let less = with(found.least_w * (1.0 - 1e-6));
                assert!(slowed(&less, found.intensity), "{r:?}");
                // No intensity of the range needs more, by scanning it.
                let scanned = grid(lo, hi)
                    .map(|i| r.unthrottled_power(i))
                    .fold(0.0, f64::max);
                assert!(scanned <= found.least_w * (1.0 + 1e-12));
                assert!(scanned >= found.least_w * 0.98, "{scanned} {found:?}");
            }
            let all = r.cap_without_throttling(0.0, f64::INFINITY);
            assert!((all.least_w / all.sufficient_w - 1.0).abs() < 1e-12);
            assert_eq!(r.dpi.unwrap() >= all.least_w, r.never_throttles());
        }
    }

    #[test]
    fn throttling_factors_are_those_of_slide_97() {
        for r in machines() {
            let dpi = r.dpi.unwrap();
            for i in grid(0.01, 1000.0).step_by(100) {
                let t = r.throttling(i);
                let flop = f64::max(1.0, r.time_balance() / i)
                    .max(r.pi_flop() / dpi * (1.0 + r.energy_balance() / i));
                assert!((t.flop / flop - 1.0).abs() < 1e-12);
                assert!((t.mem / (flop * i / r.time_balance()) - 1.0).abs() < 1e-12);
                // T = W τ̃_flop = Q τ̃_mem.
                let time = r.time_per_flop(i);
                assert!((r.tau_mem * t.mem / i / time - 1.0).abs() < 1e-12);
            }
        }
    }
}
