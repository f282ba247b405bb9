//! Functions that expressions may call.

use crate::value::Value;

/// Functions of one value or of several, for messages.
pub(crate) const FUNCTIONS: [&str; 17] = [
    "min", "max", "abs", "int", "float", "round", "floor", "ceil", "sqrt", "log2", "log", "exp",
    "gcd", "len", "sum", "bool", "pow",
];

pub(super) fn extreme(which: &str, values: Vec<Value>) -> Option<Value> {
    let mut values = values.into_iter();
    let mut best = values.next()?;
    for v in values {
        let order = v.compare(&best)?;
        if (which == "min" && order.is_lt()) || (which == "max" && order.is_gt()) {
            best = v;
        }
    }
    Some(best)
}

pub(crate) fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}

/// Divisors of `|n|` in ascending order; none for 0.
pub(crate) fn divisors(n: i64) -> Vec<i64> {
    let n = n.unsigned_abs();
    let mut low = Vec::new();
    let mut high = Vec::new();
    let mut d = 1;
    while n != 0 && d <= n / d {
        if n.is_multiple_of(d) {
            low.push(d as i64);
            if d != n / d {
                high.push((n / d) as i64);
            }
        }
        d += 1;
    }
    high.reverse();
    low.extend(high);
    low
}
