//! Units of numbers in files: prefixes, products and quotients of base units.

use super::FormatError;
use crate::command::source::seconds;
use std::collections::BTreeMap;

/// A unit: its factor to base units, and their powers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    factor: f64,
    powers: BTreeMap<&'static str, i32>,
}

/// Base units of what is counted, all in small letters. `flops` is a rate where it is written in capitals.
const COUNTED: [(&str, &str); 9] = [
    ("flop", "flop"),
    ("op", "op"),
    ("ops", "op"),
    ("iop", "op"),
    ("iops", "op"),
    ("byte", "B"),
    ("bytes", "B"),
    ("bit", "bit"),
    ("bits", "bit"),
];

/// Names of units in small letters: symbol, and factor to it.
const NAMED: [(&str, &str, f64); 17] = [
    ("sec", "s", 1.0),
    ("secs", "s", 1.0),
    ("second", "s", 1.0),
    ("seconds", "s", 1.0),
    ("millisecond", "s", 1e-3),
    ("milliseconds", "s", 1e-3),
    ("microsecond", "s", 1e-6),
    ("microseconds", "s", 1e-6),
    ("nanosecond", "s", 1e-9),
    ("nanoseconds", "s", 1e-9),
    ("msec", "s", 1e-3),
    ("usec", "s", 1e-6),
    ("nsec", "s", 1e-9),
    ("watt", "W", 1.0),
    ("watts", "W", 1.0),
    ("joule", "J", 1.0),
    ("joules", "J", 1.0),
];

impl Unit {
    /// Reads a unit such as `ms`, `GB/s` or `TFLOPS/J`; `None` if it is none that is known.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut out = Self {
            factor: 1.0,
            powers: BTreeMap::new(),
        };
        for (i, part) in text.split('/').enumerate() {
            let part = part.trim();
            if part == "1" && i == 0 {
                continue;
            }
            out.times(&atom(part)?, if i == 0 { 1 } else { -1 });
        }
        out.powers.retain(|_, p| *p != 0);
        Some(out)
    }

    fn times(&mut self, other: &Self, power: i32) {
        self.factor *= other.factor.powi(power);
        for (base, p) in &other.powers {
            *self.powers.entry(base).or_default() += power * p;
        }
    }

    /// Factor to a base unit; `None` if it is one of something else.
    pub(super) fn to_base(&self, base: &str) -> Option<f64> {
        Some(self.factor / self.over(&atom(base)?)?)
    }

    fn over(&self, other: &Self) -> Option<f64> {
        (self.powers == other.powers).then_some(other.factor)
    }
}

/// What a number in one unit is multiplied by to be in another; `None` if they cannot be converted.
pub(super) fn ratio(from: &str, to: &str) -> Option<f64> {
    if from.trim() == to.trim() {
        return Some(1.0);
    }
    let (from, to) = (Unit::of(from)?, Unit::of(to)?);
    (from.powers == to.powers).then(|| from.factor / to.factor)
}

/// Seconds of a unit of time; `ms`, in which these files are, where it is empty.
pub(super) fn time_unit(name: &str) -> Result<f64, FormatError> {
    let lower = name.trim().to_lowercase();
    let short = match lower.as_str() {
        "" => "ms",
        "sec" | "secs" | "second" | "seconds" => "s",
        // The second is as T4 files of Kernel Tuner have it.
        "millisecond" | "milliseconds" | "milisecond" | "miliseconds" | "msec" => "ms",
        "microsecond" | "microseconds" | "usec" => "us",
        "nanosecond" | "nanoseconds" | "nsec" => "ns",
        "minute" | "minutes" => "min",
        "hour" | "hours" => "h",
        other => other,
    };
    let known = (seconds(short).or_else(|| in_base(short, "s"))).or_else(|| in_base(name, "s"));
    known.ok_or_else(|| FormatError::Unit {
        what: "time",
        unit: name.to_owned(),
        known: "s, ms, us, ns, min, h",
    })
}

/// Factor of a unit to a base unit.
fn in_base(name: &str, base: &str) -> Option<f64> {
    Unit::of(name.trim())?.to_base(base)
}

