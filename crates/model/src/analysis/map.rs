//! The dimensionless map of machines (slides 4 and 53) and the distance between two of them.
//!
//! The constants τ_flop, τ_mem, ε_flop, ε_mem, π₀, Δπ are made of four units (s, J, flop, B), but
//! their dimension matrix has rank 3: ε_mem has the unit of ε_flop τ_mem/τ_flop, and both powers
//! that of ε_flop/τ_flop. By the Buckingham π theorem six constants of rank 3 leave **three**
//! dimensionless groups, and every normalised curve of the model (roofline, arch line, power
//! line) is a function of these three and of I/B_τ:
//!
//! | coordinate | group | meaning |
//! |---|---|---|
//! | balance | B_ε/B_τ = π_mem/π_flop | the balance gap: above 1 energy wants more reuse than time |
//! | power | Δπ/(π_flop + π_mem) | usable power over demand: below 1 the cap binds somewhere |
//! | efficiency | ε_flop·max flop/J | share of a flop's energy that is not constant power (η, with the cap) |
//!
//! A coordinate is the log₂ of its group, so one unit is a factor of two. The distance of two
//! machines is the Euclidean distance of their coordinates: 0 means that they are the same
//! machine up to the units of time, energy and data; it is symmetric and obeys the triangle
//! inequality. The time balance B_τ in flop/B is kept beside them: it fixes where a given
//! workload lies on the curves, and [`Place::workload_distance`] includes it.

use crate::machine::{Machine, MachineError};
use crate::op::Op;
use crate::roofline::EnergyRoofline;
use serde::Serialize;

/// Where a machine lies on the map; every coordinate is a log₂.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Place {
    /// log₂ B_ε/B_τ.
    pub balance: f64,
    /// log₂ Δπ/(π_flop + π_mem); 0 for a machine without a cap.
    pub power: f64,
    /// log₂ of the capped η.
    pub efficiency: f64,
    /// log₂ of B_τ in flop/B.
    pub time_balance: f64,
    /// Whether the machine has a cap.
    pub capped: bool,
}

impl Place {
    /// The place of a two-class machine; `None` where a group is 0 or infinite (ε = 0).
    pub fn of(r: &EnergyRoofline) -> Option<Self> {
        let demand = r.pi_flop() + r.pi_mem();
        let place = Self {
            balance: r.balance_gap().log2(),
            power: r.dpi.map_or(0.0, |dpi| (dpi / demand).log2()),
            efficiency: (r.eps_flop * r.best_flop_per_joule()).log2(),
            time_balance: r.time_balance().log2(),
            capped: r.dpi.is_some(),
        };
        [
            place.balance,
            place.power,
            place.efficiency,
            place.time_balance,
        ]
        .iter()
        .all(|x| x.is_finite())
        .then_some(place)
    }

    /// The place of `machine` for one flop class against slow memory.
    ///
    /// # Errors
    /// When the machine lacks a cost; `Ok(None)` where a coordinate is not finite.
    pub fn of_machine(machine: &Machine, flop: Op) -> Result<Option<Self>, MachineError> {
        Ok(Self::of(&machine.roofline(flop, Op::Dram)?))
    }

    /// Distance of the machines as such, in octaves.
    pub fn distance(&self, other: &Self) -> f64 {
        ((self.balance - other.balance).powi(2)
            + (self.power - other.power).powi(2)
            + (self.efficiency - other.efficiency).powi(2))
        .sqrt()
    }

    /// Distance as a workload of fixed intensity sees it: with log₂ B_τ as fourth coordinate.
    pub fn workload_distance(&self, other: &Self) -> f64 {
        self.distance(other)
            .hypot(self.time_balance - other.time_balance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_do_not_matter_and_the_cap_does() {
        let r = EnergyRoofline {
            tau_flop: 1e-12,
            tau_mem: 4e-12,
            eps_flop: 3e-11,
            eps_mem: 3e-10,
            pi0: 50.0,
            dpi: Some(80.0),
        };
        // Seconds × 3, joules × 5, bytes counted in words of 8.
        let other = EnergyRoofline {
            tau_flop: r.tau_flop * 3.0,
            tau_mem: r.tau_mem * 3.0 * 8.0,
            eps_flop: r.eps_flop * 5.0,
            eps_mem: r.eps_mem * 5.0 * 8.0,
            pi0: r.pi0 * 5.0 / 3.0,
            dpi: r.dpi.map(|p| p * 5.0 / 3.0),
        };
        let (a, b) = (Place::of(&r).unwrap(), Place::of(&other).unwrap());
        assert!(a.distance(&b) < 1e-12);
        assert!((a.workload_distance(&b) - 3.0).abs() < 1e-12);
        let capped = Place::of(&EnergyRoofline {
            dpi: Some(40.0),
            ..r
        })
        .unwrap();
        assert!(a.distance(&capped) >= 1.0);
        assert_eq!(Place::of(&EnergyRoofline { eps_flop: 0.0, ..r }), None);
    }
}
