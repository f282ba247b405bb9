//! `greenup sweeps`.

mod list;
mod merge;
mod show;

use crate::args::{SweepsArgs, SweepsCommand};
use greenup_app::error::Result;
use greenup_tune::{Objective, Sweep};
use serde::Serialize;
use std::path::Path;

pub fn run(args: &SweepsArgs) -> Result {
    match &args.command {
        SweepsCommand::Merge(a) => merge::run(a),
        SweepsCommand::List(a) => list::run(a),
        SweepsCommand::Show(a) => show::run(a),
    }
}

/// A sweep in a line of the list, and at the begin of its own page.
#[derive(Serialize)]
struct Overview {
    path: String,
    name: String,
    device: String,
    trials: usize,
    failed: usize,
    best_time_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

impl Overview {
    fn of(path: &Path, sweep: &Sweep) -> Self {
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
