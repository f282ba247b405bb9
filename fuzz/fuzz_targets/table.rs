//! Any text as a table that ncu printed.
#![no_main]

use greenup_fuzz as _;
use greenup_tune::counters::csv::parse;
use greenup_tune::counters::ncu::folded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(table) = parse(&String::from_utf8_lossy(data)) {
        let _ = folded(&table.launches, &[]);
    }
});
