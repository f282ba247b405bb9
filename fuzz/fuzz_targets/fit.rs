//! Any text as an input of a fit: it is read with the sample and data that it names, or refused; nothing is fitted.
#![no_main]

use greenup_fuzz::Folder;
use greenup_gisaxs::fit::FitInput;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    Folder::new(&[
        (
            "sample.toml",
            include_bytes!("../seeds/scattering/box.toml"),
        ),
        ("data.csv", b"1,2,3,4\n5,6,7,8\n1,2,3,4\n5,6,7,8\n"),
        ("cut.csv", b"0.1,1\n0.2,2\n0.3,1\n0.4,0\n"),
    ])
});

fuzz_target!(|text: &str| {
    let path = FOLDER.put("fit.toml", text.as_bytes());
    if let Ok(page) = FitInput::read(&path) {
        let _ = page.target(FOLDER.path());
    }
});
