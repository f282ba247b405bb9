//! One line of a meter: a time and a power (or an energy), in the forms in which meters write them.

use super::stamp::clock_time;

/// A line that is not a sample.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Other than two fields, and no header that names them.
    #[error("`{0}` is not `time,watts`")]
    Fields(String),
    /// More fields than two, and no header that names them.
    #[error(
        "`{0}` has {1} fields: name them in a header, such as `time,watts`; a decimal comma needs `;` between the fields"
    )]
    Unnamed(String, usize),
    /// Not the fields of the header.
    #[error("`{0}` has other fields than the header")]
    Other(String),
    /// Not a number, not finite or negative.
    #[error("`{0}` holds a value that cannot be a power")]
    NotAPower(String),
    /// The time cannot be read.
    #[error("`{0}` holds no time")]
    NotATime(String),
    /// Neither of the fields can be read.
    #[error("`{0}` is not two numbers")]
    NotNumbers(String),
    /// A power that only makes sense in another unit.
    #[error("`{0}` would be {1} kW: name the unit, as `time_s,power_mw` in a header or `{2} mW`")]
    NoUnit(String, f64, f64),
    /// Times of a recorded trace that do not rise.
    #[error("time {0} does not rise")]
    Order(f64),
    /// A header without a column of power.
    #[error(
        "the header `{0}` names no column of power or energy: call it `watts`, `power_mw`, `power [W]` or `joules`"
    )]
    NoPower(String),
    /// A header without a column of time.
    #[error("the header `{0}` names no column of time: call it `time`, `time_ms` or `timestamp`")]
    NoTime(String),
    /// A unit that is not known.
    #[error(
        "the unit `{0}` is not known: use W, mW, kW, J, mJ, kJ or Wh; s, ms, us or ns for times"
    )]
    Unit(String),
    /// The same in a header.
    #[error(
        "the header's unit `{0}` is not known: use W, mW, kW, J, mJ, kJ or Wh; s, ms, us or ns for times"
    )]
    HeaderUnit(String),
    /// Several columns that could be meant.
    #[error(
        "the header names several columns of power, `{0}` and `{1}`: let the meter print one of them"
    )]
    Several(String, String),
    /// Watts and joules in one column.
    #[error("`{0}`: watts and joules in one column")]
    Mixed(String),
    /// Lines of several devices.
    #[error(
        "lines of several devices (`{0}` and `{1}`): let the meter print one, as `nvidia-smi -i 0` does"
    )]
    Devices(String, String),
    /// No sample among the first lines.
    #[error("none of the first {0} lines is a sample; the first: `{1}`")]
    NoSample(usize, String),
}

impl LineError {
    /// Whether no later line can be read either.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::NoPower(_)
                | Self::NoTime(_)
                | Self::HeaderUnit(_)
                | Self::Several(..)
                | Self::Mixed(_)
                | Self::Devices(..)
                | Self::NoSample(..)
        )
    }
}

/// What a column of values holds, with its factor to W or J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Factor to W.
    Power(f64),
    /// Factor to J, of a counter.
    Energy(f64),
}

/// Time, s by the meter's clock, and W or J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time, s.
    pub time_s: f64,
    /// W, or J of a counter.
    pub value: f64,
    /// Whether the value is a counter of joules.
    pub is_energy: bool,
}

/// Lines without a sample before the reader gives up.
const MOST_BANNER: usize = 1000;
/// A power above it needs its unit, W.
const GREATEST_WITHOUT_UNIT: f64 = 1e4;
/// Times beyond it are no seconds, and lose their digits.
const LATEST_S: f64 = 1e13;
/// Bytes of a line that an error shows.
const SHOWN: usize = 80;

/// Where the fields are.
#[derive(Clone, Debug)]
struct Columns {
    time: usize,
    value: usize,
    device: Option<usize>,
    count: usize,
    time_factor: f64,
    unit: Option<Unit>,
}

