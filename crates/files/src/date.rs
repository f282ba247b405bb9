//! Dates of the Gregorian calendar.

/// Seconds since 1970 as a date of the Gregorian calendar, whose 400 years have 146,097 days.
pub fn utc(seconds: u64) -> String {
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the day of a leap year is the last one.
    let since = day + 719_468;
    let (era, of_era) = (since / 146_097, since % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z",
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }
}
