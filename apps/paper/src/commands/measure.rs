//! `greenup paper --measure`: the records of items are measured anew on this host.

use crate::{Measure, Measured, Needs};
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, print, programs};
use greenup_device::cuda::Gpu;
use greenup_files::{FolderLock, Log, read_text, write};
use greenup_process::capture::Capture;
use greenup_process::group::{Group, OnInterrupt};
use greenup_report::provenance::Provenance;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Measurements that ended, one a line; it marks the folder.
pub const ENDED: &str = "measured.jsonl";
/// Bytes of a record that a command prints, at most.
const PRINTED: usize = 1 << 26;

/// Measures what this host can and what is not yet measured in the folder; returns all that is.
pub fn run(all: &[&Measure], root: &Path, folder: &Path) -> Result<Vec<Measured>> {
    std::fs::create_dir_all(folder)?;
    let _lock = FolderLock::acquire(folder)?;
    let mut ended = earlier(&folder.join(ENDED))?;
    let mut log = Log::open(folder.join(ENDED))?;
    let gpu = Gpu::all().is_ok_and(|g| !g.is_empty());
    let (can, cannot): (Vec<&Measure>, Vec<&Measure>) =
        (all.iter()).partition(|m| m.needs == Needs::Cpu || gpu);
    for m in &cannot {
        print::warn(format!(
            "{} stays as recorded: its measurement needs a {}",
            m.record,
            m.needs.name()
        ));
    }
    let due: Vec<&Measure> = (can.into_iter())
        .filter(|m| ended.iter().all(|e| e.record != m.record))
        .collect();
    if due.is_empty() && ended.is_empty() {
        return Err(
            AppError::new("nothing that was asked for can be measured on this host")
                .hint("leave --measure out to see what is recorded"),
        );
    }
    // Before long work: all programs are there.
    for m in &due {
        for words in m.commands("") {
            programs::needed(&words[0])?;
        }
    }
    for (k, m) in due.iter().enumerate() {
        print::note(format!(
            "measures {} ({} of {}, about {:.0} min left)",
            m.record,
            k + 1,
            due.len(),
            (due[k..].iter().map(|m| m.about_s).sum::<f64>() / 60.0).ceil()
        ));
        let new = one(m, root, folder)?;
        log.line(serde_json::to_string(&new)?)?;
        ended.push(new);
    }
    Ok(ended)
}

/// Measurements of earlier runs into the same folder. A last line that was cut off did not end.
fn earlier(path: &Path) -> Result<Vec<Measured>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(path)?;
    let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
    (whole.lines().enumerate())
        .map(|(i, line)| {
            serde_json::from_str(line).map_err(|e| {
                AppError::new(format!("{}, line {}: {e}", path.display(), i + 1))
                    .hint("name a new folder by --out")
            })
        })
        .collect()
}

fn one(m: &Measure, root: &Path, folder: &Path) -> Result<Measured> {
    let to = folder.join(&m.record);
    let begun = Instant::now();
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    if to.exists() {
        // A run that was stopped: nothing measured is thrown away.
        let aside = greenup_files::outputs::unused(format!("{}-unfinished", to.display()), "old");
        std::fs::rename(&to, &aside)?;
        print::note(format!(
            "kept what an earlier run left as {}",
            aside.display()
        ));
    }
    let base = std::path::absolute(folder)?.display().to_string();
    let commands = m.commands(&base);
    for (k, words) in commands.iter().enumerate() {
        let keeps = m.printed && k + 1 == commands.len();
        let text = printed(words, root, keeps)?;
        if keeps {
            write(&to, text.as_bytes())?;
        }
    }
    if let Some(missing) = m.records().find(|r| !folder.join(r).exists()) {
        return Err(AppError::new(format!(
            "{missing} was not made by `{}`",
            commands
                .iter()
                .map(|w| w.join(" "))
                .collect::<Vec<_>>()
                .join("; ")
        )));
    }
    let now = Provenance::of_process();
    Ok(Measured {
        record: m.record.clone(),
        also: m.also.clone(),
        commands: m.run.clone(),
        date: now.date,
        host: now.host,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Runs a command in the checkout; its messages go to ours, and so does what it prints unless it is kept.
fn printed(words: &[String], root: &Path, keeps: bool) -> Result<String> {
    let line = words.join(" ");
    print::detail(|| line.clone());
    let mut command = Command::new(programs::needed(&words[0])?);
    command
        .args(&words[1..])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let cannot = |e: std::io::Error| AppError::new(format!("`{line}` cannot be started: {e}"));
    let mut group = Group::spawn(&mut command, OnInterrupt::Kill).map_err(cannot)?;
    let keep = if keeps { PRINTED } else { 0 };
    let out = group.take_stdout().map(|p| Capture::of(p, keep));
    while !group.exits_within(Duration::from_millis(100)) {
        if interrupt::requested() {
            break;
        }
    }
    let stopped = interrupt::requested();
    let status = group.kill();
    if stopped {
        return Err(AppError::interrupted("stopped")
            .hint("the same command goes on with what is not yet measured"));
    }
    match status {
        Some(s) if s.success() => Ok(out.map_or_else(String::new, |c| c.text())),
        _ => Err(AppError::new(format!("`{line}` failed")).hint(
            "its message stands above; what was measured before is kept, and the same command goes on from there",
        )),
    }
}
