//! Values of an array compared with those that are right.

use super::error::WrongResult;
use super::number::Number;
use crate::problem::{Data, ExpectedValues, Type};

/// One element.
pub(super) fn get(kind: Type, b: &[u8]) -> Number {
    macro_rules! whole {
        ($t:ty) => {
            Number::Whole(b.try_into().map_or(0, |b| <$t>::from_ne_bytes(b).into()))
        };
    }
    match kind {
        Type::F64 => Number::Real(b.try_into().map_or(f64::NAN, f64::from_ne_bytes)),
        Type::F32 => Number::Real(
            b.try_into()
                .map_or(f64::NAN, |b| f32::from_ne_bytes(b).into()),
        ),
        Type::I64 => whole!(i64),
        Type::I32 => whole!(i32),
        Type::I16 => whole!(i16),
        Type::I8 => whole!(i8),
        Type::U64 => whole!(u64),
        Type::U32 => whole!(u32),
        Type::U16 => whole!(u16),
        Type::U8 => whole!(u8),
    }
}

/// Index of the first element that is not a number.
pub(super) fn first_nan(kind: Type, bytes: &[u8]) -> Option<usize> {
    if kind.is_integer() {
        return None;
    }
    let mut each = bytes.chunks_exact(kind.bytes());
    // The whole first, as there is none as a rule.
    let some = match kind {
        Type::F64 => (bytes.as_chunks().0.iter()).any(|b| f64::from_ne_bytes(*b).is_nan()),
        _ => (bytes.as_chunks().0.iter()).any(|b| f32::from_ne_bytes(*b).is_nan()),
    };
    if !some {
        return None;
    }
    each.position(|b| get(kind, b).is_nan())
}

/// Largest error of an array over the largest finite value of the right one. Equal values are right, infinities too; what is
/// not a number is not.
///
/// # Errors
/// The first element whose error exceeds the tolerance: its index, value, the right value, and the error.
pub(super) fn relative(
    kind: Type,
    own: &[u8],
    expected: &[u8],
    tolerance: f64,
) -> Result<f64, (usize, Number, Number, f64)> {
    if let Some(worst) = fast(kind, own, expected).filter(|worst| *worst <= tolerance) {
        return Ok(worst);
    }
    let n = kind.bytes();
    let scale = (expected.chunks_exact(n))
        .map(|c| get(kind, c).value().abs())
        .filter(|x| x.is_finite())
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut worst = 0.0_f64;
    for (i, (x, y)) in (own.chunks_exact(n).zip(expected.chunks_exact(n))).enumerate() {
        let (x, y) = (get(kind, x), get(kind, y));
        if x == y {
            continue;
        }
        let error = x.distance(y) / scale;
        if error > tolerance || error.is_nan() {
            return Err((i, x, y, error));
        }
        worst = worst.max(error);
    }
    Ok(worst)
}

/// The same of finite floating-point values, in loops that the compiler makes vectors of; `None` for all others.
fn fast(kind: Type, own: &[u8], expected: &[u8]) -> Option<f64> {
    macro_rules! all {
        ($t:ty) => {{
            const N: usize = size_of::<$t>();
            let (own, expected) = (own.as_chunks::<N>().0, expected.as_chunks::<N>().0);
            let (mut worst, mut scale, mut finite) = (0.0_f64, f64::MIN_POSITIVE, true);
            for (x, y) in own.iter().zip(expected) {
                let (x, y) = (<$t>::from_ne_bytes(*x), <$t>::from_ne_bytes(*y));
                let (x, y) = (f64::from(x), f64::from(y));
                let (error, size) = ((x - y).abs(), y.abs());
                finite &= error < f64::INFINITY && size < f64::INFINITY;
                worst = if error > worst { error } else { worst };
                scale = if size > scale { size } else { scale };
            }
            finite.then(|| worst / scale)
        }};
    }
    match kind {
        Type::F64 => all!(f64),
        Type::F32 => all!(f32),
        _ => None,
    }
}

/// Whether a value is right. Equal infinities are; what is not a number is not.
fn right(found: Number, expected: Number, a: &ExpectedValues) -> bool {
    let error = found.distance(expected);
    found == expected || error.is_finite() && error <= a.atol + a.rtol * found.value().abs()
}

/// Largest error over the largest value, if all values are right.
pub(super) fn close(kind: Type, own: &[u8], expected: &[u8], a: &ExpectedValues) -> Option<f64> {
    macro_rules! all {
        ($t:ty, $number:expr) => {{
            const N: usize = size_of::<$t>();
            let (own, expected) = (own.as_chunks::<N>().0, expected.as_chunks::<N>().0);
            let number = $number;
            // Without an early end, so that the compiler makes vectors of it.
            let (mut fine, mut largest, mut scale) = (true, 0.0_f64, f64::MIN_POSITIVE);
            for (x, y) in own.iter().zip(expected) {
                let (x, y) = (
                    number(<$t>::from_ne_bytes(*x)),
                    number(<$t>::from_ne_bytes(*y)),
                );
                fine &= right(x, y, a);
                let (error, y) = (x.distance(y), y.value().abs());
                largest = if error > largest { error } else { largest };
                scale = if y > scale { y } else { scale };
            }
            (fine, largest / scale)
        }};
        ($t:ty) => {
            all!($t, |x: $t| Number::Whole(x.into()))
        };
    }
    let (fine, error) = match kind {
        Type::F64 => all!(f64, Number::Real),
        Type::F32 => all!(f32, |x: f32| Number::Real(x.into())),
        Type::I64 => all!(i64),
        Type::I32 => all!(i32),
        Type::I16 => all!(i16),
        Type::I8 => all!(i8),
        Type::U64 => all!(u64),
        Type::U32 => all!(u32),
        Type::U16 => all!(u16),
        Type::U8 => all!(u8),
    };
    fine.then_some(if error.is_finite() { error } else { 0.0 })
}

