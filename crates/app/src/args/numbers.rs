//! Numbers and times, as typed on the command line.

/// Seconds of `300ms`, `90s`, `20m`, `2h`, `8m30s`, or of a number of seconds.
///
/// # Errors
/// The text is none.
pub fn duration(text: &str) -> Result<f64, String> {
    let wrong = || "give a time, like 300ms, 90s, 20m, 2h or 8m30s".to_owned();
    let (mut rest, mut total, mut last) = (text.trim(), 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let end = rest.find(['s', 'm', 'h']).unwrap_or(rest.len());
        let (unit, length) = match &rest.as_bytes()[end..] {
            [b'm', b's', ..] => (1e-3, 2),
            [b'h', ..] => (3600.0, 1),
            [b'm', ..] => (60.0, 1),
            _ => (1.0, 1),
        };
        let number: f64 = rest[..end].trim().parse().map_err(|_| wrong())?;
        // From the largest unit to the smallest, each once.
        if unit >= last || number < 0.0 {
            return Err(wrong());
        }
        (total, last) = (total + number * unit, unit);
        rest = rest.get(end + length..).unwrap_or("");
    }
    match total {
        x if x > 0.0 && x <= 3.2e7 => Ok(x),
        _ => Err(wrong()),
    }
}

/// A whole number from 1 to a billion.
///
/// # Errors
/// The text is none.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if (1..=1_000_000_000).contains(&n) => Ok(n),
        _ => Err("give a whole number from 1 to 1000000000".into()),
    }
}

/// A number that is not negative: `1e6`.
///
/// # Errors
/// The text is none.
pub fn count(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("give a finite number that is not negative".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, s) in [
            ("90s", 90.0),
            ("20m", 1200.0),
            ("0.5h", 1800.0),
            ("7", 7.0),
            ("300ms", 0.3),
            ("1s500ms", 1.5),
            ("8m30s", 510.0),
            ("1h5m", 3900.0),
        ] {
            assert_eq!(duration(text), Ok(s), "{text}");
        }
        for bad in [
            "", "0s", "-5s", "nan", "inf", "s", "5s8m", "5m5m", "8mm", "x", "1h-5m", "9999999h",
            "1ms2s",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
