//! Compares the output of a run with the one that is right: words alike, numbers within a tolerance.

use super::decimal::Number;

/// Largest difference of two numbers of the texts over the largest number of the right one.
///
/// # Errors
/// Where the texts differ, in words.
pub(crate) fn compare(found: &str, right: &str, tolerance: f64) -> Result<f64, String> {
    let mut numbers: Vec<([&str; 2], [Number; 2], usize)> = Vec::new();
    let mut lines = (right.lines(), found.lines());
    let mut line = 0;
    loop {
        line += 1;
        let (r, f) = match (lines.0.next(), lines.1.next()) {
            (None, None) => break,
            (Some(_), None) => return Err(format!("its output ends before line {line}")),
            (None, Some(f)) => return Err(format!("line {line} is one too many: `{}`", brief(f))),
            (Some(r), Some(f)) => (r, f),
        };
        let (mut rs, mut fs) = (words(r), words(f));
        loop {
            match (rs.next(), fs.next()) {
                (None, None) => break,
                (Some(a), Some(b)) => match (Number::of(a), Number::of(b)) {
                    (Some(x), Some(y)) => numbers.push(([b, a], [y, x], line)),
                    _ if a == b => {}
                    _ => return Err(format!("line {line}: `{}` is not `{}`", brief(b), brief(a))),
                },
                _ => return Err(format!("line {line}: `{}` is not `{}`", brief(f), brief(r))),
            }
        }
    }
    let largest = numbers
        .iter()
        .map(|(_, [_, right], _)| right.value().abs())
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max);
    let mut worst = 0.0_f64;
    for ([written, expected], [found, right], line) in &numbers {
        let apart = found.distance(right);
        let error = apart / if largest > 0.0 { largest } else { 1.0 };
        if error.is_nan() || error > tolerance {
            return Err(format!(
                "line {line}: {} is not {}: they differ by {}, an error of {error:.1e} of the largest number, {tolerance:.1e} is allowed",
                brief(written),
                brief(expected),
                short(apart)
            ));
        }
        worst = worst.max(error);
    }
    Ok(worst)
}

/// A difference in a message: whole numbers as they are, others to two digits.
fn short(apart: f64) -> String {
    if apart.fract() == 0.0 && apart < 1e6 {
        format!("{apart}")
    } else {
        format!("{apart:.1e}")
    }
}

/// What is compared of an output.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    /// Regular expression of the lines that are compared; all without one.
    pub(crate) lines: Option<&'a str>,
    /// Largest difference of two numbers over the largest number.
    pub(crate) tolerance: f64,
}

impl Compared<'_> {
    /// The text that is compared; bytes that are no text become one character each, so that all of them count.
    fn text(self, bytes: &[u8]) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) => lines(text, self.lines),
            Err(_) => lines(
                &bytes.iter().map(|b| char::from(*b)).collect::<String>(),
                self.lines,
            ),
        }
    }

    /// Refuses an output that is right and with which any other would agree.
    ///
    /// # Errors
    /// Why, in words.
    pub(crate) fn usable(self, right: &[u8]) -> Result<(), String> {
        let text = self.text(right);
        let mut all = words(&text).peekable();
        if all.peek().is_none() {
            return Err(match self.lines {
                Some(pattern) => {
                    format!("no line of it matches `{pattern}`: nothing would be compared")
                }
                None => "it is empty: nothing would be compared".into(),
            });
        }
        let mut numbers = all.filter_map(Number::of).peekable();
        if numbers.peek().is_some() && numbers.all(|n| n == Number::Nan) {
            return Err("all its numbers are NaN: they tell nothing of a result".into());
        }
        Ok(())
    }

    /// Largest error of what a run gave.
    ///
    /// # Errors
    /// Where it differs from what is right, in words.
    pub(crate) fn compare(self, found: &[u8], right: &[u8]) -> Result<f64, String> {
        let is_text = |b: &[u8]| std::str::from_utf8(b).is_ok() && !b.contains(&0);
        if self.lines.is_none() && !(is_text(found) && is_text(right)) {
            return same_bytes(found, right).map(|()| 0.0);
        }
        self.usable(right)?;
        let own = self.text(found);
        match (own.is_empty(), self.lines) {
            (true, Some(pattern)) => Err(format!("no line of its output matches `{pattern}`")),
            _ => compare(&own, &self.text(right), self.tolerance),
        }
    }
}