/// The first value that is not right.
pub(super) fn first_wrong(
    d: &Data,
    own: &[u8],
    expected: &[u8],
    a: &ExpectedValues,
) -> WrongResult {
    let n = d.kind.bytes();
    let values = |bytes: &[u8]| {
        bytes
            .chunks_exact(n)
            .map(|b| get(d.kind, b))
            .collect::<Vec<_>>()
    };
    let pairs = values(own).into_iter().zip(values(expected));
    let wrong = pairs.enumerate().find(|(_, (x, y))| !right(*x, *y, a));
    let zero = Number::Whole(0);
    let (index, (found, expected)) = wrong.unwrap_or((0, (zero, zero)));
    WrongResult::Answer {
        name: d.name.clone(),
        index,
        found,
        expected,
        tolerance: a.atol + a.rtol * found.value().abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(atol: f64, rtol: f64) -> ExpectedValues {
        ExpectedValues {
            file: "right.bin".into(),
            atol,
            rtol,
        }
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_ne_bytes()).collect()
    }

    #[test]
    fn tolerances_are_absolute_and_relative() {
        let expected = f32s(&[0.0, 100.0, f32::INFINITY]);
        let close =
            |own: &[f32], atol, rtol| close(Type::F32, &f32s(own), &expected, &answer(atol, rtol));
        assert_eq!(close(&[0.0, 100.0, f32::INFINITY], 0.0, 0.0), Some(0.0));
        assert!(close(&[0.1, 100.0, f32::INFINITY], 0.2, 0.0).is_some());
        assert!(close(&[0.1, 100.0, f32::INFINITY], 0.0, 0.5).is_none());
        assert!(close(&[0.0, 101.0, f32::INFINITY], 0.0, 0.01).is_some());
        for wrong in [f32::NAN, 1.0, f32::NEG_INFINITY] {
            assert!(close(&[0.0, 100.0, wrong], 1.0, 1.0).is_none(), "{wrong}");
        }
    }

    #[test]
    fn errors_are_relative_to_the_largest_value() {
        let expected: Vec<u8> = [10_i16, -40].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let own: Vec<u8> = [12_i16, -40].iter().flat_map(|v| v.to_ne_bytes()).collect();
        assert_eq!(
            close(Type::I16, &own, &expected, &answer(2.0, 0.0)),
            Some(0.05)
        );
        assert_eq!(close(Type::I16, &own, &expected, &answer(1.0, 0.0)), None);
    }

    #[test]
    fn integers_are_compared_in_all_their_digits() {
        // Apart by less than an f64 tells.
        for (kind, x, y) in [
            (Type::U64, (1_u64 << 60) | 5, 1 << 60),
            (Type::I64, u64::MAX - (1 << 55), u64::MAX - (1 << 55) - 1),
        ] {
            let (x, y) = (x.to_ne_bytes(), y.to_ne_bytes());
            assert!(relative(kind, &x, &y, 0.0).is_err(), "{kind:?}");
            assert_eq!(close(kind, &x, &y, &answer(0.0, 0.0)), None, "{kind:?}");
            assert!(relative(kind, &x, &y, 1e-9).is_ok());
            assert_eq!(relative(kind, &x, &x, 0.0), Ok(0.0));
            assert_eq!(close(kind, &x, &x, &answer(0.0, 0.0)), Some(0.0));
        }
        let most = u64::MAX.to_ne_bytes();
        let (_, found, ..) = relative(Type::U64, &most, &[0; 8], 0.0).unwrap_err();
        assert_eq!(found.to_string(), "18446744073709551615");
        let wrong = relative(
            Type::I64,
            &i64::MIN.to_ne_bytes(),
            &i64::MAX.to_ne_bytes(),
            1.5,
        );
        assert!(wrong.unwrap_err().3 > 1.9);
    }

    #[test]
    fn infinities_are_right_where_they_are_expected_and_hide_no_error() {
        let expected = f32s(&[1.0, f32::INFINITY]);
        let of = |own: &[f32]| relative(Type::F32, &f32s(own), &expected, 1e-6);
        assert_eq!(of(&[1.0, f32::INFINITY]), Ok(0.0));
        for wrong in [
            [2.0, f32::INFINITY],
            [1.0, f32::NEG_INFINITY],
            [1.0, f32::MAX],
            [f32::NAN, f32::INFINITY],
            [1.0, f32::NAN],
        ] {
            assert!(of(&wrong).is_err(), "{wrong:?}");
        }
        let nan = f32s(&[f32::NAN]);
        assert!(relative(Type::F32, &nan, &nan, 1.0).is_err());
        assert_eq!(first_nan(Type::F32, &f32s(&[1.0, f32::NAN])), Some(1));
        assert_eq!(first_nan(Type::U32, &nan), None);
    }
}
