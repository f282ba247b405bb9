//! Any bytes as a measured image or a table: the first says as which format (n: NPY, t: TIFF, c: CSV image, others: a table
//! with a header). It is read, or refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_gisaxs::image;
use greenup_gisaxs::table::{Column, DEGREES, Layout, PER_NM};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

const TABLE: Layout = Layout {
    columns: &[
        Column {
            names: &["alpha", "α"],
            units: DEGREES,
            absent: None,
        },
        Column {
            names: &["qx"],
            units: PER_NM,
            absent: Some(0.0),
        },
    ],
    unused: &["r"],
    plain: 2,
    more: false,
    gaps: true,
};

fuzz_target!(|data: &[u8]| {
    let Some((format, bytes)) = data.split_first() else {
        return;
    };
    let name = match format {
        b'n' => "m.npy",
        b't' => "m.tif",
        b'c' => "m.csv",
        _ => {
            if let Ok(rows) = TABLE.read(&FOLDER.put("t.csv", bytes)) {
                assert!(rows.iter().all(|r| r.1.len() == 2));
            }
            return;
        }
    };
    if let Ok(read) = image::read(&FOLDER.put(name, bytes)) {
        assert_eq!(read.pixels.len() % read.columns, 0);
        assert!(read.gaps.iter().all(|n| read.pixels[*n].is_nan()));
    }
});
