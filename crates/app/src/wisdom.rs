//! Wisdom of this user: `--wisdom FILE` and `--no-wisdom`, and the files behind them.

use crate::error::{AppError, Result};
use crate::folders::{self, NoHome};
use crate::{machine, print};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use greenup_report::provenance::Provenance;
use greenup_report::si::factor;
use greenup_report::version::version;
use greenup_wisdom::lookup::Nearness;
use greenup_wisdom::merge::{Prefer, Verdict, merge};
use greenup_wisdom::{Choice, Entry, Map, Origin, Store, StoreError, Wisdom, shipped};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Variable that names the file, or is `none`.
const VARIABLE: &str = "GREENUP_WISDOM";
/// Value of the variable without wisdom.
const NONE: &str = "none";
/// Name of the file in the user's data folder.
const FILE: &str = "wisdom.toml";

/// Which file this process uses.
#[derive(Clone, Debug, Default)]
enum Source {
    /// That of the variable, else that in the user's data folder.
    #[default]
    Default,
    /// A named file.
    File(PathBuf),
    /// No wisdom at all.
    None,
}

static SOURCE: OnceLock<Source> = OnceLock::new();

/// Adds the flags to the commands that use tuned configs, each by its words, such as `wisdom list`.
pub fn with_flags(command: Command, used_by: &[&str]) -> Command {
    used_by.iter().fold(command, |command, words| {
        let path: Vec<&str> = words.split(' ').collect();
        add(command, &path)
    })
}

fn add(command: Command, path: &[&str]) -> Command {
    if let [name, below @ ..] = path {
        return command.mut_subcommand(name, |c| add(c, below));
    }
    command
        .arg(
            Arg::new("wisdom-file")
                .long("wisdom")
                .value_name("FILE")
                .hide_short_help(true)
                .value_parser(value_parser!(PathBuf))
                .help("File of tuned configs [default: $GREENUP_WISDOM, else greenup/wisdom.toml in the user's data folder]"),
        )
        .arg(
            Arg::new("no-wisdom")
                .long("no-wisdom")
                .hide_short_help(true)
                .action(ArgAction::SetTrue)
                .conflicts_with("wisdom-file")
                .help("Use default configs; no tuned ones, neither yours nor those that are shipped"),
        )
}

/// Takes the flags.
pub(crate) fn set(mut matches: &ArgMatches) {
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    // Of an unknown flag clap gives an error in debug builds, and nothing in others.
    let Ok(Some(none)) = matches.try_get_one::<bool>("no-wisdom") else {
        return;
    };
    let source = match (*none, matches.get_one::<PathBuf>("wisdom-file")) {
        (true, _) => Source::None,
        (_, Some(path)) => Source::File(path.clone()),
        _ => Source::Default,
    };
    let _ = SOURCE.set(source);
}

fn source() -> Source {
    match SOURCE.get().cloned().unwrap_or_default() {
        Source::Default => match std::env::var_os(VARIABLE).filter(|v| !v.is_empty()) {
            Some(v) if v == NONE => Source::None,
            Some(v) => Source::File(v.into()),
            None => Source::Default,
        },
        named => named,
    }
}

/// Whether tuned configs are used at all.
pub fn is_used() -> bool {
    !matches!(source(), Source::None)
}

/// The user's file; `None` if wisdom is not used.
///
/// # Errors
/// The user's data folder is unknown.
pub fn path() -> std::result::Result<Option<PathBuf>, NoHome> {
    match source() {
        Source::None => Ok(None),
        Source::File(path) => Ok(Some(path)),
        Source::Default => Ok(Some(folders::data()?.join(FILE))),
    }
}

/// The user's entries and the shipped ones, with the machines known here; nothing if wisdom is not used.
///
/// # Errors
/// A file of the user cannot be read, or is invalid.
pub fn load() -> std::result::Result<Wisdom, StoreError> {
    if !is_used() {
        return Ok(Wisdom::default());
    }
    let mut known = Vec::new();
    // Without a home there is no file.
    if let Ok(Some(path)) = path() {
        let own = Store::read(&path)?.entries.into_iter();
        known.extend(own.map(|e| (e, Origin::User(path.clone()))));
    }
    let shipped = shipped::store()?.entries.into_iter();
    known.extend(shipped.map(|e| (e, Origin::Shipped)));
    // A broken machine file of another purpose is no reason to stop.
    let map = machine::all().map_or_else(|_| Map::shipped(), Map::new);
    Ok(Wisdom { known, map })
}