/// Reads lines one after the other: the header decides about the columns, and units stand there or with the values.
#[derive(Debug, Default)]
pub struct Lines {
    columns: Option<Columns>,
    device: Option<String>,
    is_energy: Option<bool>,
    /// Lines that were no sample before the first one.
    banner: usize,
    first: Option<String>,
    pub samples: usize,
}

impl Lines {
    /// The next line; `None` for a blank line, a comment, a header or what a meter prints before its first sample.
    pub fn push(&mut self, line: &str) -> Result<Option<Sample>, LineError> {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (fields, decimal_comma) = split(line);
        let sample = self.sample(line, &fields, decimal_comma);
        if let Err(e) = &sample
            && self.samples == 0
            && !e.is_final()
            && !has_number(&fields)
        {
            if self.header(line, &fields)? {
                return Ok(None);
            }
            self.banner += 1;
            let first = self.first.get_or_insert_with(|| shown(line));
            if self.banner >= MOST_BANNER {
                return Err(LineError::NoSample(self.banner, first.clone()));
            }
            return Ok(None);
        }
        let sample = sample?;
        self.samples += 1;
        Ok(Some(sample))
    }

    /// The first line that was no sample, where none was until now.
    pub fn first_unread(&self) -> Option<&str> {
        self.first.as_deref().filter(|_| self.samples == 0)
    }

    fn sample(
        &mut self,
        line: &str,
        fields: &[&str],
        decimal_comma: bool,
    ) -> Result<Sample, LineError> {
        let two = Columns {
            time: 0,
            value: 1,
            device: None,
            count: 2,
            time_factor: 1.0,
            unit: None,
        };
        let named = self.columns.is_some();
        let c = self.columns.clone().unwrap_or(two);
        if fields.len() != c.count {
            return Err(match (named, fields.len()) {
                (true, _) => LineError::Other(shown(line)),
                (false, n @ 3..) => LineError::Unnamed(shown(line), n),
                (false, _) => LineError::Fields(shown(line)),
            });
        }
        let (time, value) = (fields[c.time], fields[c.value]);
        let time = match clock_time(time) {
            Some(t) => Some(Ok(t)),
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
        if !time.is_finite() || time.abs() > LATEST_S {
            return Err(LineError::NotATime(shown(line)));
        }
        if !value.is_finite() || value < 0.0 {
            return Err(LineError::NotAPower(shown(line)));
        }
        if unit.is_none() && value > GREATEST_WITHOUT_UNIT {
            return Err(LineError::NoUnit(shown(line), value * 1e-3, value));
        }
        if let Some(at) = c.device {
            let device = self.device.get_or_insert_with(|| fields[at].to_owned());
            if device != fields[at] {
                return Err(LineError::Devices(shown(device), shown(fields[at])));
            }
        }
        if *self.is_energy.get_or_insert(is_energy) != is_energy {
            return Err(LineError::Mixed(shown(line)));
        }
        Ok(Sample {
            time_s: time,
            value,
            is_energy,
        })
    }

    /// Takes a line as the header, where it names a column; whether it does.
    fn header(&mut self, line: &str, fields: &[&str]) -> Result<bool, LineError> {
        let (mut time, mut device) = (None, None);
        let (mut powers, mut energies) = (Vec::new(), Vec::new());
        for (i, field) in fields.iter().enumerate() {
            match column(field)? {
                Column::Time(factor) if time.is_none() => time = Some((i, factor)),
                Column::Value(unit @ Some(Unit::Energy(_))) => energies.push((i, unit)),
                Column::Value(unit) => powers.push((i, unit)),
                Column::Device if device.is_none() => device = Some(i),
                _ => {}
            }
        }
        // A meter that prints both counts the energy of its power.
        let values = if powers.is_empty() { energies } else { powers };
        if let [(a, _), (b, _), ..] = values[..]
            && time.is_some()
        {
            return Err(LineError::Several(shown(fields[a]), shown(fields[b])));
        }
        let value = values.first().copied();
        // Words that a meter prints first may hold a name too; a header has several fields.
        if fields.len() < 2 || time.is_none() && value.is_none() {
            return Ok(false);
        }
        let (Some((time, time_factor)), Some((value, unit))) = (time, value) else {
            // Of a sentence the fields are its words.
            if !line.contains([',', ';', '\t']) {
                return Ok(false);
            }
            return Err(match time {
                None => LineError::NoTime(shown(line)),
                Some(_) => LineError::NoPower(shown(line)),
            });
        };
        self.columns = Some(Columns {
            time,
            value,
            device,
            count: fields.len(),
            time_factor,
            unit,
        });
        Ok(true)
    }
}

/// The fields, and whether a comma in them is a decimal comma.
fn split(line: &str) -> (Vec<&str>, bool) {
    match [';', '\t', ','].into_iter().find(|&d| line.contains(d)) {
        Some(delimiter) => {
            let fields = line.split(delimiter);
            let bare = fields.map(|f| f.trim().trim_matches('"').trim());
            (bare.collect(), delimiter != ',')
        }
        None => (line.split_whitespace().collect(), true),
    }
}

fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

/// Whether a field begins as a number does: such a line is a sample that cannot be read, and no header.
fn has_number(fields: &[&str]) -> bool {
    let number = |f: &&str| {
        let f = f.trim_start_matches(['+', '-', '.']);
        f.starts_with(|c: char| c.is_ascii_digit())
    };
    fields.iter().any(number)
}

/// A number with its unit, if one follows.
fn quantity(text: &str, decimal_comma: bool) -> Option<(f64, Option<&str>)> {
    let letter = |c: char| c.is_alphabetic() || c == 'µ' || c == 'μ';
    let head = text.trim_end_matches(letter);
    let (number, unit) = match head.is_empty() {
        true => (text, ""),
        false => (head.trim_end(), &text[head.len()..]),
    };
    let point;
    let number = match decimal_comma && number.matches(',').count() == 1 && !number.contains('.') {
        true => {
            point = number.replace(',', ".");
            point.as_str()
        }
        false => number,
    };
    let value: f64 = number.parse().ok()?;
    Some((value, Some(unit).filter(|u| !u.is_empty())))
}

/// Factor to seconds.
fn time_factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" | "S" => 1.0,
        "ms" | "msec" | "millisecond" | "milliseconds" | "millis" => 1e-3,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" | "micros" => 1e-6,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" | "nanos" => 1e-9,
        "min" | "minutes" => 60.0,
        _ => return None,
    })
}

