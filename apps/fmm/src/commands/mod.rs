//! Subcommands of `fmm`.

pub mod direct;
mod drawing;
pub mod input;
pub mod lists;
mod measure;
pub mod nbody;
mod nbody_figure;
mod predicted;
pub mod run;
pub mod study;
pub mod tune;
mod tune_figure;
mod wisdom;

use greenup_app::{AppError, Result};
use greenup_report::si::si;

/// Ends the command if the user asked to stop.
pub fn check_interrupt() -> Result {
    if greenup_app::interrupt::requested() {
        return Err(AppError::interrupted("interrupted"));
    }
    Ok(())
}

/// A time with its prefix.
pub fn time(seconds: f64) -> String {
    si(seconds, "s")
}
