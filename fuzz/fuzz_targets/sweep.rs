//! Any text as the folder of a sweep, `sweep.json` and `trials.jsonl` with a line `---` between them: read, derived
//! from and exported, or refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_tune::sweep::{read_any, to_csv, to_t4};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|text: &str| {
    let (head, trials) = text.split_once("\n---\n").unwrap_or((text, ""));
    FOLDER.put("sweep.json", head.as_bytes());
    FOLDER.put("trials.jsonl", trials.as_bytes());
    if let Ok(sweep) = read_any(FOLDER.path()) {
        let _ = (sweep.table(), sweep.flops(), sweep.has_energy());
        let _ = (to_t4(&sweep), to_csv(&sweep, std::io::sink()));
    }
});
