//! The two-class energy roofline: eqs 1–8, with the cap of eqs 32–38 where there is one.

pub mod cap;
pub mod refined;

/// One flop class against one memory level on one machine. SI units: s, J, W, flop, B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyRoofline {
    /// τ_flop, s/flop.
    pub tau_flop: f64,
    /// τ_mem, s/B.
    pub tau_mem: f64,
    /// ε_flop, J/flop.
    pub eps_flop: f64,
    /// ε_mem, J/B.
    pub eps_mem: f64,
    /// π₀, W.
    pub pi0: f64,
    /// Δπ, W; `None` for a machine without a cap.
    pub dpi: Option<f64>,
}

impl EnergyRoofline {
    /// B_τ = τ_mem/τ_flop, flop/B.
    pub fn time_balance(&self) -> f64 {
        self.tau_mem / self.tau_flop
    }

    /// B_ε = ε_mem/ε_flop, flop/B. (Table 2 of the thesis prints "flops per Joule": a misprint.)
    pub fn energy_balance(&self) -> f64 {
        self.eps_mem / self.eps_flop
    }

    /// B_ε/B_τ. Above 1 an algorithm can be compute bound in time, yet memory bound in energy.
    pub fn balance_gap(&self) -> f64 {
        self.energy_balance() / self.time_balance()
    }

    /// π_flop = ε_flop/τ_flop, W.
    pub fn pi_flop(&self) -> f64 {
        self.eps_flop / self.tau_flop
    }

    /// π_mem = ε_mem/τ_mem, W.
    pub fn pi_mem(&self) -> f64 {
        self.eps_mem / self.tau_mem
    }

    /// ε̂_flop = ε_flop + π₀ τ_flop: energy of a flop with the constant power of its time.
    pub fn eps_hat(&self) -> f64 {
        self.eps_flop + self.pi0 * self.tau_flop
    }

    /// η = ε_flop/ε̂_flop, the constant-flop energy efficiency.
    pub fn eta(&self) -> f64 {
        self.eps_flop / self.eps_hat()
    }

    /// B̂_ε(I), the effective energy balance (eq 6, no cap).
    pub fn effective_balance(&self, intensity: f64) -> f64 {
        let eta = self.eta();
        eta * self.energy_balance() + (1.0 - eta) * f64::max(0.0, self.time_balance() - intensity)
    }

    /// Seconds per flop at intensity I (eqs 1, 3; with a cap eqs 34, 35).
    pub fn time_per_flop(&self, intensity: f64) -> f64 {
        let uncapped = self.tau_flop.max(self.tau_mem / intensity);
        match self.dpi {
            Some(dpi) => uncapped.max((self.eps_flop + self.eps_mem / intensity) / dpi),
            None => uncapped,
        }
    }

    /// Joules per flop at intensity I (eqs 2, 4; with a cap eqs 32, 33).
    pub fn energy_per_flop(&self, intensity: f64) -> f64 {
        self.eps_flop + self.eps_mem / intensity + self.pi0 * self.time_per_flop(intensity)
    }

    /// Average power E/T at intensity I, W.
    pub fn power(&self, intensity: f64) -> f64 {
        self.energy_per_flop(intensity) / self.time_per_flop(intensity)
    }

    /// Eq 7, the power line without a cap, from the balances alone.
    pub fn power_line(&self, intensity: f64) -> f64 {
        let b = self.time_balance();
        self.pi_flop() / self.eta()
            * (intensity.min(b) / b + self.effective_balance(intensity) / intensity.max(b))
    }

    /// Roofline: speed as a share of the flop peak.
    pub fn speed(&self, intensity: f64) -> f64 {
        self.tau_flop / self.time_per_flop(intensity)
    }

    /// Best flop/J of this machine, reached as I → ∞: 1/(ε_flop + π₀ max(τ_flop, ε_flop/Δπ)).
    pub fn best_flop_per_joule(&self) -> f64 {
        let tau = match self.dpi {
            Some(dpi) => self.tau_flop.max(self.eps_flop / dpi),
            None => self.tau_flop,
        };
        1.0 / (self.eps_flop + self.pi0 * tau)
    }

    /// Arch line: flop/J as a share of the best.
    pub fn efficiency(&self, intensity: f64) -> f64 {
        1.0 / (self.energy_per_flop(intensity) * self.best_flop_per_joule())
    }

    /// The intensity at which flop/J is half its best ("y = 1/2 energy balance").
    ///
    /// Efficiency grows monotonically with I, so bisection on log I finds it.
    pub fn half_efficiency_intensity(&self) -> f64 {
        let (mut lo, mut hi) = (-60.0_f64, 60.0_f64);
        for _ in 0..200 {
            let mid = 0.5 * (lo + hi);
            if self.efficiency(mid.exp2()) < 0.5 {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        (0.5 * (lo + hi)).exp2()
    }

    /// Bounds of P/π_flop at π₀ = 0: [min(1, B_ε/B_τ), 1 + B_ε/B_τ].
    ///
    /// Corrects the lower bound of eq 8, which holds only for B_ε ≤ B_τ.
    pub fn power_bounds(&self) -> (f64, f64) {
        let gap = self.balance_gap();
        (gap.min(1.0), 1.0 + gap)
    }

    /// The largest power any algorithm can draw: π₀ + min(Δπ, π_flop + π_mem).
    pub fn max_power(&self) -> f64 {
        let demand = self.pi_flop() + self.pi_mem();
        self.pi0 + self.dpi.map_or(demand, |dpi| dpi.min(demand))
    }

    /// Energy of streaming one byte, constant power included: ε_mem + π₀ τ_mem, J/B.
    pub fn streaming_energy(&self) -> f64 {
        self.eps_mem + self.pi0 * self.tau_mem
    }
}
