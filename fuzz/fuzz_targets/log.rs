//! Any text as a power log: it is read and integrated, or refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_meter::sensors::external::log::{Options, energy, read};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|data: &[u8]| {
    let path = FOLDER.put("log.csv", data);
    for every_s in [None, Some(1.0)] {
        let options = Options {
            every_s,
            ..Options::default()
        };
        for log in read(&path, &options).into_iter().flatten() {
            let _ = energy(&log, None, None);
        }
    }
});
