//! Numbers as they are written, with all their digits.

/// A number as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// Digits without zeros at either end, and the power of ten of the last one: equal numbers are alike however they are
    /// written, and all digits count.
    Decimal {
        negative: bool,
        digits: String,
        power: i64,
    },
    /// Spelled `inf` or `infinity`.
    Infinite { negative: bool },
    /// Spelled `nan`.
    Nan,
}

impl Number {
    /// A whole word that is a number; what overflows is a word.
    pub(super) fn of(word: &str) -> Option<Self> {
        let (negative, plain) = match word.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, word.strip_prefix('+').unwrap_or(word)),
        };
        match plain.to_ascii_lowercase().as_str() {
            "nan" => return Some(Self::Nan),
            "inf" | "infinity" => return Some(Self::Infinite { negative }),
            _ => {}
        }
        let (mantissa, exponent) = split(plain);
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let signed = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let valid = digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty());
        if !(valid && digits(signed) && !signed.is_empty()) {
            return None;
        }
        let exponent: i64 = exponent
            .strip_prefix('+')
            .unwrap_or(exponent)
            .parse()
            .ok()?;
        let all = format!("{whole}{part}");
        let significant = all.trim_start_matches('0');
        let short = significant.trim_end_matches('0');
        let zeros = significant.len() - short.len();
        let power = if short.is_empty() {
            0
        } else {
            exponent
                .checked_sub(part.len() as i64)?
                .checked_add(zeros as i64)?
        };
        let out = Self::Decimal {
            negative: negative && !short.is_empty(),
            digits: short.to_owned(),
            power,
        };
        out.value().is_finite().then_some(out)
    }

    pub(super) fn value(&self) -> f64 {
        let signed = |negative: bool, x: f64| if negative { -x } else { x };
        match self {
            Self::Decimal { digits, .. } if digits.is_empty() => 0.0,
            Self::Decimal {
                negative,
                digits,
                power,
            } => {
                let x = format!("{digits}e{power}").parse().unwrap_or(f64::NAN);
                signed(*negative, x)
            }
            Self::Infinite { negative } => signed(*negative, f64::INFINITY),
            Self::Nan => f64::NAN,
        }
    }

    /// |x − y|, of all digits.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        if self == other {
            return 0.0;
        }
        let (x, y) = (self.value(), other.value());
        exact(self, other).unwrap_or_else(|| match (x - y).abs() {
            0.0 => f64::EPSILON * x.abs(),
            apart => apart,
        })
    }
}

/// Mantissa and exponent. Fortran writes `1.0D+00`, and `0.1-100` where the exponent has three digits.
fn split(plain: &str) -> (&str, &str) {
    if let Some(parts) = plain.split_once(['e', 'E', 'd', 'D']) {
        return parts;
    }
    let sign = plain.rfind(['+', '-']);
    match sign.map(|at| plain.split_at(at)) {
        Some((mantissa, exponent)) if mantissa.contains('.') && exponent.len() == 4 => {
            (mantissa, exponent)
        }
        _ => (plain, "0"),
    }
}

/// |x − y| by their digits; `None` where they are too far apart for it, so that the larger one tells the difference.
fn exact(x: &Number, y: &Number) -> Option<f64> {
    const MOST_DIGITS: i64 = 1000;
    let part = |n: &Number| match n {
        Number::Decimal {
            negative,
            digits,
            power,
        } => Some((*negative, digits.clone(), *power)),
        _ => None,
    };
    let (x, y) = (part(x)?, part(y)?);
    // Zero has no digits, and any power.
    let least = match (x.1.is_empty(), y.1.is_empty()) {
        (true, _) => y.2,
        (_, true) => x.2,
        _ => x.2.min(y.2),
    };
    let aligned = |(_, digits, power): &(bool, String, i64)| {
        let zeros = if digits.is_empty() {
            0
        } else {
            power.saturating_sub(least)
        };
        let length = zeros.saturating_add(digits.len() as i64);
        (length <= MOST_DIGITS).then(|| {
            let zeros = std::iter::repeat_n(0, zeros as usize);
            let digits = digits.bytes().rev().map(|b| i16::from(b - b'0'));
            zeros.chain(digits).collect::<Vec<i16>>()
        })
    };
    let (mut a, mut b) = (aligned(&x)?, aligned(&y)?);
    let n = a.len().max(b.len()) + 1;
    a.resize(n, 0);
    b.resize(n, 0);
    if a.iter().rev().lt(b.iter().rev()) {
        std::mem::swap(&mut a, &mut b);
    }
    let sign = if x.0 == y.0 { -1 } else { 1 };
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(&b) {
        let sum = *a + sign * *b + carry;
        *a = sum.rem_euclid(10);
        carry = sum.div_euclid(10);
    }
    let digits: String = a.iter().rev().map(ToString::to_string).collect();
    format!("{digits}e{least}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_all_digits() {
        for (a, b, want) in [
            ("12345678901234567891", "12345678901234567890", 1.0),
            ("12345678901234567890", "12345678901234567000", 890.0),
            ("9007199254740993", "9007199254740992", 1.0),
            ("100", "99.99", 0.01),
            ("-1", "1", 2.0),
            ("-3.5", "-1", 2.5),
            ("0", "5e-324", 5e-324),
            ("0", "-1e300", 1e300),
            ("1e-5", "1", 0.99999),
            ("1e300", "1e-300", 1e300),
            ("1e308", "-1e308", f64::INFINITY),
            ("7", "7.0", 0.0),
            ("inf", "1", f64::INFINITY),
        ] {
            let [x, y] = [a, b].map(|t| Number::of(t).unwrap());
            assert_eq!(x.distance(&y), want, "{a} {b}");
            assert_eq!(y.distance(&x), want, "{b} {a}");
        }
        let nan = Number::of("nan").unwrap();
        assert!(nan.distance(&Number::of("1").unwrap()).is_nan());
        // As exact as they are written, whatever lies between them.
        let tiny = Number::of("1e-2000");
        assert_eq!(tiny.unwrap().distance(&Number::of("1").unwrap()), 1.0);
    }
}
