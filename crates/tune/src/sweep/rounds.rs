//! The final rounds of a sweep.

use super::error::FolderError;
use crate::objective::{Cost, Objective};
use greenup_meter::stats::median;
use greenup_space::Value;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Every round of the final measurements, as recorded in a sweep's folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// Configs of the finalists.
    pub configs: Vec<Vec<Value>>,
    /// Seconds of each config in each round; the baseline kernel's last, where there is one.
    pub times_s: Vec<Vec<f64>>,
    /// Energies by config and round, J, in the order of `times_s`; empty series where not measured.
    pub energies_j: Vec<Vec<f64>>,
    /// Whether the last series is that of the baseline.
    #[serde(alias = "with_rival")]
    pub with_baseline: bool,
}

impl Rounds {
    /// Name of the file in a sweep's folder.
    pub const FILE: &'static str = "finals.json";

    /// Reads the final rounds of a sweep's folder; `None` where there are none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(dir: &Path) -> Result<Option<Self>, FolderError> {
        let path = dir.join(Self::FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = greenup_files::read_text(&path)?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| FolderError::Broken {
                path,
                line: e.line(),
                cause: e.to_string(),
            })
    }

    /// Medians of a config's rounds.
    pub fn cost(&self, config: &[Value]) -> Option<Cost> {
        let i = self.configs.iter().position(|c| c == config)?;
        let of = |rows: &[Vec<f64>]| rows.get(i).filter(|r| !r.is_empty()).map(|r| median(r));
        Some(Cost {
            time_s: of(&self.times_s)?,
            energy_j: of(&self.energies_j),
        })
    }

    /// Value of an objective for a config: the median over the rounds.
    pub fn value(&self, config: &[Value], objective: Objective, flops: Option<f64>) -> Option<f64> {
        let i = self.configs.iter().position(|c| c == config)?;
        let values = self.values(i, objective, flops);
        (!values.is_empty()).then(|| median(&values))
    }

    /// The objective of config `i` in each round.
    pub fn values(&self, i: usize, objective: Objective, flops: Option<f64>) -> Vec<f64> {
        let energies = self.energies_j.get(i);
        let times = self.times_s.get(i).into_iter().flatten();
        times
            .enumerate()
            .filter_map(|(round, &time_s)| {
                let energy_j = energies.and_then(|e| e.get(round).copied());
                objective.value(Cost { time_s, energy_j }, flops)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_version_0_1_are_read() {
        let text = |key: &str| {
            format!(r#"{{"configs":[[1]],"times_s":[[1.0]],"energies_j":[[2.0]],"{key}":true}}"#)
        };
        let new: Rounds = serde_json::from_str(&text("with_baseline")).unwrap();
        let old: Rounds = serde_json::from_str(&text("with_rival")).unwrap();
        assert!(old.with_baseline);
        assert_eq!(old, new);
    }
}
