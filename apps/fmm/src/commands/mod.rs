//! Subcommands of `fmm`.

pub mod device;
pub mod direct;
pub mod input;
pub mod nbody;
mod predicted;
pub mod run;
pub mod study;
pub mod tune;

use greenup_fmm::FmmError;
use greenup_report::si::si;
use std::io::Write as _;

/// To standard output; a reader that left is no error.
pub fn say(text: &str) {
    greenup_app::stdout::line(text);
}

/// Refuses to go on where the user wants to stop.
pub fn go_on() -> Result<(), FmmError> {
    if greenup_app::interrupt::requested() {
        return Err(FmmError("interrupted".to_owned()));
    }
    Ok(())
}

/// A time with its prefix.
pub fn time(seconds: f64) -> String {
    si(seconds, "s")
}

/// To standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
