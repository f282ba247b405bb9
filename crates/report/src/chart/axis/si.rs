//! Numbers with SI prefixes.

/// `1.234e9` as `1.23 G`, followed by the unit: three significant digits.
pub fn si(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    if !value.is_finite() {
        return format!("{value} {unit}");
    }
    const PREFIXES: [&str; 17] = [
        "y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y",
    ];
    // Rounding to three digits may carry into the next prefix.
    let digits = value.abs().log10().floor() as i32;
    let rounded = {
        let unit = 10f64.powi(digits - 2);
        (value.abs() / unit).round() * unit
    };
    let exponent = (rounded.log10() + 1e-9).floor() as i32;
    let step = exponent.div_euclid(3).clamp(-8, 8);
    let mantissa = value / 10f64.powi(3 * step);
    let decimals = (2 - (exponent - 3 * step)).clamp(0, 2) as usize;
    let prefix = PREFIXES[(step + 8) as usize];
    format!("{mantissa:.decimals$} {prefix}{unit}")
}

/// Both ends of an interval: `1.00 ms … 1.25 ms`.
pub fn range(lo: f64, hi: f64, unit: &str) -> String {
    format!("{} … {}", si(lo, unit), si(hi, unit))
}

/// Factor and letter of the prefix for a value: `1e9` and `G` for 2e10.
pub fn prefix_of(value: f64) -> (f64, &'static str) {
    const PREFIXES: [&str; 9] = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];
    if value == 0.0 || !value.is_finite() {
        return (1.0, "");
    }
    let step = ((value.abs().log10() + 1e-9) / 3.0)
        .floor()
        .clamp(-4.0, 4.0) as i32;
    (10_f64.powi(3 * step), PREFIXES[(step + 4) as usize])
}

/// A plain number to three significant digits.
pub fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = value.abs().log10().floor() as i32;
    if (-4..6).contains(&digits) {
        format!("{value:.*}", (2 - digits).max(0) as usize)
    } else {
        format!("{value:.2e}")
    }
}

/// A factor: `×1.003`, `×42.1`, `×3.7e5`.
pub fn factor(value: f64) -> String {
    let digits = match value.abs() {
        a if a < 10.0 => 3,
        a if a < 100.0 => 2,
        a if a < 1000.0 => 1,
        a if a < 9999.5 => 0,
        _ => return format!("×{value:.1e}"),
    };
    format!("×{value:.digits$}")
}

/// A share as a percentage: `0.1234` as `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_carries() {
        assert_eq!(si(1.234e9, "B/s"), "1.23 GB/s");
        assert_eq!(si(999.9e9, "flop/s"), "1.00 Tflop/s");
        assert_eq!(si(-0.00525, "J"), "-5.25 mJ");
        assert_eq!(si(12.0, "W"), "12.0 W");
        assert_eq!(si(0.0, "W"), "0 W");
        assert_eq!(si(5.13e-10, "J/B"), "513 pJ/B");
        assert_eq!(three(0.012345), "0.0123");
        assert_eq!(three(16.667), "16.7");
        assert_eq!(percent(0.056), "5.6 %");
        let factors = [1.0029, 42.123, 369.2361, 9999.9, 369_236.102].map(factor);
        assert_eq!(factors, ["×1.003", "×42.12", "×369.2", "×1.0e4", "×3.7e5"]);
    }
}
