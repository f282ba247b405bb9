//! Dates and times of day as a count of seconds. Only differences matter: no time zone is applied but one that is written.

/// A date, or a time of day without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    /// Since 1970, or since midnight.
    pub seconds: f64,
    pub has_date: bool,
    /// Whether its zone is written.
    pub has_zone: bool,
    /// Decimals of its seconds, as they are written.
    pub decimals: usize,
}

/// Seconds of `2026/11/27 00:59:59.123`, `2026-11-27T00:59:59Z` or `00:59:59.5`; `None` for anything else.
pub fn clock_time(text: &str) -> Option<Stamp> {
    if !text.contains(':') {
        return None;
    }
    let (date, rest) = match text.split_once(['T', ' ']) {
        Some((date, rest)) => (Some(days(date)?), rest.trim()),
        None => (None, text),
    };
    let (clock, zone) = zone(rest);
    Some(Stamp {
        has_zone: clock.len() < rest.len(),
        decimals: clock.split_once(['.', ',']).map_or(0, |(_, d)| d.len()),
        seconds: date.unwrap_or(0.0) * 86400.0 + of_day(clock)? - zone?,
        has_date: date.is_some(),
    })
}

/// Whether a text is a date alone.
pub fn is_date(text: &str) -> bool {
    days(text).is_some()
}

/// Splits off a zone: `Z`, `+02:00`; its seconds.
fn zone(text: &str) -> (&str, Option<f64>) {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return (clock, Some(0.0));
    }
    match text.rfind(['+', '-']) {
        Some(at) => {
            let sign = if text[at..].starts_with('+') {
                1.0
            } else {
                -1.0
            };
            (
                &text[..at],
                hours_minutes(&text[at + 1..]).map(|s| sign * s),
            )
        }
        None => (text, Some(0.0)),
    }
}

/// Seconds of an offset from UTC: `Z`, `+02:00`, `-0530`.
pub fn zone_s(text: &str) -> Option<f64> {
    match zone(text) {
        ("", found) if !text.is_empty() => found,
        _ => None,
    }
}

fn hours_minutes(text: &str) -> Option<f64> {
    let (h, m) = match text.split_once(':') {
        Some(both) => both,
        None if text.len() == 4 && text.is_ascii() => text.split_at(2),
        None => (text, "0"),
    };
    Some(f64::from(digits(h, 23)? * 3600 + digits(m, 59)? * 60))
}

/// Seconds since midnight.
fn of_day(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let hours = digits(parts.next()?, 24)?;
    let minutes = digits(parts.next()?, 59)?;
    let seconds = parts.next().unwrap_or("0").replace(',', ".");
    if parts.next().is_some() || !seconds.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let seconds: f64 = seconds.parse().ok()?;
    // A leap second is a 60th.
    (0.0..61.0)
        .contains(&seconds)
        .then(|| f64::from(hours * 3600 + minutes * 60) + seconds)
}

fn digits(text: &str, greatest: u32) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    let n: u32 = plain.then(|| text.parse().ok())??;
    (n <= greatest).then_some(n)
}

/// Days since 1970 of `2026/11/27` or `2026-11-27`, by the Gregorian calendar.
fn days(text: &str) -> Option<f64> {
    let mut parts = text.split(['/', '-']);
    let year = i64::from(digits(parts.next().filter(|y| y.len() == 4)?, 9999)?);
    let month = i64::from(digits(parts.next()?, 12)?);
    let day = i64::from(digits(parts.next()?, 31)?);
    if parts.next().is_some() || month < 1 || day < 1 {
        return None;
    }
    // Years begin in March, so that a leap day is the last day of its year.
    let (y, m) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let day_of_year = (153 * m + 2) / 5 + day - 1;
    Some(
        (365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + day_of_year - 719_468)
            as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_seconds() {
        // As `date -u -d … +%s` gives them.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2026/11/27 00:59:59.250", 1_795_741_199.25),
            ("2024-02-29T12:00:00", 1_709_208_000.0),
            ("2024-02-29 14:00:00+02:00", 1_709_208_000.0),
            ("2024-02-29T10:00:00-0200", 1_709_208_000.0),
            ("01:02:03,5", 3723.5),
        ] {
            assert_eq!(clock_time(text).map(|s| s.seconds), Some(seconds), "{text}");
        }
        for text in [
            "",
            "12.5",
            "2026/13/01 00:00:00",
            "25:00:00",
            "a:b:c",
            "1:2:3:4",
            "00:61:00",
            "2026-11-27T",
            ":",
        ] {
            assert_eq!(clock_time(text), None, "{text}");
        }
    }
}
