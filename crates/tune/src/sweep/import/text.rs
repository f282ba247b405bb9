//! The text of a file: plain or gzipped, whole or cut off.

use super::FormatError;
use crate::sweep::packed::unpack;
use greenup_space::json;
use serde_json::Value as J;
use std::io::ErrorKind;

/// The text of a file, plain or gzipped in one or more members, of at most `limit` bytes; and whether its end is missing.
pub(super) fn unpacked(bytes: Vec<u8>, limit: u64) -> Result<(String, bool), FormatError> {
    let (mut plain, mut cut) = (bytes, false);
    if plain.starts_with(&[0x1f, 0x8b]) {
        let (out, read) = unpack(&plain, limit);
        match read {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::UnexpectedEof && !out.is_empty() => cut = true,
            Err(e) => return Err(e.into()),
        }
        plain = out;
    }
    if plain.len() as u64 > limit {
        return Err(FormatError::TooLargeUnpacked(limit));
    }
    match String::from_utf8(plain) {
        Ok(text) => Ok((text, cut)),
        Err(e) if e.utf8_error().error_len().is_none() => {
            // A character at the end is incomplete.
            let valid = e.utf8_error().valid_up_to();
            let mut bytes = e.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes)
                .map(|text| (text, true))
                .map_err(|e| e.utf8_error().into())
        }
        Err(e) => Err(e.utf8_error().into()),
    }
}

/// Where the trials are, by the tuner.
const LISTS: [&str; 4] = ["cache", "results", "Results", "sections"];

/// Reads JSON that may have been cut off, as an interrupted tuner leaves it; with a note where something was lost.
pub(super) fn parse(text: &str, cut: bool) -> Result<(J, Option<String>), FormatError> {
    let e = match json::parse(text) {
        Ok(found) => return Ok((found, None)),
        Err(e) => e,
    };
    // A cache that was not closed ends after an entry.
    let open = text.trim_end().trim_end_matches(',');
    if !cut && let Ok(found) = json::parse(&format!("{open}}}}}")) {
        return Ok((found, None));
    }
    let whole = if cut || e.is_eof() {
        json::salvaged(text, &LISTS)
    } else {
        None
    };
    let found = whole.and_then(|w| json::parse(&w).ok());
    let found = found.filter(|j| LISTS.iter().any(|key| j.get(key).is_some()));
    let note = "the file is cut off: what is after its last whole entry is left out";
    found.map(|j| (j, Some(note.to_owned()))).ok_or(e.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        z.write_all(bytes).unwrap();
        z.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let bomb = gzipped(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        let e = unpacked(bomb, 1 << 20).unwrap_err();
        assert_eq!(
            e.to_string(),
            "is too large: more than 1048576 bytes unpacked"
        );
        let text = |bytes: Vec<u8>| unpacked(bytes, 4).map(|t| t.0);
        assert_eq!(text(gzipped(b"{}")).unwrap(), "{}");
        assert_eq!(text(b"{}".to_vec()).unwrap(), "{}");
        assert!(text(b"{}    ".to_vec()).is_err());
        let e = text(gzipped(b"\xff}")).unwrap_err();
        assert!(e.to_string().contains("UTF-8"), "{e}");
    }

    #[test]
    fn all_members_of_a_gzip_are_read_and_one_that_was_cut_is_noted() {
        let mut two = gzipped(b"{\"cache\"");
        two.extend(gzipped(b": {}}"));
        assert_eq!(
            unpacked(two.clone(), 100).unwrap(),
            ("{\"cache\": {}}".into(), false)
        );
        two.truncate(two.len() - 4);
        assert!(unpacked(two, 100).unwrap().1);
        // Half of a character.
        assert_eq!(unpacked(b"a\xc3".to_vec(), 9).unwrap(), ("a".into(), true));
    }
}
