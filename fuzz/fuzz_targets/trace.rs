//! Any text as what an external meter printed: it is read, or refused.
#![no_main]

use greenup_fuzz as _;
use greenup_meter::sensors::external::Recorded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = Recorded::parse("trace.csv", &String::from_utf8_lossy(data));
});
