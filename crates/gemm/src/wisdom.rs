//! Wisdom: the best known config for each device and size.

use crate::Size;
use serde::{Deserialize, Serialize};

/// The best config of a sweep, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Name of the processor or GPU.
    pub device: String,
    /// Number of threads.
    pub threads: usize,
    /// Size of the product.
    #[serde(flatten)]
    pub size: Size,
    /// Objective of the sweep, such as `time` or `energy`.
    pub objective: String,
    /// Time of one product, s.
    pub time_s: f64,
    /// Energy of one product, J; `None` if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
    /// Name and version of the compiler.
    pub compiler: String,
    /// Time of the sweep, seconds since 1970.
    pub at: u64,
    /// Values of the parameters by name.
    pub config: toml::Table,
}

/// A wisdom file: one config for each device, number of threads, size and objective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wisdom {
    /// The stored configs.
    #[serde(default)]
    pub known: Vec<Known>,
}

impl Wisdom {
    /// Stores a config in place of an older one for the same device, threads, size and objective.
    pub fn keep(&mut self, new: Known) {
        self.known.retain(|k| {
            (&k.device, k.threads, k.size, &k.objective)
                != (&new.device, new.threads, new.size, &new.objective)
        });
        self.known.push(new);
    }

    /// The config for a device, a number of threads and an objective at the nearest size.
    pub fn nearest(
        &self,
        device: &str,
        threads: usize,
        size: Size,
        objective: &str,
    ) -> Option<&Known> {
        self.known
            .iter()
            .filter(|k| k.device == device && k.threads == threads && k.objective == objective)
            .min_by(|a, b| a.size.distance(size).total_cmp(&b.size.distance(size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(n: usize, time_s: f64) -> Known {
        Known {
            device: "d".into(),
            threads: 2,
            size: Size { m: n, n, k: n },
            objective: "time".into(),
            time_s,
            energy_j: None,
            compiler: "cc".into(),
            at: 0,
            config: toml::Table::from_iter([("mr".into(), toml::Value::Integer(8))]),
        }
    }

    #[test]
    fn wisdom_is_kept_found_and_read_again() {
        let mut w = Wisdom::default();
        w.keep(known(1000, 2.0));
        w.keep(known(100, 1.0));
        w.keep(known(1000, 1.5));
        assert_eq!(w.known.len(), 2, "a new winner replaces the old one");
        let size = |n| Size { m: n, n, k: n };
        let time = |n| w.nearest("d", 2, size(n), "time").map(|k| k.time_s);
        assert_eq!(time(2000), Some(1.5));
        assert_eq!(time(200), Some(1.0));
        assert_eq!(w.nearest("d", 4, size(100), "time"), None);
        assert_eq!(w.nearest("d", 2, size(100), "energy"), None);

        assert_eq!(toml::from_str::<Wisdom>("").unwrap(), Wisdom::default());
        assert_eq!(
            toml::from_str::<Wisdom>(&toml::to_string_pretty(&w).unwrap()).unwrap(),
            w
        );
        assert!(toml::from_str::<Wisdom>("known = 3").is_err());
    }
}
