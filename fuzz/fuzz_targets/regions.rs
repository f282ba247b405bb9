//! Any bytes as a file of regions: read, put together and shown, or refused.
#![no_main]

use greenup_regions::merge::{Runs, merge};
use greenup_regions::table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut runs = Runs::default();
    if runs.read("regions.jsonl", data).is_ok() {
        let all = runs.summaries();
        for summary in &all {
            let _ = table(summary);
        }
        let _ = serde_json::to_string(&merge(&all));
    }
});
