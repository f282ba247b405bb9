//! How much the workers of a sweep disturb each other, as measured before its search.

use greenup_meter::Summary;
use greenup_meter::stats::ratio_of_medians;
use greenup_space::Value;
use serde::{Deserialize, Serialize};

/// Ratios within this of 1 are not worth a warning, even if they can be told apart.
const NEGLIGIBLE: f64 = 0.005;

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Ratio of the medians.
    pub median: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl Ratio {
    fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        ratio_of_medians(a, b).map(|s: Summary| Self {
            median: s.median,
            lo: s.lo,
            hi: s.hi,
        })
    }

    /// Whether it differs from 1 by more than its noise, and not negligibly.
    pub fn matters(&self) -> bool {
        (self.lo > 1.0 || self.hi < 1.0) && (self.median - 1.0).abs() > NEGLIGIBLE
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "×{:.3} [{:.3} … {:.3}]", self.median, self.lo, self.hi)
    }
}

/// Measurements of one config in rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Time of one run in each round, s.
    pub times_s: Vec<f64>,
    /// Energy of one run in each round, J; empty if it was not measured.
    pub energies_j: Vec<f64>,
}

/// One config measured by the first worker alone, and by all workers at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Values of the parameters.
    pub config: Vec<Value>,
    /// Names of the workers.
    pub workers: Vec<String>,
    /// The first worker alone.
    pub alone: Series,
    /// All workers at once, in their order.
    pub together: Vec<Series>,
    /// Time of the first worker with all at once over alone.
    pub time_ratio: Ratio,
    /// The same of its energy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub energy_ratio: Option<Ratio>,
    /// Time of each worker over that of the first, all at once.
    pub device_ratios: Vec<Ratio>,
}

impl Disturbance {
    /// Compares the measurements; `None` if one is missing.
    pub fn of(
        config: Vec<Value>,
        workers: Vec<String>,
        alone: Series,
        together: Vec<Series>,
    ) -> Option<Self> {
        let first = together.first()?;
        Some(Self {
            time_ratio: Ratio::of(&first.times_s, &alone.times_s)?,
            energy_ratio: Ratio::of(&first.energies_j, &alone.energies_j),
            device_ratios: together
                .iter()
                .map(|s| Ratio::of(&s.times_s, &first.times_s))
                .collect::<Option<_>>()?,
            config,
            workers,
            alone,
            together,
        })
    }

    /// Whether measurements at the same time differ from those of one worker alone, or devices from each other, by more
    /// than the noise.
    pub fn matters(&self) -> bool {
        self.time_ratio.matters()
            || self.energy_ratio.is_some_and(|r| r.matters())
            || self.device_ratios.iter().skip(1).any(Ratio::matters)
    }

    /// The result in sentences.
    pub fn sentences(&self) -> String {
        let first = self.workers.first().map_or("", String::as_str);
        let energy = self
            .energy_ratio
            .map_or_else(String::new, |r| format!(" and {r} of the energy"));
        let mut out = format!(
            "all {} workers at once: a run on {first} takes {} of the time{energy} that it takes alone",
            self.workers.len(),
            self.time_ratio
        );
        for (name, r) in self.workers.iter().zip(&self.device_ratios).skip(1) {
            out.push_str(&format!("; {name} takes {r} of the time of {first}"));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(time: f64, energy: f64) -> Series {
        let around = |x: f64| [0.999, 1.0, 1.001, 1.0, 0.9995].map(|f| f * x).to_vec();
        Series {
            times_s: around(time),
            energies_j: around(energy),
        }
    }

    fn of(together: Vec<Series>) -> Disturbance {
        let names = (0..together.len()).map(|i| format!("cuda:{i}")).collect();
        Disturbance::of(vec![Value::Int(3)], names, series(1.0, 2.0), together).unwrap()
    }

    #[test]
    fn only_what_exceeds_the_noise_matters() {
        assert!(!of(vec![series(1.0, 2.0), series(1.002, 2.5)]).matters());
        // Time, energy, and devices that differ.
        assert!(of(vec![series(1.02, 2.0), series(1.02, 2.0)]).matters());
        assert!(of(vec![series(1.0, 2.1), series(1.0, 2.0)]).matters());
        assert!(of(vec![series(1.0, 2.0), series(1.03, 2.0)]).matters());
        let mut noisy = series(1.02, 2.0);
        noisy.times_s = vec![0.9, 1.02, 1.1, 0.95, 1.04];
        assert!(!of(vec![noisy]).matters());
    }

    #[test]
    fn it_is_written_and_read() {
        let d = of(vec![series(1.02, 2.0), series(1.0, 2.0)]);
        let text = serde_json::to_string(&d).unwrap();
        assert_eq!(serde_json::from_str::<Disturbance>(&text).unwrap(), d);
        let words = d.sentences();
        assert!(words.contains("cuda:0 takes ×1.020") && words.contains("cuda:1 takes ×0.980"));
        assert_eq!(
            Disturbance::of(vec![], vec![], series(1.0, 1.0), vec![]),
            None
        );
    }
}
