//! `greenup sweeps list`.

use super::Overview;
use crate::args::ListArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_report::table::{Cell, Columns};
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
    let columns = Columns::<Overview>::new()
        .text("sweep", "", |l| l.path.clone())
        .text("problem", "", |l| l.name.clone())
        .text("device", "", |l| l.device.clone())
        .cell("shard", "", |l| Cell::known(l.shard.as_ref()))
        .where_known()
        .count("trials", "", |l| l.trials as u64)
        .kept()
        .count("failed", "", |l| l.failed as u64)
        .detail()
        .si("best time", "", "s", |l| l.best_time_s)
        .kept();
    print::table(&columns.table("", all));
    Ok(())
}
