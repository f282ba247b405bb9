//! `greenup sweeps`.

use crate::args::{ListArgs, MergeArgs, SweepsArgs, SweepsCommand};
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_report::si::si;
use greenup_tune::Objective;
use greenup_tune::sweep::merge::{MergeError, merge};
use greenup_tune::sweep::{Folder, write_exports};
use serde::Serialize;

pub fn run(args: &SweepsArgs) -> Result {
    match &args.command {
        SweepsCommand::Merge(a) => merged(a),
        SweepsCommand::List(a) => list(a),
    }
}

#[derive(Serialize)]
struct MergeAnswer {
    out: String,
    trials: usize,
    failed: usize,
    /// Trials that were in several of the sweeps.
    repeated: usize,
}

fn merged(args: &MergeArgs) -> Result {
    let done = merge(&args.out, &args.sweeps, &args.accept).map_err(|e| match e {
        MergeError::Folder(e) => search::folder(&e),
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
    write_exports(&done.sweep, &args.out).map_err(|e| search::folder(&e))?;
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

#[derive(Serialize)]
struct Listed {
    path: String,
    name: String,
    device: String,
    trials: usize,
    failed: usize,
    best_time_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

fn list(args: &ListArgs) -> Result {
    let entries = std::fs::read_dir(&args.dir).map_err(|e| {
        AppError::new(format!("{}: {e}", args.dir.display()))
            .hint("name the folder that holds sweep folders")
    })?;
    let mut folders: Vec<_> = (entries.flatten())
        .map(|e| e.path())
        .filter(|p| Folder::exists(p))
        .collect();
    folders.sort();
    let mut all = Vec::new();
    for folder in folders {
        match Folder::read(&folder) {
            Err(e) => print::warn(e.to_string()),
            Ok(sweep) => all.push(Listed {
                path: folder.display().to_string(),
                trials: sweep.trials.len(),
                failed: sweep.trials.len() - sweep.measured().count(),
                best_time_s: (sweep.winner(Objective::Time))
                    .and_then(|i| Some(sweep.best_known_cost(i)?.0.time_s)),
                shard: sweep.facts.more.get("shard").cloned(),
                name: sweep.facts.name,
                device: sweep.facts.device,
            }),
        }
    }
    if args.json {
        return print::json(&all);
    }
    if all.is_empty() {
        print::note(format!("{} holds no sweeps", args.dir.display()));
        return Ok(());
    }
    let rows = all
        .into_iter()
        .map(|l| {
            vec![
                l.path,
                l.name,
                l.device,
                l.shard.unwrap_or_default(),
                l.trials.to_string(),
                l.failed.to_string(),
                l.best_time_s.map_or_else(String::new, |t| si(t, "s")),
            ]
        })
        .collect();
    let header = [
        "sweep",
        "problem",
        "device",
        "shard",
        "trials",
        "failed",
        "best time",
    ];
    print::table(&header, rows);
    Ok(())
}
