//! Any bytes as a file of points: the first says as which format (n: NPY, others: CSV). They are read and checked, or refused.
#![no_main]

use greenup_fmm::points::files::{from_csv, from_npy};
use greenup_fuzz as _;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((format, bytes)) = data.split_first() else {
        return;
    };
    let read = match format {
        b'n' => from_npy(bytes, "p.npy"),
        _ => from_csv(&String::from_utf8_lossy(bytes), "p.csv"),
    };
    if let Ok(t) = read {
        assert_eq!(t.charges.len(), t.points.len() * t.columns);
        let _ = t.points.check("points");
    }
});
