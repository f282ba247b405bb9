//! Numbers, times and other quantities, as typed on the command line.

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

/// Watts of `140`, `140W` or `1.2kW`.
///
/// # Errors
/// The text is none.
pub fn watts(text: &str) -> Result<f64, String> {
    quantity(text, "W").ok_or_else(|| "give a power, like 140W or 1.2kW".into())
}

/// Hertz of `1.54e9`, `1.54GHz` or `900MHz`.
///
/// # Errors
/// The text is none.
pub fn hertz(text: &str) -> Result<f64, String> {
    quantity(text, "Hz").ok_or_else(|| "give a clock, like 1.54GHz or 900MHz".into())
}

/// A positive number, alone or with a unit that may have a prefix.
fn quantity(text: &str, unit: &str) -> Option<f64> {
    let text = text.trim();
    let (number, scale) = match text.strip_suffix(unit) {
        None => (text, 1.0),
        Some(number) => {
            let prefixes = [('m', 1e-3), ('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12)];
            let known = prefixes.iter().find(|(p, _)| number.ends_with(*p));
            known.map_or((number, 1.0), |(p, scale)| {
                (number.trim_end_matches(*p), *scale)
            })
        }
    };
    let value = number.trim().parse::<f64>().ok()? * scale;
    (value.is_finite() && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        for (text, w) in [
            ("140", 140.0),
            ("140W", 140.0),
            ("1.2 kW", 1200.0),
            ("5e2mW", 0.5),
            ("1MW", 1e6),
        ] {
            assert_eq!(watts(text), Ok(w), "{text}");
        }
        assert_eq!(hertz("1.5GHz"), Ok(1.5e9));
        assert_eq!(hertz("900MHz"), Ok(9e8));
        for bad in ["", "W", "0", "-5W", "nan", "inf", "5kk W", "5Hz", "k"] {
            assert!(watts(bad).is_err(), "{bad}");
        }
    }

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
