//! What `nvidia-smi` prints in other forms than lines under a header, as such lines: each keeps its number.

mod dmon;
mod headerless;
mod query;

use super::line::Numbered;
use super::trace_clock::Naming;
use headerless::is_name;

/// Whether samples of these devices name them; a model may be that of several.
pub fn naming<'a>(nvidia: bool, devices: impl IntoIterator<Item = &'a str>) -> Naming {
    if devices.into_iter().any(|d| !is_name(d)) {
        Naming::Named
    } else if nvidia {
        Naming::Unnamed
    } else {
        Naming::Unknown
    }
}

/// The text as lines under a header; `None` where it is such a text already, or none of these.
pub fn rewritten(text: &str) -> Option<Numbered> {
    dmon::rewritten(text, None)
        .or_else(|| query::rewritten(text))
        .or_else(|| headerless::rewritten(text))
}

/// As [`rewritten`], of `dmon` without times, whose lines are so many seconds apart.
pub fn rewritten_every(text: &str, every_s: f64) -> Option<Numbered> {
    dmon::rewritten(text, Some(every_s))
}

/// Whether it is of `dmon` without times.
pub fn has_no_times(text: &str) -> bool {
    dmon::is_timeless(text)
}
