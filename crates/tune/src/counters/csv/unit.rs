//! Units of the profiler, and their factors to its base units: byte, ns, and counts. Rates are those of a second.

/// What has prefixes: bytes, rates, and what is counted.
const COUNTED: [&str; 14] = [
    "byte",
    "bytes",
    "B",
    "hz",
    "Hz",
    "inst",
    "cycle",
    "sector",
    "request",
    "warp",
    "thread",
    "block",
    "wavefront",
    "op",
];

/// Factor to the base unit; `None` for bytes or times with a prefix that is not known.
pub fn factor(unit: &str) -> Option<f64> {
    let mut parts = unit.split('/');
    let first = atom(parts.next().unwrap_or_default().trim())?;
    parts.try_fold(first, |f, part| {
        let part = part.trim();
        let one = atom(part)?;
        // A rate is that of a second, a time in ns.
        Some(
            f / if time(part).is_some() {
                one * 1e-9
            } else {
                one
            },
        )
    })
}

fn time(unit: &str) -> Option<f64> {
    Some(match unit {
        "second" | "seconds" | "sec" | "s" => 1e9,
        "msecond" | "ms" => 1e6,
        "usecond" | "us" | "µs" | "μs" => 1e3,
        "nsecond" | "ns" => 1.0,
        _ => return None,
    })
}

fn atom(unit: &str) -> Option<f64> {
    if let Some(ns) = time(unit) {
        return Some(ns);
    }
    let prefix = COUNTED.iter().find_map(|base| unit.strip_suffix(base));
    match prefix {
        Some("") => Some(1.0),
        Some("K" | "k") => Some(1e3),
        Some("M") => Some(1e6),
        Some("G") => Some(1e9),
        Some("T") => Some(1e12),
        Some("P") => Some(1e15),
        Some("Ki") => Some(1024.0),
        Some("Mi") => Some(1_048_576.0),
        Some("Gi") => Some(1_073_741_824.0),
        Some(_) if unit.contains("byte") || unit.ends_with("second") => None,
        // Shares, ratios and words.
        _ => Some(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_factors() {
        for (unit, f) in [
            ("", 1.0),
            ("%", 1.0),
            ("byte", 1.0),
            ("Kbyte", 1e3),
            ("Mbyte", 1e6),
            ("GB", 1e9),
            ("usecond", 1e3),
            ("us", 1e3),
            ("ns", 1.0),
            ("Gbyte/second", 1e9),
            ("byte/s", 1.0),
            ("Ghz", 1e9),
            ("cycle/nsecond", 1e9),
            ("Kbyte/block", 1e3),
            ("register/thread", 1.0),
            ("Minst", 1e6),
        ] {
            assert!((factor(unit).unwrap() / f - 1.0).abs() < 1e-12, "{unit}");
        }
        assert_eq!(factor("Qbyte"), None);
    }
}
