//! `greenup paper`.

pub mod args;
mod measure;

use crate::{Drawn, Paper, Records, State, made};
use args::PaperArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_files::Outputs;
use greenup_report::provenance::Provenance;
use greenup_report::table::Columns;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Files and folders that the command writes.
const OURS: [&str; 4] = ["index.html", "figures", "numbers.json", MEASURED];
/// Folder of what is measured anew.
const MEASURED: &str = "measured";
/// Marks a folder as written by this command.
const MARK: &str = "numbers.json";

pub fn run(args: &PaperArgs) -> Result {
    if args.list {
        return list(args);
    }
    let (Some(name), Some(dir)) = (args.paper, &args.out) else {
        return Err(AppError::new("name a paper and --out, or give --list"));
    };
    let mut from = Provenance::of_process();
    let start = Instant::now();
    let paper = crate::find(name.name())?;
    let items = paper.select(args.figure.as_deref())?;
    check(dir)?;
    let mut records = Records::new(&args.records);
    if args.measure {
        let all = crate::measure::of_items(&paper.name, &items)?;
        let folder = dir.join(MEASURED);
        let measured = measure::run(&all, &args.records, &folder)?;
        records = records.over(folder, measured);
    }
    let mut drawn = made(&paper, &items, &records)?;
    from.took("figures", start.elapsed().as_secs_f64());
    drawn.page.provenance = from.facts();
    write(args, dir, &drawn, &from)?;
    if args.json {
        return print::json(&drawn.numbers);
    }
    print::line(summary(&paper, &items));
    Ok(())
}

fn summary(paper: &Paper, items: &[&crate::Item]) -> String {
    let counts: Vec<String> = (State::ALL.iter())
        .map(|s| {
            let n = items.iter().filter(|i| i.state == *s).count();
            format!("{n} {}", s.name())
        })
        .collect();
    format!("{}: {}", paper.name, counts.join(", "))
}

/// A row of the list, as of `--json`.
#[derive(Serialize)]
struct ListedItem<'a> {
    paper: &'a str,
    item: &'a str,
    title: &'a str,
    state: State,
    why: &'a str,
    command: &'a str,
}

fn list(args: &PaperArgs) -> Result {
    let all = match args.paper {
        Some(name) => vec![crate::find(name.name())?],
        None => crate::list()?,
    };
    let rows: Vec<ListedItem> = (all.iter())
        .flat_map(|p| {
            p.items.iter().map(|i| ListedItem {
                paper: &p.name,
                item: &i.id,
                title: &i.title,
                state: i.state,
                why: &i.why,
                command: &i.command,
            })
        })
        .collect();
    if args.json {
        return print::json(&rows);
    }
    let columns = Columns::<ListedItem>::new()
        .text("paper", "", |r| r.paper.to_owned())
        .text("item", "", |r| r.item.to_owned())
        .text("state", "", |r| r.state.name().to_owned())
        .text("what it shows", "", |r| r.title.to_owned());
    print::table(&columns.table("", &rows));
    print::line("");
    for p in &all {
        print::line(summary(p, &p.items.iter().collect::<Vec<_>>()));
    }
    Ok(())
}

/// Checks before any work that the folder holds nothing of the user's and can be written.
fn check(dir: &Path) -> Result {
    if let Ok(entries) = std::fs::read_dir(dir) {
        let names: Vec<String> = (entries.flatten())
            // A run that was stopped leaves an empty one.
            .filter(|e| e.file_name() != "figures" || !is_empty(&e.path()))
            // Measured before a run that was stopped.
            .filter(|e| e.file_name() != MEASURED || !e.path().join(measure::ENDED).exists())
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        let foreign = names.iter().find(|n| !OURS.contains(&n.as_str()));
        let written = names.iter().any(|n| n == MARK);
        if let Some(name) = foreign.or_else(|| names.first().filter(|_| !written)) {
            return Err(AppError::new(format!(
                "{} has `{name}`, which is not of this command",
                dir.display()
            ))
            .hint("name a new folder, an empty one, or one that this command wrote"));
        }
    }
    let mut outputs = Outputs::new();
    outputs.folder(dir)?;
    for name in ["index.html", MARK] {
        outputs.file(dir.join(name), &[])?;
    }
    outputs.folder(dir.join("figures"))?;
    Ok(())
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// Figures that an earlier run of the command listed in its numbers.
fn earlier(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(MARK)).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let plain = |name: &&str| !name.contains(['/', '\\']) && name.ends_with(".png");
    (json["figures"].as_array().into_iter().flatten())
        .filter_map(|n| n.as_str().filter(plain).map(str::to_owned))
        .collect()
}

fn write(args: &PaperArgs, dir: &Path, drawn: &Drawn, from: &Provenance) -> Result {
    let look = args.look.look();
    let before = earlier(dir);
    let file = |name: &str| format!("{name}.png");
    let names: Vec<String> = drawn.figures.iter().map(|f| file(&f.0)).collect();
    let mut numbers = drawn.numbers.clone();
    numbers["figures"] = serde_json::to_value(&names)?;
    let text = serde_json::to_string_pretty(&numbers)? + "\n";
    // First: it marks the folder.
    greenup_files::write(dir.join(MARK), text.as_bytes())?;
    for (name, chart) in &drawn.figures {
        let mut chart = chart.clone();
        chart.origin = from.pairs();
        let bytes = chart.file("png", &look)?;
        greenup_files::write(dir.join("figures").join(file(name)), bytes)?;
    }
    let page = dir.join("index.html");
    greenup_files::write(&page, drawn.page.render()?.as_bytes())?;
    for old in before.iter().filter(|n| !names.contains(n)) {
        // What an earlier run drew and this one did not; a file that is gone is as wanted.
        let _ = std::fs::remove_file(dir.join("figures").join(old));
    }
    print::note(format!("wrote {}", page.display()));
    Ok(())
}
