//! Compares the output of a run with the one that is right: words alike, numbers within a tolerance.

/// Largest difference of two numbers of the texts over the largest number of the right one.
///
/// # Errors
/// Where the texts differ, in words.
pub(crate) fn compare(found: &str, right: &str, tolerance: f64) -> Result<f64, String> {
    let mut numbers: Vec<(f64, f64, usize)> = Vec::new();
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
                (Some(a), Some(b)) => match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) => numbers.push((b, a, line)),
                    _ if a == b => {}
                    _ => return Err(format!("line {line}: `{}` is not `{}`", brief(b), brief(a))),
                },
                _ => return Err(format!("line {line}: `{}` is not `{}`", brief(f), brief(r))),
            }
        }
    }
    let largest = numbers
        .iter()
        .map(|n| n.1.abs())
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max);
    let mut worst = 0.0_f64;
    for (found, right, line) in numbers {
        if found == right || found.is_nan() && right.is_nan() {
            continue;
        }
        let error = (found - right).abs() / if largest > 0.0 { largest } else { 1.0 };
        if error.is_nan() || error > tolerance {
            return Err(format!(
                "line {line}: {found} is not {right}: an error of {error:.1e} of the largest number, {tolerance:.1e} is allowed"
            ));
        }
        worst = worst.max(error);
    }
    Ok(worst)
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
