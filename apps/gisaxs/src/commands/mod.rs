//! What the commands share.

pub mod device;
pub mod fit;
pub mod form_factor;
pub mod numeric;
pub mod reflectivity;
pub mod simulate;
pub mod study;
pub mod wisdom;

use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::numeric::Watch;
use greenup_gisaxs::table::fail;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub type Result<T> = std::result::Result<T, GisaxsError>;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

pub fn say(to: &mut dyn std::io::Write, line: &str) {
    let _ = writeln!(to, "{line}");
}

/// The result, as JSON or in words.
pub fn summary(json: bool, value: &serde_json::Value, words: &str) {
    let text = if json {
        value.to_string()
    } else {
        words.to_owned()
    };
    say(&mut std::io::stdout(), &text);
}

/// The folder of a page, in which files that it names are looked for.
pub fn beside(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Work under a bar that Ctrl-C stops.
pub fn watched<T>(steps: u64, unit: &'static str, work: impl FnOnce(&Watch) -> T) -> T {
    // Without a handler Ctrl-C ends the program at once, which loses nothing either.
    let _ = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed));
    let bar = ProgressBar::new(steps).with_message(unit);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {eta} left") {
        bar.set_style(style);
    }
    let out = work(&Watch {
        progress: &|n| bar.inc(n),
        stop: &STOP,
    });
    bar.finish_and_clear();
    out
}

/// What Ctrl-C leaves.
pub fn stopped() -> GisaxsError {
    GisaxsError::Sample("stopped: nothing was written".into())
}

pub fn write(path: &Path, text: &[u8]) -> Result<()> {
    std::fs::File::create(path)
        .and_then(|mut f| f.write_all(text))
        .map_err(|e| fail(path, format!("cannot be written: {e}")))
}