/// Joules of a unit of energy; J where it is empty.
pub(super) fn energy_unit(name: &str) -> Result<f64, FormatError> {
    Ok(match name.trim() {
        "" | "J" | "j" | "Ws" | "joule" | "joules" | "Joule" | "Joules" => 1.0,
        "mJ" | "mj" | "millijoule" | "millijoules" | "mWs" => 1e-3,
        "uJ" | "µJ" | "μJ" | "uj" | "microjoule" | "microjoules" => 1e-6,
        "nJ" | "nj" => 1e-9,
        "kJ" | "kj" => 1e3,
        "MJ" => 1e6,
        "Wh" => 3600.0,
        "mWh" => 3.6,
        "kWh" => 3.6e6,
        other => {
            return in_base(other, "J").ok_or_else(|| FormatError::Unit {
                what: "energy",
                unit: other.to_owned(),
                known: "J, mJ, uJ, nJ, kJ, Wh, kWh",
            });
        }
    })
}

/// Watts of a unit of power; W where it is empty.
pub(super) fn power_unit(name: &str) -> Result<f64, FormatError> {
    Ok(match name.trim() {
        "" | "W" | "w" | "watt" | "watts" | "Watt" | "Watts" => 1.0,
        "mW" | "mw" => 1e-3,
        "kW" => 1e3,
        other => {
            return in_base(other, "W").ok_or_else(|| FormatError::Unit {
                what: "power",
                unit: other.to_owned(),
                known: "W, mW, kW",
            });
        }
    })
}