/// A unit of power or energy. `mW` and `MW` differ; in small letters m is milli.
fn value_unit(unit: &str) -> Option<Unit> {
    let whole = match unit {
        "watt" | "watts" | "Watt" | "Watts" | "w" => "W",
        "milliwatt" | "milliwatts" | "Milliwatts" | "mw" => "mW",
        "microwatt" | "microwatts" | "uw" => "uW",
        "kilowatt" | "kilowatts" | "Kilowatts" | "kw" => "kW",
        "joule" | "joules" | "Joule" | "Joules" | "j" => "J",
        "millijoule" | "millijoules" | "mj" => "mJ",
        "microjoule" | "microjoules" | "uj" => "uJ",
        "kilojoule" | "kilojoules" | "kj" => "kJ",
        "wh" => "Wh",
        "kwh" => "kWh",
        "mwh" => "mWh",
        other => other,
    };
    let (prefix, base) = if let Some(p) = whole.strip_suffix("Wh") {
        (p, Unit::Energy(3600.0))
    } else if let Some(p) = whole.strip_suffix('W') {
        (p, Unit::Power(1.0))
    } else if let Some(p) = whole.strip_suffix('J') {
        (p, Unit::Energy(1.0))
    } else {
        return None;
    };
    let factor = match prefix {
        "" => 1.0,
        "n" => 1e-9,
        "u" | "µ" | "μ" => 1e-6,
        "m" => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => return None,
    };
    Some(match base {
        Unit::Power(f) => Unit::Power(f * factor),
        Unit::Energy(f) => Unit::Energy(f * factor),
    })
}

