//! Gzipped bytes.

use std::io::{self, Read as _};

/// What gzipped bytes hold, in one or more members: at most `limit` bytes and one more; and how the reading ended.
pub(super) fn unpack(packed: &[u8], limit: u64) -> (Vec<u8>, io::Result<()>) {
    let mut out = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(packed)
        .take(limit.saturating_add(1))
        .read_to_end(&mut out);
    (out, read.map(drop))
}
