//! One line of a meter: a time and a power (or an energy), in the forms in which meters write them.
//!
//! | module | what it does |
//! |---|---|
//! | `fields` | lines of a text, fields of a line |
//! | `header` | which column holds what |
//! | `unit` | numbers and units |
//! | `error` | what is wrong with a line |

mod error;
mod fields;
mod header;
#[cfg(test)]
mod tests;
mod unit;

pub use error::LineError;
pub use fields::{Numbered, Separator, lines};
pub use header::POWERS;

use super::stamp::{Stamp, clock_time};
use crate::sensors::BusId;
use error::shown;
use fields::has_number;
use header::Columns;
use unit::{Unit, quantity, time_factor, value_unit};

/// Time, s by the meter's clock, and W or J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time, s.
    pub time_s: f64,
    /// W, or J of a counter.
    pub value: f64,
    /// Whether the value is a counter of joules.
    pub is_energy: bool,
    /// Which of the devices, where lines of several are wanted.
    pub device: usize,
}

/// Whose lines are wanted, where a column tells devices apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Wanted {
    /// Those of the only one: lines of several are an error.
    #[default]
    One,
    /// Those of a device, by its number, name, UUID or bus address.
    Device(String),
    /// All.
    Each,
}

impl Wanted {
    /// Whether a device is the one with this name.
    pub fn is(name: &str, device: &str) -> bool {
        let bus = |text: &str| text.parse::<BusId>().ok();
        let uuid = name.len() >= 8 && device.to_lowercase().starts_with(&name.to_lowercase());
        name.eq_ignore_ascii_case(device)
            || uuid
            || bus(name).is_some_and(|b| bus(device) == Some(b))
    }
}

/// Lines without a sample before the reader gives up.
const MOST_BANNER: usize = 1000;
/// A power above it needs its unit, W.
const GREATEST_WITHOUT_UNIT: f64 = 1e4;
/// No meter reads more, W.
const GREATEST: f64 = 1e9;
/// Times beyond it are no seconds, and lose their digits.
const LATEST_S: f64 = 1e11;
/// Samples that were read with a separator, after which no other is tried: the first lines may be torn.
const SURE: usize = 3;
const DAY_S: f64 = 86400.0;

/// Reads lines one after the other: the header decides about the columns, and units stand there or with the values. The
/// separator is that with which the first lines are samples.
#[derive(Debug, Default)]
pub struct Lines {
    columns: Option<Columns>,
    separator: Option<Separator>,
    /// Samples that were read with it.
    agreed: usize,
    /// With what the last line would have been a sample instead.
    other: Option<Separator>,
    /// The last time of day, with the days before.
    of_day_s: Option<f64>,
    /// Whose lines are wanted.
    wanted: Wanted,
    /// The column of power that is wanted, where a header has several.
    column: Option<String>,
    /// The devices of the lines.
    pub devices: Vec<String>,
    /// The first time, where it is no count of seconds.
    pub stamp: Option<Stamp>,
    is_energy: Option<bool>,
    /// Whether the last value had its unit.
    has_units: bool,
    /// Lines that were no sample before the first one.
    banner: usize,
    first: Option<String>,
    pub samples: usize,
}

/// A line as it stands.
struct Parsed<'a> {
    sample: Sample,
    /// Its time as a date or a time of day.
    stamp: Option<Stamp>,
    device: Option<&'a str>,
    /// Whether the value has its unit.
    has_unit: bool,
}

impl Lines {
    /// For the lines of these devices, and this column of power where a header has several.
    pub fn of(wanted: Wanted, column: Option<&str>) -> Self {
        Self {
            wanted,
            column: column.map(str::to_owned),
            ..Self::default()
        }
    }

    /// The next line; `None` for a blank line, a comment, a header or what a meter prints before its first sample.
    pub fn push(&mut self, line: &str) -> Result<Option<Sample>, LineError> {
        // A tab at the end may separate an empty field.
        let line = line
            .trim_start_matches('\u{feff}')
            .trim_matches([' ', '\r', '\n']);
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        match self.read(line) {
            Ok(sample) => {
                self.samples += 1;
                Ok(sample)
            }
            Err(e) if e.is_final() => Err(e),
            Err(e) => {
                let separator = Separator::of(line);
                let fields = separator.split(line, None);
                // Words between samples are a header only where something separates them.
                if has_number(&fields) || self.samples > 0 && separator == Separator::Blank {
                    return Err(e);
                }
                let columns = match Columns::of(line, &fields, self.column.as_deref()) {
                    Err(LineError::NoTime(_)) if self.samples > 0 => return Err(e),
                    other => other?,
                };
                if let Some(columns) = columns {
                    (self.columns, self.separator) = (Some(columns), Some(separator));
                    (self.agreed, self.other, self.has_units) = (0, None, false);
                    return Ok(None);
                }
                if self.samples > 0 {
                    return Err(e);
                }
                self.banner += 1;
                let first = self.first.get_or_insert_with(|| shown(line));
                if self.banner >= MOST_BANNER {
                    return Err(LineError::NoSample(self.banner, first.clone()));
                }
                Ok(None)
            }
        }
    }