/// Output that is no text has no numbers to read: it must be the same.
fn same_bytes(found: &[u8], right: &[u8]) -> Result<(), String> {
    if found == right {
        return Ok(());
    }
    let at = found.iter().zip(right).position(|(x, y)| x != y);
    Err(format!(
        "its output is not text, and differs from byte {} on ({} bytes, {} are right)",
        1 + at.unwrap_or(found.len().min(right.len())),
        found.len(),
        right.len()
    ))
}

/// The lines of a text with a match of a regular expression; all without one.
pub(crate) fn lines(text: &str, pattern: Option<&str>) -> String {
    let Some(of) = pattern.and_then(|p| regex::Regex::new(p).ok()) else {
        return text.to_owned();
    };
    let kept: Vec<&str> = text.lines().filter(|l| of.is_match(l)).collect();
    kept.join("\n")
}

/// Words, with separators of tables and lists around numbers left out.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || ",;:=[](){}|\"".contains(c))
        .filter(|w| !w.is_empty())
}

/// The beginning of a text, for messages.
pub(super) fn brief(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_alike_and_numbers_near() {
        assert_eq!(compare("sum = 10.0\n", "sum = 10\n", 0.0), Ok(0.0));
        let near = compare("[1.0, 100.001]", "[1.0, 100.0]", 1e-4).unwrap();
        assert!((near - 1e-5).abs() < 1e-9, "{near}");
        assert!(
            compare("1.0 100.1", "1.0 100.0", 1e-4)
                .unwrap_err()
                .contains("line 1")
        );
        assert!(compare("a 1", "b 1", 1.0).is_err());
        assert!(
            compare("1", "1\n2", 1.0)
                .unwrap_err()
                .contains("ends before line 2")
        );
        assert!(
            compare("1\n2", "1", 1.0)
                .unwrap_err()
                .contains("one too many")
        );
        assert!(compare("nan", "1", 1e9).is_err());
        assert!(compare("inf", "1", 1e9).is_err());
        assert_eq!(compare("nan inf", "nan inf", 0.0), Ok(0.0));
        assert!(
            compare("0.1", "0", 0.01).is_err(),
            "of nothing an absolute error counts"
        );
    }

    #[test]
    fn all_digits_count_and_only_numbers_are_numbers() {
        for (a, b) in [
            ("12345678901234567890", "12345678901234567000"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709551614"),
            ("-1", "1"),
            ("0.1000000000000000055511151231257827", "0.1"),
            // They overflow, so they are words.
            ("12e456", "13e456"),
            ("1e400", "inf"),
            ("inf", "-inf"),
            ("nan", "inf"),
            ("1e", "1"),
            ("0x10", "0x11"),
            ("5e-324", "0"),
        ] {
            assert!(compare(a, b, 0.0).is_err(), "{a} {b}");
            assert!(compare(b, a, 0.0).is_err(), "{b} {a}");
        }
        for (a, b) in [
            ("1e1", "10.0"),
            ("+5", "5"),
            ("-0", "0.0"),
            (".5", "5e-1"),
            ("1.50E+2", "150"),
            ("Infinity", "inf"),
            ("12e456", "12e456"),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ] {
            assert_eq!(compare(a, b, 0.0), Ok(0.0), "{a} {b}");
        }
        assert!(compare("12345678901234567890", "12345678901234567000", 1e-15).is_ok());
        assert!(compare("12345678901234567890", "12345678901234567000", 7.2e-17).is_err());
        // They differ by 1: by 8.1e-20 of the number.
        assert!(compare("12345678901234567890", "12345678901234567891", 8.0e-20).is_err());
        let near = compare("12345678901234567890", "12345678901234567891", 8.2e-20).unwrap();
        assert!((near / 8.1e-20 - 1.0).abs() < 1e-3, "{near}");
        let e = compare("12345678901234567891", "12345678901234567890", 0.0).unwrap_err();
        assert_eq!(
            e,
            "line 1: 12345678901234567891 is not 12345678901234567890: they differ by 1, an error of 8.1e-20 of the largest number, 0.0e0 is allowed"
        );
        let e = compare("-1.5", "1", 0.1).unwrap_err();
        assert!(e.contains("differ by 2.5e0, an error of 2.5e0"), "{e}");
    }

    #[test]
    fn exponents_of_fortran_are_numbers_on_both_sides() {
        for (a, b) in [
            ("1.0D+00", "1.0"),
            ("1.0", "1.0D+00"),
            ("-0.25d1", "-2.5"),
            ("1D3", "1000"),
            ("0.1D-02", "1E-3"),
            // The letter is left out before three digits.
            ("0.10-100", "1e-101"),
            ("1.5+101", "1.5E101"),
        ] {
            assert_eq!(compare(a, b, 0.0), Ok(0.0), "{a} {b}");
        }
        let near = compare("x 1.0001D+00", "x 1.0D+00", 1e-3).unwrap();
        assert!((near - 1e-4).abs() < 1e-12, "{near}");
        assert!(compare("1.0001D+00", "1.0D+00", 1e-5).is_err());
        for (a, b) in [
            ("1.0D+00", "1.0D+01"),
            ("1.0D", "1.0"),
            ("2D", "2"),
            ("1.0D999", "inf"),
            ("2024-101", "2024e-101"),
            ("1.0-10", "1e-10"),
        ] {
            assert!(compare(a, b, 0.5).is_err(), "{a} {b}");
        }
    }

    #[test]
    fn what_says_nothing_is_no_expectation() {
        let of = |lines: Option<&'static str>| Compared {
            lines,
            tolerance: 0.0,
        };
        for (lines, right) in [
            (Some("norm"), "bye\n"),
            (Some("^$"), "\n\n"),
            (Some(":"), " : \n"),
            (None, ""),
            (None, " \n()\n"),
            (None, "norm = nan\n"),
        ] {
            assert!(of(lines).usable(right.as_bytes()).is_err(), "{right:?}");
            let found = of(lines).compare(right.as_bytes(), right.as_bytes());
            assert!(found.is_err(), "{right:?}");
        }
        let norm = of(Some("norm"));
        assert!(norm.usable(b"norm 1\n").is_ok() && of(None).usable(b"nan 1").is_ok());
        let none = norm.compare(b"hello\n", b"norm 1\n").unwrap_err();
        assert!(
            none.contains("no line of its output matches `norm`"),
            "{none}"
        );
        // Bytes that are no text.
        let e = of(None).compare(b"\xff\x01", b"\xfe\x01").unwrap_err();
        assert!(e.contains("from byte 1 on"), "{e}");
        assert!(of(None).compare(b"a\0\x20", b"a\0,").is_err());
        assert_eq!(of(None).compare(b"\xff", b"\xff"), Ok(0.0));
        assert!(norm.compare(b"norm \xff\n", b"norm \xfe\n").is_err());
    }

    #[test]
    fn only_some_lines_count() {
        let text = "time 3\nsum 4\nsum 5\n";
        assert_eq!(lines(text, Some("^sum")), "sum 4\nsum 5");
        assert_eq!(lines(text, None), text);
    }

    proptest! {
        #[test]
        fn a_text_is_like_itself(text in "[a-z0-9 .,\n-]{0,200}") {
            prop_assert_eq!(compare(&text, &text, 0.0), Ok(0.0));
        }
    }
}
