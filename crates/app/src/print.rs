//! Results on standard output, messages on standard error.

use crate::error::{AppError, Result};
use crate::printable::BOLD;
use anstyle::AnsiColor;
use greenup_report::si::si;
use greenup_report::table::Table;
use greenup_report::text::wrapped;
use serde::{Serialize, Serializer};
use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

pub use crate::lines::width;
pub use crate::printable::printable;
pub use crate::stdout::line as data;

/// How much goes to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors alone: for processes of a run whose first one prints.
    Silent,
    /// Warnings and errors.
    Quiet,
    /// Notes and progress bars too.
    #[default]
    Normal,
    /// Details too.
    Verbose,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Sets how much goes to standard error from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether so much goes to standard error.
pub fn shows(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Prints a message to standard error, unless the user wants only warnings and errors.
pub fn note(text: impl AsRef<str>) {
    if shows(Level::Normal) {
        let _ = writeln!(std::io::stderr(), "{}", printable(text.as_ref()));
    }
}

/// A path as JSON has it: what is not UTF-8 is replaced. `json!` itself panics at such a path.
pub fn lossy(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// The same for a field: `#[serde(serialize_with = "greenup_app::print::as_lossy")]`.
///
/// # Errors
/// Those of the serializer.
pub fn as_lossy<S: Serializer>(
    path: impl AsRef<Path>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(&path.as_ref().to_string_lossy())
}

/// Prints a message to standard error that only matters to a user who asked for details.
pub fn detail<T: AsRef<str>>(text: impl FnOnce() -> T) {
    if shows(Level::Verbose) {
        note(text());
    }
}

/// Prints about how long the work that begins now takes; `parts` says what the time is made of.
pub fn estimate(seconds: f64, parts: impl Display) {
    note(format!("about {}: {parts}", duration(seconds)));
}

/// Prints how long the work that begins now takes at least; `parts` says what the time is made of, and what comes on top.
pub fn at_least(seconds: f64, parts: impl Display) {
    note(format!("at least {}: {parts}", duration(seconds)));
}

/// A duration in words: `40 s`, `3 min`, `2.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => si(s, "s"),
        s if s < 10.0 => format!("{} s", (s * 10.0).round() / 10.0),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Whether a stream is a terminal with colours that the user did not switch off.
fn shows_colours(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// A word for standard error in a colour, where it shows colours.
fn coloured(word: &str, colour: AnsiColor) -> String {
    if shows_colours(&std::io::stderr()) {
        let style = colour.on_default();
        format!("{style}{word}{style:#}")
    } else {
        word.to_owned()
    }
}

/// Prints a warning to standard error.
pub fn warn(text: impl AsRef<str>) {
    if !shows(Level::Quiet) {
        return;
    }
    let head = coloured("warning:", AnsiColor::Yellow);
    let _ = writeln!(std::io::stderr(), "{head} {}", printable(text.as_ref()));
}

/// Prints an error and its suggestion to standard error.
pub fn error(e: &AppError) {
    let mut err = std::io::stderr();
    let head = coloured("error:", AnsiColor::Red);
    let _ = writeln!(err, "{head} {}", printable(&e.message));
    if let Some(hint) = &e.hint {
        let head = coloured("hint:", AnsiColor::Cyan);
        let _ = writeln!(err, "\n{head} {}", printable(hint));
    }
}

/// Prints one JSON document to standard output.
///
/// # Errors
/// The value is not serialisable.
pub fn json(value: &impl Serialize) -> Result {
    data(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Text in bold, where standard output is a terminal; for [`line()`].
pub fn bold(text: &str) -> String {
    let text: String = text.chars().filter(|c| !BOLD.contains(c)).collect();
    if shows_colours(&std::io::stdout()) {
        format!("{}{text}{}", BOLD[0], BOLD[1])
    } else {
        text
    }
}

/// Prints a table, as wide as the terminal.
pub fn table(table: &Table) {
    table.lines(width()).iter().for_each(data);
}

/// Prints sentences and other text for people, a line broken between words where the terminal is narrower.
pub fn line(text: impl AsRef<str>) {
    let Some(width) = width() else {
        return data(text);
    };
    let lines = text.as_ref().split('\n').flat_map(|l| wrapped(l, width));
    data(lines.collect::<Vec<_>>().join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fitting_unit() {
        let all = [0.025, 0.125, 8.0, 42.4, 170.0, 3600.0, 9000.0].map(duration);
        let texts = [
            "25.0 ms", "125 ms", "8 s", "42 s", "3 min", "60 min", "2.5 h",
        ];
        assert_eq!(all, texts);
    }

    /// Files of users have any name; `json!` and `Serialize` refuse those that are not UTF-8.
    #[test]
    fn paths_in_json_are_lossy() {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"a\xff.csv"));
            assert_eq!(
                serde_json::json!({"file": lossy(path)})["file"],
                "a\u{fffd}.csv"
            );
        }
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders: Vec<_> = ["fmm", "gisaxs", "hydro"]
            .map(|a| root.join("apps").join(a).join("src"))
            .to_vec();
        folders.push(root.join("crates/cli/src"));
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                for (n, line) in text.lines().enumerate() {
                    let Some((_, value)) = line.split_once("\"file\": ") else {
                        continue;
                    };
                    seen += 1;
                    assert!(
                        value.starts_with('"') || value.contains("lossy"),
                        "{}:{}: write `lossy(path)`",
                        path.display(),
                        n + 1
                    );
                }
            }
        }
        assert!(seen > 5, "{seen}");
    }
}
