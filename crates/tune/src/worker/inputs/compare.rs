//! Values of an array compared with those that are right.

use super::error::WrongResult;
use crate::problem::{Answer, Data, Type};

/// One element.
pub(super) fn get(kind: Type, b: &[u8]) -> f64 {
    macro_rules! read {
        ($t:ty) => {
            b.try_into()
                .map_or(f64::NAN, |b| <$t>::from_ne_bytes(b) as f64)
        };
    }
    match kind {
        Type::F64 => b.try_into().map_or(f64::NAN, f64::from_ne_bytes),
        Type::F32 => read!(f32),
        Type::I64 => read!(i64),
        Type::I32 => read!(i32),
        Type::I16 => read!(i16),
        Type::I8 => read!(i8),
        Type::U64 => read!(u64),
        Type::U32 => read!(u32),
        Type::U16 => read!(u16),
        Type::U8 => read!(u8),
    }
}

/// Whether a value is right. Equal infinities are; what is not a number is not.
fn right(found: f64, expected: f64, a: &Answer) -> bool {
    let error = (found - expected).abs();
    error.is_finite() && error <= a.atol + a.rtol * found.abs() || found == expected
}

/// Largest error over the largest value, if all values are right.
pub(super) fn close(kind: Type, own: &[u8], expected: &[u8], a: &Answer) -> Option<f64> {
    macro_rules! all {
        ($t:ty) => {{
            const N: usize = size_of::<$t>();
            let (own, expected) = (own.as_chunks::<N>().0, expected.as_chunks::<N>().0);
            // Without an early end, so that the compiler makes vectors of it.
            let (mut fine, mut largest, mut scale) = (true, 0.0_f64, f64::MIN_POSITIVE);
            for (x, y) in own.iter().zip(expected) {
                let (x, y) = (
                    <$t>::from_ne_bytes(*x) as f64,
                    <$t>::from_ne_bytes(*y) as f64,
                );
                fine &= right(x, y, a);
                let error = (x - y).abs();
                largest = if error > largest { error } else { largest };
                scale = if y.abs() > scale { y.abs() } else { scale };
            }
            (fine, largest / scale)
        }};
    }
    let (fine, error) = match kind {
        Type::F64 => all!(f64),
        Type::F32 => all!(f32),
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
pub(super) fn first_wrong(d: &Data, own: &[u8], expected: &[u8], a: &Answer) -> WrongResult {
    let n = d.kind.bytes();
    let values = |bytes: &[u8]| {
        bytes
            .chunks_exact(n)
            .map(|b| get(d.kind, b))
            .collect::<Vec<_>>()
    };
    let pairs = values(own).into_iter().zip(values(expected));
    let wrong = pairs.enumerate().find(|(_, (x, y))| !right(*x, *y, a));
    let (index, (found, expected)) = wrong.unwrap_or_default();
    WrongResult::Answer {
        name: d.name.clone(),
        index,
        found,
        expected,
        tolerance: a.atol + a.rtol * found.abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(atol: f64, rtol: f64) -> Answer {
        Answer {
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
}
