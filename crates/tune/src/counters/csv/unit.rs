//! Units of the profiler, and their factors to its base units: byte, ns, and counts. Rates are those of a second.

const BYTES: [&str; 5] = ["byte", "bytes", "Byte", "Bytes", "B"];

/// What has prefixes too: rates, and what is counted.
const COUNTED: [&str; 11] = [
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

/// Factor to the base unit; `None` for a prefix that is not known, and for the unit of another quantity than the metric.
pub fn factor_of(metric: &str, unit: &str) -> Option<f64> {
    factor(unit).filter(|_| fits(metric, unit))
}

/// Whether a metric can be in this unit: a time, bytes or a count, each as a sum or as a rate.
fn fits(metric: &str, unit: &str) -> bool {
    let (first, per) = match unit.split_once('/') {
        Some((first, per)) => (first.trim(), Some(per.trim())),
        None => (unit.trim(), None),
    };
    let (name, kind) = metric.split_once('.').unwrap_or((metric, ""));
    let is_rate = match kind {
        "sum" => per.is_none() && !is_frequency(first),
        "sum.per_second" => per.is_some_and(|p| time(p).is_some()) || is_frequency(first),
        "sum.per_cycle_elapsed" => per == Some("cycle"),
        // Cycles, and what is not used.
        _ => return !name.ends_with("__cycles_elapsed") || is_count(first) || is_frequency(first),
    };
    is_rate
        && match name {
            n if n.contains("__time_") => time(first).is_some(),
            n if n.contains("bytes") => is_bytes(first),
            _ => is_count(first) || is_frequency(first),
        }
}

fn is_bytes(unit: &str) -> bool {
    BYTES.iter().any(|b| unit.ends_with(b))
}

fn is_frequency(unit: &str) -> bool {
    unit.ends_with("hz") || unit.ends_with("Hz")
}

fn is_count(unit: &str) -> bool {
    time(unit).is_none() && !is_bytes(unit) && !is_frequency(unit) && unit != "%"
}

fn factor(unit: &str) -> Option<f64> {
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
        "msecond" | "msec" | "ms" => 1e6,
        "usecond" | "usec" | "us" | "µs" | "μs" => 1e3,
        "nsecond" | "nsec" | "ns" => 1.0,
        _ => return None,
    })
}

fn atom(unit: &str) -> Option<f64> {
    if let Some(ns) = time(unit) {
        return Some(ns);
    }
    let mut bases = BYTES.iter().chain(&COUNTED);
    let prefix = bases.find_map(|base| unit.strip_suffix(base));
    match prefix {
        Some("") => Some(1.0),
        Some("K" | "k") => Some(1e3),
        Some("M") => Some(1e6),
        Some("G") => Some(1e9),
        Some("T") => Some(1e12),
        Some("P") => Some(1e15),
        Some("E") => Some(1e18),
        Some("Ki" | "ki") => Some(1024.0),
        Some("Mi") => Some(1_048_576.0),
        Some("Gi") => Some(1_073_741_824.0),
        Some("Ti") => Some(1_099_511_627_776.0),
        // Another prefix, and no word that ends so.
        Some(p) if p.chars().count() == 1 || is_bytes(unit) => None,
        _ if unit.ends_with("second") => None,
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
            ("GBytes", 1e9),
            ("kiB", 1024.0),
            ("TiB/s", 1_099_511_627_776.0),
            ("usec", 1e3),
        ] {
            assert!((factor(unit).unwrap() / f - 1.0).abs() < 1e-12, "{unit}");
        }
        for unit in ["Qbyte", "Qinst", "fsecond", "byte/fsecond"] {
            assert_eq!(factor(unit), None, "{unit}");
        }
    }

    #[test]
    fn a_metric_has_units_of_its_quantity() {
        let time = "gpu__time_duration.sum";
        let bytes = "dram__bytes_read.sum";
        let rate = "dram__bytes.sum.per_second";
        let count = "smsp__inst_executed.sum";
        let a_cycle = "smsp__inst_executed.sum.per_cycle_elapsed";
        let cycles = "smsp__cycles_elapsed.avg.per_second";
        for (metric, unit, fit) in [
            (time, "msecond", true),
            (time, "", false),
            (time, "%", false),
            (time, "byte", false),
            (time, "cycle", false),
            (time, "minute", false),
            (time, "second/second", false),
            (bytes, "Gbyte", true),
            (bytes, "KiB", true),
            (bytes, "", false),
            (bytes, "usecond", false),
            (bytes, "sector", false),
            (bytes, "Gbit", false),
            (bytes, "%", false),
            (bytes, "Gbyte/second", false),
            (rate, "Gbyte/second", true),
            (rate, "byte/nsecond", true),
            (rate, "Gbyte", false),
            (rate, "byte/cycle", false),
            (count, "", true),
            (count, "Kinst", true),
            (count, "usecond", false),
            (count, "Mbyte", false),
            (count, "%", false),
            (count, "Ghz", false),
            (a_cycle, "inst/cycle", true),
            (a_cycle, "inst", false),
            (
                "lts__t_sectors_op_read.sum.per_second",
                "sector/second",
                true,
            ),
            (cycles, "Ghz", true),
            (cycles, "cycle/nsecond", true),
            (cycles, "byte/second", false),
            ("sm__cycles_elapsed.max", "cycle", true),
            ("sm__cycles_elapsed.max", "usecond", false),
            ("l1tex__t_sector_hit_rate.pct", "%", true),
            ("launch__shared_mem_per_block", "Kbyte/block", true),
            ("dram__bytes.sum.peak_sustained", "byte/cycle", true),
        ] {
            assert_eq!(factor_of(metric, unit).is_some(), fit, "{metric} {unit}");
        }
    }
}
