//! Subcommands of `fmm`.

pub mod device;
pub mod direct;
pub mod input;
pub mod nbody;
mod predicted;
pub mod run;
pub mod study;
pub mod tune;

use std::io::Write as _;

/// To standard output; a reader that left is no error.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// To standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
