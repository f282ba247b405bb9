//! Numbers and their units.

/// What a column of values holds, with its factor to W or J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Factor to W.
    Power(f64),
    /// Factor to J, of a counter.
    Energy(f64),
}

/// A number with its unit, if one follows.
pub fn quantity(text: &str, decimal_comma: bool) -> Option<(f64, Option<&str>)> {
    let letter = |c: char| c.is_alphabetic() || c == 'µ' || c == 'μ';
    let head = text.trim_end_matches(letter);
    let (number, unit) = if head.is_empty() {
        (text, "")
    } else {
        (head.trim_end(), &text[head.len()..])
    };
    let point;
    let number = match number.split_once(',') {
        // What ends with a comma is a field with its separator.
        Some((_, after)) if decimal_comma && !after.is_empty() && !number.contains('.') => {
            point = number.replacen(',', ".", 1);
            point.as_str()
        }
        _ => number,
    };
    let value: f64 = number.parse().ok()?;
    Some((value, Some(unit).filter(|u| !u.is_empty())))
}

/// Factor to seconds.
pub fn time_factor(unit: &str) -> Option<f64> {
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
pub fn value_unit(unit: &str) -> Option<Unit> {
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
