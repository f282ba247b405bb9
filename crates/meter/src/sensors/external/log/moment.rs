//! A moment that a user names, on the clock of a log.

use super::DeviceLog;
use crate::sensors::external::stamp::{Stamp, clock_time, zone_s};
use std::str::FromStr;

const DAY_S: f64 = 86400.0;
/// Counts of seconds from here on are those since 1970.
const SINCE_1970: f64 = 1e9;

/// `2026/11/28 08:59:29`, `08:59:29`, seconds since 1970, or seconds after the first sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// A date or a time of day.
    Stamp(Stamp),
    /// Seconds.
    Seconds(f64),
}

/// A moment that is not on the log's clock.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MomentError {
    /// Not a time.
    #[error(
        "`{0}` is no time: use `2026/11/28 08:59:29`, `08:59:29`, seconds since 1970, or seconds after the log's first sample"
    )]
    NotATime(String),
    /// The zones differ, and that of the log is not known.
    #[error(
        "the log's times have no zone, and this time has one: name the log's with --utc-offset, such as +02:00"
    )]
    Zone,
    /// The log's times have a zone, and this has none.
    #[error("the log's times have a zone: give this time one too, as `2026-11-28T08:59:29Z`")]
    NoZone,
    /// A date for a log of times of day or of seconds.
    #[error("the log's times have no dates: give a time as it has them")]
    NoDates,
    /// Not an offset.
    #[error("`{0}` is no offset from UTC: use +02:00 or -05:30")]
    Offset(String),
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let text = text.trim();
        if let Some(stamp) = clock_time(text) {
            return Ok(Self::Stamp(stamp));
        }
        let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok();
        let seconds = seconds.filter(|s: &f64| s.is_finite() && *s >= 0.0);
        seconds
            .map(Self::Seconds)
            .ok_or_else(|| MomentError::NotATime(text.to_owned()))
    }
}

/// Seconds of an offset from UTC, such as `+02:00`.
///
/// # Errors
/// It is none.
pub fn offset(text: &str) -> Result<f64, MomentError> {
    zone_s(text.trim()).ok_or_else(|| MomentError::Offset(text.to_owned()))
}

impl Moment {
    /// The time on the log's clock, s. `offset_s` is the offset of the log's clock from UTC, where its times do not say.
    ///
    /// # Errors
    /// The log has other times.
    pub fn on(self, log: &DeviceLog, offset_s: Option<f64>) -> Result<f64, MomentError> {
        let first = log.readings.first().map_or(0.0, |r| r.at_s);
        match (self, log.stamp) {
            (Self::Seconds(s), None) if s >= SINCE_1970 || first < SINCE_1970 => Ok(s),
            (Self::Seconds(s), Some(of)) if s >= SINCE_1970 => {
                match (of.has_date, of.has_zone, offset_s) {
                    (false, ..) => Err(MomentError::NoDates),
                    (_, true, _) => Ok(s),
                    (_, false, Some(offset)) => Ok(s + offset),
                    (_, false, None) => Err(MomentError::Zone),
                }
            }
            (Self::Seconds(s), _) => Ok(first + s),
            (Self::Stamp(t), Some(of)) if t.has_date => {
                match (of.has_date, of.has_zone, t.has_zone) {
                    (false, ..) => Err(MomentError::NoDates),
                    (_, true, false) => Err(MomentError::NoZone),
                    (_, false, true) => offset_s.map(|o| t.seconds + o).ok_or(MomentError::Zone),
                    _ => Ok(t.seconds),
                }
            }
            // A time of day: the first one that is not before the log.
            (Self::Stamp(t), Some(of)) => {
                let t_s = match (of.has_zone, t.has_zone) {
                    (true, false) => return Err(MomentError::NoZone),
                    (false, true) => t.seconds + offset_s.ok_or(MomentError::Zone)?,
                    _ => t.seconds,
                };
                let day = ((first - t_s) / DAY_S).floor();
                let same_day = day * DAY_S + t_s;
                let last = log.readings.last().map_or(first, |r| r.at_s);
                let next = same_day + DAY_S;
                // Shortly before its first sample is before the log.
                Ok(if next <= last || next - last < first - same_day {
                    next
                } else {
                    same_day
                })
            }
            // Seconds since 1970 are those of UTC.
            (Self::Stamp(t), None) if t.has_date && first >= SINCE_1970 => {
                match (t.has_zone, offset_s) {
                    (true, _) => Ok(t.seconds),
                    (false, Some(offset)) => Ok(t.seconds - offset),
                    (false, None) => Err(MomentError::NoZone),
                }
            }
            (Self::Stamp(_), None) => Err(MomentError::NoDates),
        }
    }
}
