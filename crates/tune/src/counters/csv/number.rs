//! Numbers as the profiler writes them in the language of the user: `1,234.5`, `1.234,5`, `1 234,5`.

/// What separates the decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimal {
    #[default]
    Point,
    Comma,
}

/// Signs between groups of digits, apart from point and comma.
fn is_group(c: char) -> bool {
    c.is_whitespace() || ['\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'].contains(&c)
}

/// The number alone: values of single instances may follow in brackets.
fn alone(text: &str) -> String {
    let text = text.split(" (").next().unwrap_or(text).trim();
    text.chars().filter(|c| !is_group(*c)).collect()
}

/// What a number tells about the language; nothing where both readings are possible, as of `1,234`.
pub fn evidence(text: &str) -> Option<Decimal> {
    let text = alone(text);
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c)) {
        return None;
    }
    let of = |sign: char| match sign {
        ',' => Decimal::Comma,
        _ => Decimal::Point,
    };
    let other = |d: Decimal| match d {
        Decimal::Comma => Decimal::Point,
        Decimal::Point => Decimal::Comma,
    };
    let mantissa = text.split(['e', 'E']).next().unwrap_or(&text);
    let signs: Vec<(usize, char)> = mantissa
        .char_indices()
        .filter(|(_, c)| ",.".contains(*c))
        .collect();
    let &(at, last) = signs.last()?;
    match signs.len() {
        1 => {
            let before = mantissa[..at].trim_start_matches(['+', '-']);
            let group = mantissa.len() - at - 1 == 3
                && (1..=3).contains(&before.len())
                && !before.starts_with('0');
            (!group).then(|| of(last))
        }
        _ if signs.iter().any(|(_, c)| *c != last) => Some(of(last)),
        _ => Some(other(of(last))),
    }
}

/// What a count tells, which has no decimals: its sign stands between groups of digits, as in `1.234`.
pub fn evidence_of_count(text: &str) -> Option<Decimal> {
    let text = alone(text);
    let digits = text.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
    match (
        digits && evidence(&text).is_none(),
        text.contains('.'),
        text.contains(','),
    ) {
        (true, true, false) => Some(Decimal::Comma),
        (true, false, true) => Some(Decimal::Point),
        _ => None,
    }
}

/// Nothing counts more in a launch; sums and products of smaller numbers are finite.
const GREATEST: f64 = 1e30;

/// The number; `None` for `n/a` and other words, and for what no counter can be.
pub fn number(text: &str, decimal: Decimal) -> Option<f64> {
    let text = alone(text);
    let plain: String = match decimal {
        Decimal::Point => text.replace(',', ""),
        Decimal::Comma => text.replace('.', "").replace(',', "."),
    };
    let x: f64 = plain.parse().ok()?;
    (0.0..GREATEST).contains(&x).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_file() {
        for (text, is) in [
            ("1,234.5", Some(Decimal::Point)),
            ("1.234,5", Some(Decimal::Comma)),
            ("1,234,567", Some(Decimal::Point)),
            ("1.234.567", Some(Decimal::Comma)),
            ("1\u{202f}234,5", Some(Decimal::Comma)),
            ("12,34", Some(Decimal::Comma)),
            ("0.123", Some(Decimal::Point)),
            ("1,234", None),
            ("1.234", None),
            ("12", None),
            ("n/a", None),
            ("1.5e+06", Some(Decimal::Point)),
        ] {
            assert_eq!(evidence(text), is, "{text}");
        }
        assert_eq!(evidence_of_count("1.234"), Some(Decimal::Comma));
        assert_eq!(evidence_of_count("1,234"), Some(Decimal::Point));
        for text in ["12", "1.5", "1,234,567", "n/a", "1.234 W"] {
            assert_eq!(evidence_of_count(text), None, "{text}");
        }
        for (text, decimal, x) in [
            ("1,234.5", Decimal::Point, Some(1234.5)),
            ("1.234,5", Decimal::Comma, Some(1234.5)),
            ("1 234", Decimal::Comma, Some(1234.0)),
            ("1'234.5", Decimal::Point, Some(1234.5)),
            ("7 (3; 4)", Decimal::Point, Some(7.0)),
            ("1.5e+06", Decimal::Point, Some(1.5e6)),
            ("n/a", Decimal::Point, None),
            ("nan", Decimal::Point, None),
            ("-1.5", Decimal::Point, None),
            ("1e300", Decimal::Point, None),
            ("", Decimal::Point, None),
        ] {
            assert_eq!(number(text, decimal), x, "{text}");
        }
    }
}
