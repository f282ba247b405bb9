//! A sweep in a line.

use greenup_tune::{Objective, Sweep};
use serde::Serialize;
use std::path::Path;

/// A sweep in a line of the list, and at the begin of its own page.
#[derive(Serialize)]
pub(super) struct Overview {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) device: String,
    pub(super) trials: usize,
    pub(super) failed: usize,
    pub(super) best_time_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shard: Option<String>,
}

impl Overview {
    pub(super) fn of(path: &Path, sweep: &Sweep) -> Self {
        Self {
            path: path.display().to_string(),
            trials: sweep.trials.len(),
            failed: sweep.trials.len() - sweep.measured().count(),
            best_time_s: (sweep.winner(Objective::Time))
                .and_then(|i| Some(sweep.best_known_cost(i)?.0.time_s)),
            shard: sweep.facts.more.get(greenup_tune::shard::SHARD).cloned(),
            name: sweep.facts.name.clone(),
            device: sweep.facts.device.clone(),
        }
    }
}
