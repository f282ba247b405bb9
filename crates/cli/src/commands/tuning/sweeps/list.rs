//! `greenup sweeps list`.

use super::Overview;
use crate::args::ListArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_report::si::si;
use greenup_tune::sweep::Folder;

pub fn run(args: &ListArgs) -> Result {
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
            Ok(sweep) => all.push(Overview::of(&folder, &sweep)),
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
                l.best_time_s.map_or_else(|| "—".to_owned(), |t| si(t, "s")),
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