/// The file of the user that [`load`] reads, if there is one, with its time and size: while these stay, so does what it
/// returns.
pub type Stamp = Option<(PathBuf, Option<(SystemTime, u64)>)>;

/// The stamp of the file as it is now.
pub fn stamp() -> Stamp {
    // Without a home there is no file.
    let path = path().ok()??;
    let known = path.metadata().ok();
    let stamp = known.and_then(|m| Some((m.modified().ok()?, m.len())));
    Some((path, stamp))
}

/// What became of entries that were kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The user's file.
    pub path: PathBuf,
    /// For each entry what it is next to the one there, and whether it was taken.
    pub verdicts: Vec<(Verdict, bool)>,
}

/// Adds entries to the user's file; nothing if wisdom is not used.
///
/// # Errors
/// The file cannot be read or written, or the user's data folder is unknown.
pub fn keep(entries: &[Entry], prefer: Prefer) -> Result<Option<Kept>> {
    let Some(path) = path()? else {
        return Ok(None);
    };
    let verdicts = Store::update(&path, |store| merge(store, entries, prefer))?;
    Ok(Some(Kept { path, verdicts }))
}

/// Adds the winners of a tuning run to the user's file, where a better one stays, and notes what became of them. `again`
/// tells how to add them later: the run has its result, so a file that cannot be written is a warning.
pub fn keep_winners(mut entries: Vec<Entry>, again: &str) {
    let origin = Provenance::of_process();
    for e in &mut entries {
        let p = &mut e.provenance;
        if p.command.is_empty() {
            (p.command, p.greenup) = (origin.command.clone(), version().short());
        }
        if p.at == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            p.at = now.map_or(0, |d| d.as_secs());
        }
    }
    let invalid = entries.iter().find_map(|e| e.check().err());
    let kept = match invalid {
        Some(message) => Err(AppError::new(message)),
        None => keep(&entries, Prefer::Better),
    };
    match kept {
        Ok(None) => {}
        Ok(Some(kept)) => {
            for (e, (verdict, _)) in entries.iter().zip(&kept.verdicts) {
                print::note(outcome(e, *verdict, &kept.path));
            }
        }
        Err(e) => {
            print::warn(format!("not kept as wisdom: {}", e.message));
            print::note(again);
        }
    }
}

/// What became of a winner, in a sentence.
fn outcome(e: &Entry, verdict: Verdict, path: &Path) -> String {
    let (id, path) = (e.id(), path.display());
    let what = format!("{} by {}", e.problem, e.objective);
    match verdict {
        Verdict::New => format!("{what}: kept as {id} in {path}"),
        Verdict::Better { ratio } => {
            format!(
                "{what}: kept as {id} in {path}; better than the earlier one by {}",
                factor(1.0 / ratio)
            )
        }
        Verdict::Worse { ratio } => format!(
            "{what}: the earlier one in {path} is better by {} and stays; `greenup wisdom forget {id}` drops it",
            factor(ratio)
        ),
        Verdict::Same => format!("{what}: {path} has it already"),
    }
}

/// Notes which config a kernel uses. That the user's own wisdom has none of this device is worth a note; shipped wisdom is
/// what the program does by itself.
pub fn note(kernel: &str, choice: &Choice) {
    // A library that another program uses prints nothing.
    if SOURCE.get().is_none() {
        return;
    }
    let text = format!("{kernel}: {}; {}", choice.text(), choice.origin);
    let is_own = matches!(choice.origin, Origin::User(_));
    match choice.nearness {
        Nearness::Architecture | Nearness::Nearest if is_own => print::note(text),
        _ => print::detail(|| text),
    }
    for (id, reason) in &choice.rejected {
        print::detail(|| format!("{kernel}: entry {id} is passed over: {reason}"));
    }
}
