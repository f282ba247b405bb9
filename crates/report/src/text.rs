//! Configs and large numbers as text.

use std::fmt::Display;

/// `name=value` of each pair, as configs are shown.
pub fn named<N: Display, V: Display>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    pairs
        .into_iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// An integer with its digits in groups of three.
pub fn grouped(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
