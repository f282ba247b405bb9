//! Ctrl-C: asks once, so that what was measured is kept; a second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

pub fn install() {
    // Without a handler Ctrl-C ends the program, which is still right.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
