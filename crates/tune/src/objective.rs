//! What is to be made small.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// What a trial measured, per run of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Time, s.
    pub time_s: f64,
    /// Energy, J; `None` if it was not measured.
    pub energy_j: Option<f64>,
    /// The metric that is the objective, as a value to minimise; `None` without one.
    pub metric: Option<f64>,
}

impl Cost {
    /// Mean power, W.
    pub fn power_w(self) -> Option<f64> {
        Some(self.energy_j? / self.time_s)
    }
}

/// Of which configs of a sweep energies are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Energies {
    /// Of all that work, each in full.
    All,
    /// Of those that can be the fastest or need the least energy; the others are stopped as soon as that is clear.
    #[default]
    Front,
    /// Of none.
    None,
}

impl Energies {
    /// Of which configs of two parts of a sweep together.
    pub(crate) fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::Front }
    }
}

impl FromStr for Energies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "front" => Ok(Self::Front),
            "none" => Ok(Self::None),
            _ => Err("use all, front or none".into()),
        }
    }
}

/// A quantity to minimise, or one to minimise under a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub enum Objective {
    /// Time, s.
    Time,
    /// Energy, J.
    Energy,
    /// Energy × time.
    Edp,
    /// Energy × time².
    Ed2p,
    /// Flops a joule, to be made large; energy says the same where the work is fixed.
    FlopsPerWatt,
    /// α·t + (1 − α)·e, seconds and joules: eq (2) of Anzt et al. 2015.
    Weighted(f64),
    /// Time, where power stays within this many watts.
    TimeUnderPower(f64),
    /// Energy, where time stays within this many seconds.
    EnergyUnderTime(f64),
    /// A metric of a command, by name; its goal is the problem's.
    Metric(&'static str),
}

/// An unknown objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid objective `{0}`: use time, energy, edp, ed2p, flops/w, alpha=0.3, time@power<=250, energy@time<=0.01, metric:NAME, metric:NAME:max"
)]
pub struct UnknownObjective(String);

/// How a violated bound outweighs every point that keeps it.
const VIOLATED: f64 = 1e6;

impl Objective {
    /// Whether it cannot be computed without energies.
    pub fn needs_energy(self) -> bool {
        !matches!(self, Self::Time | Self::Metric(_))
    }

    /// The value to minimise for `flops` of work; `None` when a quantity that it needs was not
    /// measured. A point beyond a bound gets a value larger than any within it, the larger the
    /// further.
    pub fn value(self, c: Cost, flops: Option<f64>) -> Option<f64> {
        let t = c.time_s;
        let value = match self {
            Self::Time => t,
            Self::Energy => c.energy_j?,
            Self::Edp => c.energy_j? * t,
            Self::Ed2p => c.energy_j? * t * t,
            Self::FlopsPerWatt => c.energy_j? / flops.unwrap_or(1.0),
            Self::Weighted(a) => a * t + (1.0 - a) * c.energy_j?,
            Self::TimeUnderPower(w) => bounded(t, c.power_w()? / w),
            Self::EnergyUnderTime(s) => bounded(c.energy_j?, t / s),
            Self::Metric(_) => c.metric?,
        };
        // Files of other tuners may have no time.
        value.is_finite().then_some(value)
    }

    /// Whether a point keeps the bound.
    pub fn allowed(self, c: Cost) -> bool {
        match self {
            Self::TimeUnderPower(w) => c.power_w().is_some_and(|p| p <= w),
            Self::EnergyUnderTime(s) => c.time_s <= s,
            _ => true,
        }
    }

    /// Why none of these points can be the best, if a bound is the reason: all of them are beyond it.
    pub fn unmet(self, costs: impl IntoIterator<Item = Cost>) -> Option<Unmet> {
        let (quantity, unit, limit) = match self {
            Self::TimeUnderPower(w) => ("power", "W", w),
            Self::EnergyUnderTime(s) => ("time", "s", s),
            _ => return None,
        };
        let found = |c: Cost| match self {
            Self::TimeUnderPower(_) => c.power_w(),
            _ => c.energy_j.map(|_| c.time_s),
        };
        let each = costs.into_iter().filter_map(found);
        let nearest = each.filter(|x| x.is_finite()).reduce(f64::min)?;
        (nearest > limit).then_some(Unmet {
            quantity,
            unit,
            limit,
            nearest,
        })
    }
}

/// A bound that nothing keeps.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no config keeps {quantity} <= {limit} {unit}; the nearest has {} {unit}", self.shown())]
pub struct Unmet {
    quantity: &'static str,
    unit: &'static str,
    limit: f64,
    /// The least of what the configs have, in the unit of the bound.
    pub nearest: f64,
}

impl Unmet {
    /// To six digits, or to all where six would be those of the bound.
    fn shown(&self) -> f64 {
        let short = format!("{:.5e}", self.nearest).parse();
        let short = short.unwrap_or(self.nearest);
        if short > self.limit {
            short
        } else {
            self.nearest
        }
    }
}