    /// The first line that was no sample, where none was until now.
    pub fn first_unread(&self) -> Option<&str> {
        self.first.as_deref().filter(|_| self.samples == 0)
    }

    /// A line as a sample, by the separator of those before.
    fn read(&mut self, line: &str) -> Result<Option<Sample>, LineError> {
        let usual = self.separator.unwrap_or_else(|| Separator::of(line));
        let e = match self.parse(line, usual) {
            Ok(parsed) => {
                self.separator = Some(usual);
                self.agreed += 1;
                self.other = None;
                return self.take(line, parsed);
            }
            Err(e) if self.agreed >= SURE => return Err(e),
            Err(e) => e,
        };
        let mut others = Separator::ALL.into_iter().filter(|&s| s != usual);
        let other = others.find_map(|s| Some((s, self.parse(line, s).ok()?)));
        let Some((separator, parsed)) = other else {
            self.other = None;
            return Err(e);
        };
        // Two lines in a row are not torn.
        if self.separator.is_some() && self.other != Some(separator) {
            self.other = Some(separator);
            return Err(e);
        }
        (self.separator, self.agreed, self.other) = (Some(separator), 1, None);
        self.take(line, parsed)
    }

    fn parse<'a>(&self, line: &'a str, separator: Separator) -> Result<Parsed<'a>, LineError> {
        let c = self.columns.as_ref().unwrap_or(&Columns::UNNAMED);
        let fields = separator.split(line, Some(c.count));
        if !c.fit(&fields) {
            return Err(match (&self.columns, fields.len()) {
                (Some(_), _) => LineError::Other(shown(line)),
                (None, n @ 3..) => LineError::Unnamed(shown(line), n),
                (None, _) => LineError::Fields(shown(line)),
            });
        }
        let decimal_comma = separator.decimal_comma();
        let (time, value) = (fields[c.time], fields[c.value]);
        let stamp = clock_time(time);
        let time = match stamp {
            Some(s) => Some(Ok(s.seconds)),
            None => quantity(time, decimal_comma).map(|(t, unit)| match unit {
                None => Ok(t * c.time_factor),
                Some(u) => time_factor(u)
                    .map(|f| t * f)
                    .ok_or_else(|| LineError::Unit(shown(u))),
            }),
        };
        let number = quantity(value, decimal_comma);
        let (time, (number, unit)) = match (time, number) {
            (None, None) => return Err(LineError::NotNumbers(shown(line))),
            (None, _) => return Err(LineError::NotATime(shown(line))),
            (_, None) => return Err(LineError::NotAPower(shown(line))),
            (Some(t), Some(n)) => (t?, n),
        };
        let has_unit = unit.is_some();
        let unit = match unit {
            Some(text) => Some(value_unit(text).ok_or_else(|| LineError::Unit(shown(text)))?),
            None => c.unit,
        };
        let (factor, is_energy) = match unit {
            Some(Unit::Energy(f)) => (f, true),
            Some(Unit::Power(f)) => (f, false),
            None => (1.0, false),
        };
        let value = number * factor;
        if !time.is_finite() {
            return Err(LineError::NotATime(shown(line)));
        }
        if time.abs() > LATEST_S {
            return Err(LineError::NoSeconds(shown(line)));
        }
        if !value.is_finite() || value < 0.0 || !is_energy && value > GREATEST {
            return Err(LineError::NotAPower(shown(line)));
        }
        if unit.is_none() && value > GREATEST_WITHOUT_UNIT {
            return Err(LineError::NoUnit(shown(line), value * 1e-3, value));
        }
        Ok(Parsed {
            sample: Sample {
                time_s: time,
                value,
                is_energy,
                device: 0,
            },
            stamp,
            device: c.device.map(|at| fields[at]),
            has_unit,
        })
    }

    /// What a line means after those before.
    fn take(&mut self, line: &str, parsed: Parsed) -> Result<Option<Sample>, LineError> {
        let mut sample = parsed.sample;
        // One line is cut; several have no units.
        if std::mem::replace(&mut self.has_units, parsed.has_unit) && !parsed.has_unit {
            return Err(LineError::Cut(shown(line)));
        }
        if let Some(new) = parsed.device {
            let known = self.devices.iter().position(|d| d == new);
            sample.device = known.unwrap_or(self.devices.len());
            if known.is_none() {
                self.devices.push(new.to_owned());
            }
            match &self.wanted {
                Wanted::One if sample.device > 0 => {
                    return Err(LineError::Devices(shown(&self.devices[0]), shown(new)));
                }
                Wanted::Device(name) if !Wanted::is(name, new) => return Ok(None),
                _ => {}
            }
        }
        if self.stamp.is_none() {
            self.stamp = parsed.stamp;
        }
        if *self.is_energy.get_or_insert(sample.is_energy) != sample.is_energy {
            return Err(LineError::Mixed(shown(line)));
        }
        if parsed.stamp.is_some_and(|s| !s.has_date) {
            // Midnight: the day on which it is nearest to the time before.
            if let Some(before) = self.of_day_s {
                sample.time_s += DAY_S * ((before - sample.time_s) / DAY_S).round();
            }
            self.of_day_s = Some(sample.time_s);
        }
        Ok(Some(sample))
    }
}
