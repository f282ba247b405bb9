//! Any text as a space file, TOML or JSON: it is read or refused, and never panics. Scripts are read, not run: they
//! may take as long as their budget.
#![no_main]

use greenup_fuzz as _;
use greenup_space::{Definition, Facts, Space};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(mut d) = Definition::read(text, &Facts::new()) else {
        return;
    };
    if d.script.is_some() {
        d.parameters.clear();
        d.derived.clear();
        d.filters.clear();
    }
    let _ = Space::new(&d);
});
