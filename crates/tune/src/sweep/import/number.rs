//! What stands in a file where a number is expected.

use super::unit::ratio;
use serde_json::Value as J;

/// What stands in a file where a number is expected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// Numbers, of which a list may have several, and the unit of a text such as `2.0 ms`.
    Numbers(Vec<f64>, Option<String>),
    /// The name of a failure.
    Failure(String),
    /// A text that is no number.
    Unreadable(String),
    /// Nothing, or what stands for it.
    Missing,
}

/// Reads a number, a list of them, or a text with either a number or the name of a failure.
pub(super) fn read(v: &J) -> Read {
    match v {
        J::Number(n) => (n.as_f64().filter(|x| x.is_finite()))
            .map_or(Read::Missing, |x| Read::Numbers(vec![x], None)),
        J::Array(all) => of_list(all),
        J::String(text) => of_text(text.trim()),
        _ => Read::Missing,
    }
}

/// All in the unit of the first.
fn of_list(all: &[J]) -> Read {
    let mut numbers: Vec<f64> = Vec::new();
    let mut unit = None;
    for v in all {
        match read(v) {
            Read::Numbers(more, own) => {
                if numbers.is_empty() {
                    unit.clone_from(&own);
                }
                let factor = match (&own, &unit) {
                    (None, None) => Some(1.0),
                    (Some(own), Some(first)) => ratio(own, first),
                    _ => None,
                };
                let Some(factor) = factor else {
                    return Read::Unreadable(J::from(all.to_vec()).to_string());
                };
                numbers.extend(more.iter().map(|x| x * factor));
            }
            Read::Missing => {}
            other => return other,
        }
    }
    if numbers.is_empty() {
        Read::Missing
    } else {
        Read::Numbers(numbers, unit)
    }
}

/// Texts for values that are not there, in small letters.
const MISSING: [&str; 13] = [
    "",
    "nan",
    "+nan",
    "-nan",
    "inf",
    "+inf",
    "-inf",
    "infinity",
    "+infinity",
    "-infinity",
    "none",
    "null",
    "n/a",
];

fn of_text(text: &str) -> Read {
    if is_failure(text) {
        return Read::Failure(text.to_owned());
    }
    if MISSING.contains(&text.to_lowercase().as_str()) {
        return Read::Missing;
    }
    match with_unit(text) {
        Some((x, unit)) => Read::Numbers(vec![x], (!unit.is_empty()).then(|| unit.to_owned())),
        None => Read::Unreadable(text.to_owned()),
    }
}

/// A number and its unit, with or without a blank between them.
fn with_unit(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let sign = usize::from(text.starts_with(['+', '-']));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut part = 0;
    let comma = match bytes.get(end) {
        Some(b'.') => {
            part = digits(end + 1);
            end += 1 + part;
            false
        }
        Some(b',') => {
            part = digits(end + 1);
            end += 1 + part;
            true
        }
        _ => false,
    };
    if whole + part == 0 || comma && !is_decimal_comma(&text[sign..sign + whole], part) {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let n = digits(signed);
        if n > 0 {
            end = signed + n;
        }
    }
    let unit = text[end..].trim();
    let x: f64 = text[..end].replace(',', ".").parse().ok()?;
    (x.is_finite() && is_unit(unit)).then_some((x, unit))
}

/// Whether a comma with these digits before it, and as many behind it, cannot be one between thousands.
fn is_decimal_comma(whole: &str, behind: usize) -> bool {
    let thousands = behind == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    behind > 0 && !whole.is_empty() && !thousands
}

/// Whether what follows a number may be a unit: words and signs, but no other number.
fn is_unit(text: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || "%°/".contains(c);
    let holds = |c: char| c.is_alphabetic() || "%°/*·^_ ()".contains(c);
    text.is_empty() || text.starts_with(begins) && text.chars().all(holds)
}

/// Whether a text looks like a number, so that it is no word for a failure.
pub(super) fn is_like_a_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || "+-.,[".contains(c))
}

/// Whether a text is the name of one of Kernel Tuner's failures, also as Python shows the object.
fn is_failure(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    [
        "invalidconfig",
        "compilationfailedconfig",
        "runtimefailedconfig",
    ]
    .iter()
    .any(|name| small == *name || (text.starts_with('<') && small.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Read {
        read(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn numbers_stand_in_many_forms() {
        let numbers = |x: &[f64]| Read::Numbers(x.to_vec(), None);
        assert_eq!(of("2"), numbers(&[2.0]));
        assert_eq!(of("\"2.5\""), numbers(&[2.5]));
        assert_eq!(of("[1, \"2\", null]"), numbers(&[1.0, 2.0]));
        assert_eq!(of("\"2 us\""), Read::Numbers(vec![2.0], Some("us".into())));
        for missing in ["null", "true", "{}", "[]", "\"nan\"", "[null]", "\"-Inf\""] {
            assert_eq!(of(missing), Read::Missing, "{missing}");
        }
        for name in [
            "<kernel_tuner.util.InvalidConfig object at 0x7f>",
            "RuntimeFailedConfig",
            "compilationfailedconfig",
        ] {
            assert_eq!(of(&format!("\"{name}\"")), Read::Failure(name.into()));
        }
    }

    #[test]
    fn a_unit_needs_no_blank() {
        for (text, x, unit) in [
            ("500us", 500.0, "us"),
            ("500µs", 500.0, "µs"),
            ("500 μs", 500.0, "μs"),
            ("1.5e-3s", 1.5e-3, "s"),
            ("1.5E+3 ms", 1500.0, "ms"),
            (".5s", 0.5, "s"),
            ("2.s", 2.0, "s"),
            ("-3W", -3.0, "W"),
            ("2,5ms", 2.5, "ms"),
            ("2,5e1 ms", 25.0, "ms"),
            ("20GFLOP/s", 20.0, "GFLOP/s"),
            ("75%", 75.0, "%"),
            ("3 eV", 3.0, "eV"),
            ("3eV", 3.0, "eV"),
        ] {
            let want = Read::Numbers(vec![x], Some(unit.into()));
            assert_eq!(of(&format!("\"{text}\"")), want, "{text}");
        }
        for (text, x) in [
            ("2,5", 2.5),
            ("0,125", 0.125),
            ("1234,567", 1234.567),
            ("1,2345", 1.2345),
            ("12e1", 120.0),
        ] {
            let want = Read::Numbers(vec![x], None);
            assert_eq!(of(&format!("\"{text}\"")), want, "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_numbers_is_not_read() {
        for text in [
            "2,500",
            "1,234,567",
            "1.234,5",
            "1,234.5",
            ",5",
            "2,",
            "8x8",
            "1-2 ms",
            "1 2",
            "2.0.1",
            "1e999",
            "0x10",
            "fast",
            "ms",
            "2024-11-19",
        ] {
            assert_eq!(of(&format!("\"{text}\"")), Read::Unreadable(text.into()));
        }
    }

    #[test]
    fn numbers_of_a_list_have_one_unit() {
        let all = of(r#"["2 ms", "500us", "0.001 s"]"#);
        let Read::Numbers(x, Some(unit)) = all else {
            panic!("{all:?}");
        };
        assert_eq!(unit, "ms");
        for (x, want) in x.iter().zip([2.0, 0.5, 1.0]) {
            assert!((x - want).abs() < 1e-12, "{x}");
        }
        for mixed in [r#"[2, "500us"]"#, r#"["2 ms", "3 J"]"#, r#"[1, "fast"]"#] {
            assert!(matches!(of(mixed), Read::Unreadable(_)), "{mixed}");
        }
    }
}
