//! What the commands share.

pub mod boards;
pub mod files;
pub mod fit;
pub mod form_factor;
pub mod image;
pub mod mesh;
pub mod mesh_form_factor;
pub mod reflectivity;
pub mod simulate;
pub mod study;
pub mod wisdom;

use crate::mesh_form_factor::Watch;
use greenup_app::{AppError, Result, interrupt, print, progress};

/// Prints the result, as JSON or as text.
pub fn summary(json: bool, value: &serde_json::Value, text: &str) {
    if json {
        print::data(value.to_string());
    } else {
        print::line(text);
    }
}

/// Refuses flags of this command line that have no effect, with the reason.
pub fn unused(flags: &[&str], why: &str) -> Result {
    match given(
        flags,
        std::env::args_os().map(|a| a.to_string_lossy().into_owned()),
    ) {
        Some(flag) => Err(AppError::new(format!("{flag} has no effect here: {why}"))
            .hint(format!("leave out {flag}"))),
        None => Ok(()),
    }
}

/// The first of some flags on a command line.
fn given(flags: &[&str], args: impl Iterator<Item = String>) -> Option<String> {
    let is = |arg: &str, flag: &str| {
        arg.strip_prefix(flag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    args.take_while(|a| a != "--")
        .find_map(|a| flags.iter().find(|f| is(&a, f)).map(|f| (*f).to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_by_their_whole_name() {
        let found = |line: &str| given(&["--dpi", "--width"], line.split(' ').map(str::to_owned));
        assert_eq!(found("gisaxs simulate a --dpi 3"), Some("--dpi".into()));
        assert_eq!(found("gisaxs simulate a --width=3"), Some("--width".into()));
        assert_eq!(found("gisaxs simulate a --dpis 3 -- --dpi"), None);
    }
}
