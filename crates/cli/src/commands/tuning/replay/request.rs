//! What a replay is asked for: an objective, and outputs.

use crate::args::ReplayArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::output::{self, Output};
use greenup_files::Outputs;
use greenup_tune::session::SessionError;
use greenup_tune::sweep::Folder;
use greenup_tune::{Objective, Sweep};

/// The sweep with the values of the objectives.
pub(super) fn aimed(args: &ReplayArgs, mut sweep: Sweep) -> Result<Sweep> {
    let metrics = (args.objective.iter()).filter(|o| matches!(o, Objective::Metric(_)));
    if metrics.count() > 0 && args.objective.len() > 1 {
        return Err(AppError::new(SessionError::MetricAlone.to_string()));
    }
    for o in &args.objective {
        sweep = search::aimed(sweep, Some(*o))?.0;
    }
    Ok(sweep)
}

/// Formats of pages and figures.
pub(super) const ENDINGS: [&str; 5] = ["html", "htm", "svg", "png", "pdf"];

/// Checks the page or figure before any work: it replaces no file of the recording.
pub(super) fn outputs(args: &ReplayArgs, endings: &[&str]) -> Result<Option<Output>> {
    let mut outputs = Outputs::new();
    for recorded in &args.recorded {
        for input in Folder::inputs(recorded) {
            outputs.input(input);
        }
    }
    output::optional(&mut outputs, args.out.as_deref(), endings, args.json)
}
