//! Numbers as texts of ticks.

/// Decimals that a step needs.
pub(super) fn decimals(step: f64) -> usize {
    (0..12)
        .find(|d| {
            let scaled = step * 10_f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-9)
        })
        .unwrap_or(12) as usize
}

/// A number without trailing zeros, at most three digits after rounding.
pub fn short(v: f64) -> String {
    if v == 0.0 {
        return "0".into();
    }
    let digits = (2 - v.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let s = format!("{v:.digits$}");
    if s.contains('.') {
        s.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        s
    }
}

/// A power of two: `1/8`, `4`, `4096`, `64 Ki`.
pub(super) fn power_of_two(v: f64) -> String {
    if (0.9 / 4096.0..0.9).contains(&v) {
        return format!("1/{:.0}", 1.0 / v);
    }
    let mut v = v;
    for prefix in ["", " Ki", " Mi", " Gi", " Ti"] {
        if (0.9..16_384.5).contains(&v) && prefix.is_empty() || (0.9..1000.0).contains(&v) {
            return format!("{}{prefix}", short(v));
        }
        v /= 1024.0;
    }
    let e = (v.log2() + 50.0).round() as i32;
    format!("2{}", superscript(e))
}

/// An exponent in raised digits.
pub fn superscript(e: i32) -> String {
    e.to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
        })
        .collect()
}
