//! Any bytes as a checkpoint of hydro, as they are and with a checksum that is right: read or refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_hydro::output::checkpoint;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fn read(path: &Path) {
    if let Ok(c) = checkpoint::read::<Value>(path) {
        let _ = c.state.whole();
    }
}

fuzz_target!(|data: &[u8]| {
    read(&FOLDER.put("run.hydro", data));
    let mut summed = data.to_vec();
    summed.extend(crc32fast::hash(data).to_le_bytes());
    read(&FOLDER.put("run.hydro", &summed));
});