enum Column {
    Time(f64),
    Value(Option<Unit>),
    Device,
    Unknown,
}

/// What a name of a header stands for: `power.draw [W]`, `time_ms`, `P (mW)`, `watts`.
fn column(field: &str) -> Result<Column, LineError> {
    let field = field.trim();
    // A unit in brackets.
    if let Some((name, rest)) = field.split_once(['[', '(']) {
        let (name, unit) = (name.trim(), rest.trim_end_matches([']', ')']).trim());
        let power = value_unit(unit).filter(|_| !is_bound(name));
        return match named(name, Some(unit))? {
            // Whatever it is called, it is a power.
            Column::Unknown if power.is_some() => Ok(Column::Value(power)),
            known => Ok(known),
        };
    }
    if let Some(unit) = value_unit(field) {
        return Ok(Column::Value(Some(unit)));
    }
    if let Some(factor) = time_factor(field) {
        return Ok(Column::Time(factor));
    }
    // A unit as the last word, as `power_mw`, `cpu_w` and `Power mW` have it.
    if let Some((name, unit)) = field.rsplit_once(['_', '.', ' ', '/', '-']) {
        let power = value_unit(unit);
        match named(name, None)? {
            Column::Unknown if power.is_some() && !is_bound(name) => {
                return Ok(Column::Value(power));
            }
            Column::Unknown => {}
            _ if power.is_some() || time_factor(unit).is_some() => return named(name, Some(unit)),
            _ => {}
        }
    }
    named(field, None)
}

/// Whether a column bounds or describes a power instead of measuring it.
fn is_bound(name: &str) -> bool {
    let other = [
        "limit",
        "cap",
        "max",
        "min",
        "state",
        "mode",
        "management",
        "factor",
    ];
    let small = name.to_lowercase();
    small
        .split(['_', '.', ' ', '/', '-'])
        .any(|p| other.contains(&p))
}

