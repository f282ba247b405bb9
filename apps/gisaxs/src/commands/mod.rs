//! What the commands share.

pub mod device;
pub mod files;
pub mod fit;
pub mod form_factor;
pub mod numeric;
pub mod reflectivity;
pub mod simulate;
pub mod study;
pub mod wisdom;

use greenup_app::{interrupt, stdout};
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::numeric::Watch;
use indicatif::{ProgressBar, ProgressStyle};

pub type Result<T> = std::result::Result<T, GisaxsError>;

/// A line for the user, apart from the data.
pub fn note(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The result, as JSON or in words.
pub fn summary(json: bool, value: &serde_json::Value, words: &str) {
    if json {
        stdout::line(value.to_string());
    } else {
        stdout::line(words);
    }
}

/// Work under a bar, which ends when the user wants to stop.
pub fn watched<T>(steps: u64, unit: &'static str, work: impl FnOnce(&Watch) -> T) -> T {
    let bar = ProgressBar::new(steps).with_message(unit);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {eta} left") {
        bar.set_style(style);
    }
    let out = work(&Watch {
        progress: &|n| bar.inc(n),
        stop: interrupt::flag(),
    });
    bar.finish_and_clear();
    out
}

/// What an interrupt leaves.
pub fn stopped() -> GisaxsError {
    GisaxsError::Sample("interrupted: nothing was written".into())
}
