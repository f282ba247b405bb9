//! The best config known for a device and a size.

use crate::{GemmError, Size};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A winner of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub device: String,
    pub threads: usize,
    #[serde(flatten)]
    pub size: Size,
    pub objective: String,
    pub time_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
    pub compiler: String,
    /// Seconds since 1970.
    pub at: u64,
    /// Parameters and their values.
    pub config: toml::Table,
}

/// A wisdom file: one winner for each device, number of threads, size and objective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wisdom {
    #[serde(default)]
    pub known: Vec<Known>,
}

impl Wisdom {
    /// Reads a wisdom file; one that does not exist holds nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is invalid.
    pub fn read(path: &Path) -> Result<Self, GemmError> {
        if !path.try_exists().unwrap_or(true) {
            return Ok(Self::default());
        }
        let text = greenup_files::read_text(path)?;
        toml::from_str(&text).map_err(|e| GemmError::Wisdom {
            path: path.display().to_string(),
            message: format!("invalid wisdom: {}", e.to_string().trim_end()),
        })
    }

    /// Writes the file whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), GemmError> {
        let text = toml::to_string_pretty(self).map_err(|e| GemmError::Wisdom {
            path: path.display().to_string(),
            message: e.to_string(),
        })?;
        Ok(greenup_files::write(path, text)?)
    }

    /// Keeps a winner in place of an older one for the same device, threads, size and objective.
    pub fn keep(&mut self, new: Known) {
        self.known.retain(|k| {
            (&k.device, k.threads, k.size, &k.objective)
                != (&new.device, new.threads, new.size, &new.objective)
        });
        self.known.push(new);
    }

    /// The winner for a device, a number of threads and an objective at the nearest size.
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

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deeper/gemm.toml");
        assert_eq!(Wisdom::read(&path).unwrap(), Wisdom::default());
        w.write(&path).unwrap();
        assert_eq!(Wisdom::read(&path).unwrap(), w);
        std::fs::write(&path, "known = 3").unwrap();
        assert!(
            Wisdom::read(&path)
                .unwrap_err()
                .to_string()
                .contains("gemm.toml")
        );
    }
}
