//! `greenup sweeps merge`.

use crate::args::MergeArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_tune::sweep::merge::{MergeError, merge};
use greenup_tune::sweep::write_exports;
use serde::Serialize;

#[derive(Serialize)]
struct MergeAnswer {
    out: String,
    trials: usize,
    failed: usize,
    /// Trials that were in several of the sweeps.
    repeated: usize,
}

pub fn run(args: &MergeArgs) -> Result {
    let done = merge(&args.out, &args.sweeps, &args.accept).map_err(|e| match e {
        MergeError::Folder(e) => search::folder(e),
        e @ MergeError::Different { .. } => AppError::new(e.to_string()).hint(
            "if their trials are comparable nevertheless, name the parts with --accept NAME,… (or all)",
        ),
        e @ MergeError::NotEmpty(_) => {
            AppError::new(e.to_string()).hint("name a folder that does not exist")
        }
        e @ MergeError::Twice(_) => AppError::new(e.to_string()),
    })?;
    for w in &done.sweep.warnings {
        print::warn(w);
    }
    write_exports(&done.sweep, &args.out).map_err(search::folder)?;
    let answer = MergeAnswer {
        out: args.out.display().to_string(),
        trials: done.sweep.trials.len(),
        failed: done.sweep.trials.len() - done.sweep.measured().count(),
        repeated: done.repeated,
    };
    if args.json {
        return print::json(&answer);
    }
    print::line(format!(
        "{} trials of {} sweeps, {} failed, in {}",
        answer.trials,
        args.sweeps.len(),
        answer.failed,
        answer.out
    ));
    if done.repeated > 0 {
        print::note(format!(
            "{} trials were in several sweeps and are kept once",
            done.repeated
        ));
    }
    if done.with_finals > 0 {
        print::note(
            "final rounds of the parts are not comparable and stay there; measure the finalists of all on one device with `greenup tune PROBLEM --out OUT --resume --budget 1`",
        );
    }
    Ok(())
}