fn unit(factor: f64, powers: &[(&'static str, i32)]) -> Unit {
    Unit {
        factor,
        powers: powers.iter().copied().collect(),
    }
}

/// A unit without quotients, with or without a prefix.
fn atom(text: &str) -> Option<Unit> {
    if let Some(whole) = base(text) {
        return Some(whole);
    }
    let small = text.to_lowercase();
    if let Some((_, symbol, factor)) = NAMED.iter().find(|(n, ..)| *n == small) {
        let mut of = base(symbol)?;
        of.factor *= factor;
        return Some(of);
    }
    for (prefix, factor) in [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
    ] {
        let memory = text.strip_prefix(prefix).and_then(base);
        if let Some(mut of) = memory.filter(is_memory) {
            of.factor *= factor;
            return Some(of);
        }
    }
    let first = text.chars().next()?;
    let rest = &text[first.len_utf8()..];
    let mut of = base(rest)?;
    let counted = is_counted(&of);
    of.factor *= match first {
        'p' if !counted => 1e-12,
        'n' => 1e-9,
        // The micro sign, and the Greek letter.
        'u' | 'µ' | 'μ' => 1e-6,
        // Nothing counts thousandths of operations.
        'm' if !counted => 1e-3,
        'k' | 'K' => 1e3,
        'M' | 'm' => 1e6,
        'G' => 1e9,
        'g' if counted => 1e9,
        'T' => 1e12,
        't' if counted => 1e12,
        'P' | 'p' => 1e15,
        'E' => 1e18,
        _ => return None,
    };
    Some(of)
}

fn is_memory(of: &Unit) -> bool {
    of.powers.keys().any(|b| ["B", "bit"].contains(b))
}

fn is_counted(of: &Unit) -> bool {
    (of.powers.keys()).any(|b| ["flop", "op", "B", "bit"].contains(b))
}

/// A unit without a prefix. Powers of W and Hz are those of J and s, so that `GFLOPS/W` is `GFLOP/J`.
fn base(text: &str) -> Option<Unit> {
    Some(match text {
        "s" => unit(1.0, &[("s", 1)]),
        "min" => unit(60.0, &[("s", 1)]),
        "h" => unit(3600.0, &[("s", 1)]),
        "J" => unit(1.0, &[("J", 1)]),
        "Wh" => unit(3600.0, &[("J", 1)]),
        "Ws" => unit(1.0, &[("J", 1)]),
        "W" => unit(1.0, &[("J", 1), ("s", -1)]),
        "Hz" => unit(1.0, &[("s", -1)]),
        "B" => unit(1.0, &[("B", 1)]),
        "V" => unit(1.0, &[("V", 1)]),
        "A" => unit(1.0, &[("A", 1)]),
        // A rate, however it is written; only `FLOPs` is a number of them.
        "FLOPS" | "flops" | "Flops" => unit(1.0, &[("flop", 1), ("s", -1)]),
        "FLOPs" => unit(1.0, &[("flop", 1)]),
        "OPS" => unit(1.0, &[("op", 1), ("s", -1)]),
        other => {
            let small = other.to_lowercase();
            let (_, symbol) = COUNTED.iter().find(|(n, _)| *n == small)?;
            unit(1.0, &[(symbol, 1)])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_quantity_are_converted() {
        for (from, to, want) in [
            ("TFLOP/s", "GFLOP/s", 1e3),
            ("TFLOPS", "GFLOP/s", 1e3),
            ("gflops", "GFLOPS", 1.0),
            ("mflop/s", "kflop/s", 1e3),
            ("s", "ms", 1e3),
            ("µs", "us", 1.0),
            ("μs", "ns", 1e3),
            ("seconds", "milliseconds", 1e3),
            ("min", "s", 60.0),
            ("h", "min", 60.0),
            ("W", "mW", 1e3),
            ("kWh", "J", 3.6e6),
            ("GHz", "MHz", 1e3),
            ("GB/s", "MB/s", 1e3),
            ("GiB/s", "KiB/s", 1_048_576.0),
            ("KiB", "B", 1024.0),
            ("kB", "bytes", 1e3),
            ("Gbit/s", "Mbit/s", 1e3),
            ("TFLOPS/J", "GFLOPS/J", 1e3),
            ("GFLOPS/W", "MFLOP/J", 1e3),
            ("Gop/s", "Mop/s", 1e3),
            ("GOPS", "Gop/s", 1.0),
            ("GFLOPs", "MFLOP", 1e3),
            ("mV", "V", 1e-3),
            ("1/s", "Hz", 1.0),
            ("GB/ms", "TB/s", 1.0),
            ("frames", "frames", 1.0),
        ] {
            let got = ratio(from, to).unwrap_or(f64::NAN);
            assert!((got / want - 1.0).abs() < 1e-12, "{from} {to}: {got}");
        }
    }

    #[test]
    fn units_of_others_are_not() {
        for (from, to) in [
            ("s", "J"),
            ("W", "J"),
            ("GFLOP", "GFLOP/s"),
            ("GFLOPS/W", "GFLOPS/J"),
            ("GB/s", "Gbit/s"),
            ("frames", "s"),
            ("%", "W"),
            ("", "s"),
            ("S", "s"),
            ("xs", "s"),
            ("KiJ", "J"),
            ("°C", "K"),
        ] {
            assert_eq!(ratio(from, to), None, "{from} {to}");
        }
        assert_eq!(Unit::of("uW").unwrap().to_base("W"), Some(1e-6));
        assert_eq!(Unit::of("uW").unwrap().to_base("J"), None);
    }

    #[test]
    fn units_are_read_or_refused() {
        for (unit, factor) in [("", 1e-3), ("s", 1.0), ("us", 1e-6), ("miliseconds", 1e-3)] {
            assert_eq!(time_unit(unit).unwrap(), factor);
        }
        assert_eq!(energy_unit("mJ").unwrap(), 1e-3);
        assert_eq!(energy_unit("kWh").unwrap(), 3.6e6);
        for (got, want) in [
            (energy_unit("GJ"), 1e9),
            (power_unit("uW"), 1e-6),
            (power_unit("MW"), 1e6),
            (time_unit("h"), 3600.0),
            (time_unit("Hours"), 3600.0),
        ] {
            assert!((got.unwrap() / want - 1.0).abs() < 1e-12, "{want}");
        }
        assert!(power_unit("J").is_err() && energy_unit("W").is_err());
        let e = time_unit("fortnights").unwrap_err().to_string();
        assert!(e.contains("`fortnights`") && e.contains("ms"), "{e}");
        assert!(energy_unit("cal").is_err() && power_unit("hp").is_err());
    }
}