fn bounded(value: f64, share: f64) -> f64 {
    if share <= 1.0 {
        value
    } else {
        value * VIOLATED * share
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Energy => f.write_str("energy"),
            Self::Edp => f.write_str("edp"),
            Self::Ed2p => f.write_str("ed2p"),
            Self::FlopsPerWatt => f.write_str("flops/w"),
            Self::Weighted(a) => write!(f, "alpha={a}"),
            Self::TimeUnderPower(w) => write!(f, "time@power<={w}"),
            Self::EnergyUnderTime(s) => write!(f, "energy@time<={s}"),
            Self::Metric(name) => write!(f, "metric:{name}"),
        }
    }
}

impl FromStr for Objective {
    type Err = UnknownObjective;

    fn from_str(s: &str) -> Result<Self, UnknownObjective> {
        let unknown = || UnknownObjective(s.to_owned());
        let number = |text: &str| {
            text.parse::<f64>()
                .ok()
                .filter(|x| x.is_finite())
                .ok_or_else(unknown)
        };
        let positive =
            |text: &str| number(text).and_then(|x| (x > 0.0).then_some(x).ok_or_else(unknown));
        if let Some(name) = s.strip_prefix("metric:") {
            return if name.is_empty() {
                Err(unknown())
            } else {
                Ok(Self::Metric(interned(name)))
            };
        }
        Ok(match s.to_ascii_lowercase().as_str() {
            "time" => Self::Time,
            "energy" => Self::Energy,
            "edp" => Self::Edp,
            "ed2p" => Self::Ed2p,
            "flops/w" | "flops-per-watt" => Self::FlopsPerWatt,
            other => {
                if let Some(a) = other.strip_prefix("alpha=") {
                    let a = number(a)?;
                    if !(0.0..=1.0).contains(&a) {
                        return Err(unknown());
                    }
                    Self::Weighted(a)
                } else if let Some(w) = other.strip_prefix("time@power<=") {
                    Self::TimeUnderPower(positive(w)?)
                } else if let Some(t) = other.strip_prefix("energy@time<=") {
                    Self::EnergyUnderTime(positive(t)?)
                } else {
                    return Err(unknown());
                }
            }
        })
    }
}

/// A name that lives as long as the program, so that objectives stay small; the few names of a run are kept once.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(name) {
        Some(known) => known,
        None => {
            let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.insert(kept);
            kept
        }
    }
}

// Not derived: the name of a metric would have to live in what is read.
impl<'de> Deserialize<'de> for Objective {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl From<Objective> for String {
    fn from(o: Objective) -> Self {
        o.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for s in [
            "time",
            "energy",
            "edp",
            "ed2p",
            "flops/w",
            "alpha=0.25",
            "time@power<=250",
            "energy@time<=0.5",
            "metric:throughput",
        ] {
            assert_eq!(s.parse::<Objective>().unwrap().to_string(), s);
        }
        for s in [
            "speed",
            "alpha=2",
            "alpha=nan",
            "time@power<=-1",
            "time@power<=x",
        ] {
            assert!(s.parse::<Objective>().is_err(), "{s}");
        }
    }

    #[test]
    fn bounds_come_first() {
        let o = Objective::TimeUnderPower(100.0);
        let at = |t: f64, p: f64| {
            let c = Cost {
                metric: None,
                time_s: t,
                energy_j: Some(p * t),
            };
            (o.value(c, None).unwrap(), o.allowed(c))
        };
        assert!(at(9.0, 100.0).0 < at(1.0, 101.0).0);
        assert!(at(1.0, 101.0).0 < at(1.0, 150.0).0);
        assert!(at(9.0, 100.0).1 && !at(1.0, 101.0).1);
    }

    #[test]
    fn a_bound_that_nothing_keeps_is_named_with_the_nearest() {
        let costs = |all: &[(f64, f64)]| -> Vec<Cost> {
            let cost = |&(time_s, energy_j)| Cost {
                metric: None,
                time_s,
                energy_j: Some(energy_j),
            };
            all.iter().map(cost).collect()
        };
        let three = costs(&[(2e-3, 0.4), (1e-3, 0.3), (4e-3, 0.2)]);
        let of = |o: Objective, c: &[Cost]| o.unmet(c.to_vec()).map(|u| u.to_string());
        assert_eq!(
            of(Objective::TimeUnderPower(10.0), &three).unwrap(),
            "no config keeps power <= 10 W; the nearest has 50 W"
        );
        assert_eq!(
            of(Objective::EnergyUnderTime(5e-4), &three).unwrap(),
            "no config keeps time <= 0.0005 s; the nearest has 0.001 s"
        );
        assert_eq!(of(Objective::TimeUnderPower(50.0), &three), None);
        assert_eq!(of(Objective::EnergyUnderTime(1e-3), &three), None);
        assert_eq!(of(Objective::Time, &three), None);
        assert_eq!(of(Objective::TimeUnderPower(1.0), &[]), None);
        // Six digits would be those of the bound.
        let close = of(
            Objective::EnergyUnderTime(0.5),
            &costs(&[(0.500_000_1, 1.0)]),
        );
        assert!(close.unwrap().ends_with("the nearest has 0.5000001 s"));
    }

    #[test]
    fn energy_is_never_made_up() {
        let c = Cost {
            metric: None,
            time_s: 1.0,
            energy_j: None,
        };
        assert_eq!(Objective::Energy.value(c, None), None);
        assert_eq!(Objective::Time.value(c, None), Some(1.0));
    }
}
