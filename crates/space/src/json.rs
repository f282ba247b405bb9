//! JSON as other programs write it: with a byte-order mark, and with NaN and infinities, which JSON does not have.

use serde_json::Value;
use std::borrow::Cow;

/// Reads a JSON text. NaN and infinite numbers are read as null: they are missing values.
///
/// # Errors
/// It is not JSON beyond that.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    let text = without_mark(text);
    serde_json::from_str(text).or_else(|e| match standard(text) {
        Cow::Borrowed(_) => Err(e),
        Cow::Owned(plain) => serde_json::from_str(&plain),
    })
}

/// A text without the byte-order mark of UTF-8.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The text with null in place of every `NaN`, `Infinity`, `inf` and number beyond the range of doubles outside strings;
/// borrowed where there is none.
pub fn standard(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b if b.is_ascii_alphanumeric() || b"+-.".contains(&b) => {
                let start = at;
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric() || b"+-.".contains(&bytes[at]))
                {
                    at += 1;
                }
                if is_no_number(&text[start..at]) {
                    out.push_str(&text[kept..start]);
                    out.push_str("null");
                    kept = at;
                }
            }
            _ => at += 1,
        }
    }
    match kept {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[kept..]),
    }
}

/// Where a string ends that begins here, its quote included.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Whether a word is a number that is not finite.
fn is_no_number(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(|x| !x.is_finite())
}

/// The whole part of a text that was cut off: up to the last complete element of the object or list at the key `of` of
/// the outermost object, with the brackets that are missing. `None` if not one element is complete.
pub fn salvaged(text: &str, of: &[&str]) -> Option<String> {
    let text = without_mark(text);
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    // The key of the outermost object whose value is read, and the last string, which may be the next.
    let (mut inside, mut last): (Option<&str>, &str) = (None, "");
    let mut cut = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                last = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                at = end;
                continue;
            }
            b @ (b'{' | b'[') => {
                if open.len() == 1 {
                    inside = of.iter().copied().find(|k| *k == last);
                }
                open.push(b);
            }
            b'}' | b']' => {
                open.pop();
                if open.len() == 2 && inside.is_some() {
                    cut = Some((at + 1, open.clone()));
                }
            }
            _ => {}
        }
        at += 1;
    }
    let (end, open) = cut?;
    let mut out = text[..end].to_owned();
    out.extend(
        open.iter()
            .rev()
            .map(|b| if *b == b'{' { '}' } else { ']' }),
    );
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_does_not_have_is_null() {
        let text = "\u{feff}{\"a\": NaN, \"b\": [-Infinity, Infinity, nan, 1e999, 1], \"NaN\": \"Infinity \\\" NaN\"}";
        let json = parse(text).unwrap();
        assert!(json["a"].is_null());
        assert_eq!(json["b"].to_string(), "[null,null,null,null,1]");
        assert_eq!(json["NaN"], "Infinity \" NaN");
        assert!(matches!(
            standard("{\"a\": 1e5, \"b\": true}"),
            Cow::Borrowed(_)
        ));
        for wrong in ["{\"a\": Nan1}", "{", "{\"a\": NaN", "NaN NaN"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse("{\"a\": \"é\", \"b\": -inf}").unwrap()["a"], "é");
    }

    #[test]
    fn a_text_that_was_cut_keeps_its_whole_elements() {
        let text = r#"{"keys": {"a": [1]}, "cache": {"1,}": {"x": [1, 2]}, "2": {"x": [3"#;
        let whole = salvaged(text, &["cache"]).unwrap();
        assert_eq!(
            whole,
            r#"{"keys": {"a": [1]}, "cache": {"1,}": {"x": [1, 2]}}}"#
        );
        let text = r#"{"results": [{"c": {"a": 1}}, {"c": {"a": 2}}, {"c": {"a""#;
        let whole = salvaged(text, &["results"]).unwrap();
        assert_eq!(whole, r#"{"results": [{"c": {"a": 1}}, {"c": {"a": 2}}]}"#);
        for nothing in [
            "",
            "{",
            r#"{"keys": {"a": [1]}, "cache": {"1": {"x""#,
            "]]]}}}",
        ] {
            assert_eq!(salvaged(nothing, &["cache"]), None, "{nothing}");
        }
    }
}
