//! Whether the user wants the command to stop.

use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the user wants the command to stop. Loops ask it.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The same for code that takes a flag.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}
