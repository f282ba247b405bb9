//! Words of text files, with their lines.

use crate::GisaxsError;
use std::borrow::Cow;

/// Largest coordinate: the square of a larger one overflows in single precision.
const FARTHEST: f64 = 1e18;

/// The text of a file, without its byte-order mark. Comments and names are in any encoding; numbers are not.
///
/// # Errors
/// It is UTF-16.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, GisaxsError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err("is text in UTF-16: save it as UTF-8".into()),
        _ => Ok(String::from_utf8_lossy(bytes)),
    }
}

/// The lines of a text with their numbers; a line ends with LF, CR LF or CR.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut n = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        n += 1;
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = match after.strip_prefix("\r\n") {
            Some(after) => after,
            None => after.get(1..).unwrap_or_default(),
        };
        Some((n, line))
    })
}

/// The coordinate, if it is in range.
///
/// # Errors
/// It is not.
pub(super) fn checked(x: f64) -> Result<f64, GisaxsError> {
    if x.abs() <= FARTHEST {
        Ok(x)
    } else {
        Err(format!("the coordinate {x:e} is not between -{FARTHEST:e} and {FARTHEST:e}").into())
    }
}

/// Reads a coordinate.
///
/// # Errors
/// It is not a number, or out of range.
pub(super) fn coordinate(word: &str) -> Result<f64, GisaxsError> {
    checked(
        word.parse()
            .map_err(|_| format!("\"{word}\" is not a number"))?,
    )
}

/// The error of a line.
pub(super) fn at_line(n: usize, e: impl std::fmt::Display) -> GisaxsError {
    GisaxsError::from(format!("line {n}: {e}"))
}
