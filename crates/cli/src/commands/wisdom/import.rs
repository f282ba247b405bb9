//! `greenup wisdom import`.

use super::list::of_entries;
use crate::args::{PreferArg, WisdomImportArgs};
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, wisdom};
use greenup_report::table::Columns;
use greenup_tune::sweep::Folder;
use greenup_tune::sweep::wisdom::entries;
use greenup_wisdom::merge::{Prefer, Verdict, merge};
use greenup_wisdom::{Entry, Store};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct ImportedEntry<'a> {
    id: String,
    #[serde(flatten)]
    verdict: Verdict,
    taken: bool,
    entry: &'a Entry,
}

pub fn run(args: &WisdomImportArgs) -> Result {
    let mut found: Vec<Entry> = Vec::new();
    for path in &args.paths {
        read(path, &mut found)?;
    }
    found.retain(|e| args.select.takes(e));
    if found.is_empty() {
        return Err(AppError::new("nothing to import")
            .hint("--problem, --device and --objective select none of the entries found"));
    }
    let prefer = match args.prefer {
        PreferArg::Better => Prefer::Better,
        PreferArg::Imported => Prefer::Imported,
        PreferArg::Kept => Prefer::Kept,
    };
    let Some(path) = wisdom::path()? else {
        return Err(AppError::new("wisdom is not used").hint("name a file with --wisdom FILE"));
    };
    let verdicts = if args.dry_run {
        merge(&mut Store::read(&path)?, &found, prefer)
    } else {
        Store::update(&path, |store| merge(store, &found, prefer))?
    };
    let rows: Vec<ImportedEntry> = (found.iter().zip(verdicts))
        .map(|(entry, (verdict, taken))| ImportedEntry {
            id: entry.id(),
            verdict,
            taken,
            entry,
        })
        .collect();
    if args.json {
        return print::json(
            &serde_json::json!({ "file": print::lossy(&path), "changed": !args.dry_run, "entries": rows }),
        );
    }
    let columns = Columns::<ImportedEntry>::new().text("id", "", |r| r.id.clone());
    let columns = of_entries(columns, |r| r.entry)
        .text("next to yours", "", |r| r.verdict.text())
        .text("", "", |r| if r.taken { "taken" } else { "left" }.into())
        .kept();
    print::table(&columns.table("", &rows));
    let taken = rows.iter().filter(|r| r.taken).count();
    let verb = if args.dry_run {
        "would change"
    } else {
        "changed"
    };
    print::note(format!(
        "{verb} {taken} of {} entries, in {}",
        rows.len(),
        path.display()
    ));
    Ok(())
}

/// The entries of a file of wisdom, or the winners of recorded sweeps.
fn read(path: &Path, into: &mut Vec<Entry>) -> Result {
    if path.is_dir() && !Folder::exists(path) {
        let mut below = Vec::new();
        folders(path, 0, &mut below);
        if below.is_empty() {
            return Err(
                AppError::new(format!("{}: there is no sweep in it", path.display()))
                    .hint("name a sweep folder, or a file that `greenup wisdom export` wrote"),
            );
        }
        for dir in below {
            // Sweeps of other work need no winner.
            if let Err(e) = sweep(&dir, into) {
                print::warn(format!("left out: {}", e.message));
            }
        }
        return Ok(());
    }
    if path.extension().is_some_and(|e| e == "toml") {
        let text = greenup_files::read_text(path)?;
        into.extend(Store::parse(&text, path)?.entries);
        return Ok(());
    }
    sweep(path, into)
}

fn sweep(path: &Path, into: &mut Vec<Entry>) -> Result {
    let sweep = search::recorded(path)?;
    let from = path.display().to_string();
    let named = |m: String| AppError::new(format!("{}: {m}", path.display()));
    for e in entries(&sweep, &from).map_err(|e| named(e.to_string()))? {
        e.check().map_err(named)?;
        into.push(e);
    }
    Ok(())
}

/// Sweep folders below a folder, by name.
fn folders(dir: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    let mut all: Vec<PathBuf> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_dir() && !p.is_symlink())
        .collect();
    all.sort();
    for path in all {
        if Folder::exists(&path) {
            into.push(path);
        } else if depth < 4 {
            folders(&path, depth + 1, into);
        }
    }
}