fn named(name: &str, unit: Option<&str>) -> Result<Column, LineError> {
    let small = name.to_lowercase().replace(['_', ' ', '-', '/'], ".");
    let parts: Vec<&str> = small.split('.').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    if is_bound(name) {
        return Ok(Column::Unknown);
    }
    let unit = unit.filter(|u| !u.is_empty());
    let wrong = |u: &str| LineError::HeaderUnit(shown(u));
    let value = |default: Option<Unit>| match unit {
        None => Ok(Column::Value(default)),
        Some(u) => value_unit(u)
            .map(|u| Column::Value(Some(u)))
            .ok_or_else(|| wrong(u)),
    };
    let is_device = matches!(
        small.as_str(),
        "index"
            | "gpu"
            | "device"
            | "uuid"
            | "name"
            | "channel"
            | "socket"
            | "pci.bus"
            | "pci.bus.id"
    ) || matches!(first, "gpu" | "device")
        && matches!(last, "name" | "uuid" | "id" | "index" | "serial");
    match (first, last) {
        _ if is_device => Ok(Column::Device),
        // A capital T is a temperature.
        ("t", "t") if name != "t" => Ok(Column::Unknown),
        ("time" | "timestamp" | "t" | "date" | "datetime" | "elapsed" | "seconds" | "epoch", _)
        | (_, "time" | "timestamp") => match unit {
            None => Ok(Column::Time(1.0)),
            Some(u) => time_factor(u).map(Column::Time).ok_or_else(|| wrong(u)),
        },
        ("power" | "p" | "pwr" | "watts" | "value" | "reading" | "draw", _)
        | (_, "power" | "draw" | "watts") => value(None),
        ("energy" | "e" | "joules", _) | (_, "energy" | "joules" | "consumption") => {
            value(Some(Unit::Energy(1.0)))
        }
        _ => Ok(Column::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples and errors of a text.
    fn read(text: &str) -> (Vec<(f64, f64)>, Vec<String>) {
        let mut lines = Lines::default();
        let (mut samples, mut errors) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match lines.push(line) {
                Ok(Some(s)) => samples.push((s.time_s, s.value)),
                Ok(None) => {}
                Err(e) => errors.push(e.to_string()),
            }
        }
        (samples, errors)
    }

    #[test]
    fn forms_that_meters_write_are_read() {
        let one = |text: &str| {
            let (samples, errors) = read(text);
            assert!(errors.is_empty(), "{text}: {errors:?}");
            assert_eq!(samples.len(), 1, "{text}");
            samples[0]
        };
        for text in [
            "0.5,50.25",
            "0.5, 50.25 W",
            "0.5;50.25",
            "0,5;50,25",
            "0,5\t50,25",
            "0.5 50.25",
            "\u{feff}time,watts\r\n0.5,50.25\r\n",
            "# a meter\n\n0.5,50.25",
            "PowerMeter v1.2\nconnected\ntime,watts\n0.5,50.25",
            "watts,time\n50.25,0.5",
            "time_ms,power_mw\n500,50250",
            "t [ms];P (mW)\n500;50250",
            "time,power_kw\n0.5,0.05025",
            "\"time\",\"power [W]\"\n\"0.5\",\"50.25\"",
            "500 ms,50250 mW",
            "index, timestamp, power.draw [W], clocks.sm [MHz]\n0, 0.5, 50.25 W, 1980 MHz",
            "time,volts,power\n0.5,230,50.25",
            "timestamp,power.limit [W],power.draw [W],temperature.gpu\n0.5,700 W,50.25 W,40",
            "time,volts,amps,watts,wh\n0.5,230,0.2,50.25,1.5",
            "T,time,gpu temp,CPU (W)\n40,0.5,41,50.25",
        ] {
            assert_eq!(one(text), (0.5, 50.25), "{text}");
        }
        let smi = one("timestamp, power.draw [W]\n2026/03/01 00:00:01.250, 123.45 W");
        assert_eq!(smi.1, 123.45);
        let before = one("2026/02/28 23:59:59.250, 123.45 W");
        assert!((smi.0 - before.0 - 2.0).abs() < 1e-6);
    }

    #[test]
    fn joules_are_a_counter() {
        let mut lines = Lines::default();
        assert_eq!(lines.push("time,energy_mj"), Ok(None));
        let s = lines.push("1,2500").unwrap().unwrap();
        assert!(s.is_energy && s.value == 2.5);
        let s = Lines::default().push("1,2 Wh").unwrap().unwrap();
        assert!(s.is_energy && s.value == 7200.0);
        assert!(lines.push("2,3 W").unwrap_err().is_final());
    }

    #[test]
    fn what_is_no_sample_says_why() {
        for (text, why) in [
            ("0.1,50\n0.2,nan", "cannot be a power"),
            ("0.1,50\n0.2,-0.01", "cannot be a power"),
            ("0.1,50\n0.2,[N/A]", "cannot be a power"),
            ("0.1,50\n0.2,", "cannot be a power"),
            ("0.1,50\nx,50", "no time"),
            ("0.1,50\n999999999999999999999,50", "no time"),
            ("0.1,50\nreset", "not `time,watts`"),
            ("0,020,50,02", "4 fields"),
            ("0.1,50000", "name the unit"),
            ("time,current_A\n0.1,3", "names no column of power"),
            ("watts,mode\n50,1", "names no column of time"),
            ("time,power [VA]\n0.1,3", "unit `VA`"),
            ("0.1,20 dBm", "unit `dBm`"),
            (
                "time,cpu_w,gpu_power_w\n0.1,3,4",
                "several columns of power",
            ),
            ("index,time,watts\n0,0.1,50\n1,0.1,300", "several devices"),
            ("time,watts\n0.1,50,7", "other fields"),
        ] {
            let (_, errors) = read(text);
            assert!(
                errors.first().is_some_and(|e| e.contains(why)),
                "{text}: {errors:?}"
            );
        }
        let (samples, errors) = read(&"y\n".repeat(1000));
        assert!(samples.is_empty() && errors[0].contains("first 1000 lines"));
    }
}
