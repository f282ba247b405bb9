//! Any text as a space file, TOML or JSON: it is read or refused, and never panics. Scripts are left
//! out: they may run for as long as they like.
#![no_main]

use greenup_fuzz as _;
use greenup_space::{Facts, Space};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if !text.contains("script") {
        let _ = Space::read(text, &Facts::new());
    }
});
