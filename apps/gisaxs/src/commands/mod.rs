//! What the commands share.

pub mod boards;
pub mod device;
pub mod files;
pub mod fit;
pub mod form_factor;
pub mod image;
pub mod mesh;
pub mod mesh_form_factor;
pub mod reflectivity;
pub mod scaling;
pub mod simulate;
pub mod study;
pub mod threads;
pub mod wisdom;

use greenup_app::{AppError, interrupt, print, progress};
use greenup_gisaxs::mesh_form_factor::Watch;

/// Prints the result, as JSON or as text.
pub fn summary(json: bool, value: &serde_json::Value, text: &str) {
    if json {
        print::line(value.to_string());
    } else {
        print::line(text);
    }
}

/// Work under a progress bar, which stops when the user interrupts.
pub fn watched<T>(steps: u64, unit: &'static str, work: impl FnOnce(&Watch) -> T) -> T {
    let bar = progress::bar(steps, unit);
    let out = work(&Watch {
        progress: &|n| bar.inc(n),
        stop: interrupt::flag(),
    });
    bar.finish_and_clear();
    out
}

/// The error of an interrupted command.
pub fn stopped() -> AppError {
    AppError::interrupted("interrupted: nothing was written")
}
