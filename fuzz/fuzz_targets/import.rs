//! Any bytes as a sweep of another tuner, plain or gzipped.
#![no_main]

use greenup_fuzz::Folder;
use greenup_tune::sweep::{read_any, to_csv, to_t4};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|data: &[u8]| {
    if let Ok(sweep) = read_any(&FOLDER.put("results.json", data)) {
        let _ = (sweep.table(), sweep.flops(), sweep.has_energy());
        let _ = (to_t4(&sweep), to_csv(&sweep, std::io::sink()));
    }
});
