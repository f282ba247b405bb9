//! Arguments with their types, sizes and values known.

use super::data::{Argument, Data, Fill, Role, Tolerance, Type};
use super::error::ValueError;
use greenup_space::Value;
use greenup_space::expr::{Scope, eval, parse};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// What an expression of constants gives.
fn value(text: &str, constants: &[(String, Value)]) -> Result<Value, ValueError> {
    let e = parse(text).map_err(|e| ValueError::Syntax(e.message))?;
    let names = |n: &str| {
        let found = constants.iter().find(|(k, _)| k == n);
        found.map(|(_, v)| v.clone())
    };
    eval(&e, &Scope::new(&names)).map_err(|e| ValueError::Constants {
        text: text.to_owned(),
        cause: e.message,
    })
}

fn number(text: &str, constants: &[(String, Value)]) -> Result<f64, ValueError> {
    value(text, constants)?
        .as_float()
        .ok_or_else(|| ValueError::NotANumber(text.to_owned()))
}

/// The value of a scalar, which its type must hold as it is.
fn scalar(kind: Type, text: &str, constants: &[(String, Value)]) -> Result<f64, ValueError> {
    let v = value(text, constants)?;
    let x = v
        .as_float()
        .ok_or_else(|| ValueError::NotANumber(text.to_owned()))?;
    let exact = v.as_int().is_none_or(|i| x as i128 == i128::from(i));
    if kind.holds(x) && (exact || !kind.is_integer()) {
        Ok(x)
    } else {
        Err(ValueError::DoesNotFit {
            value: v.to_string(),
            kind,
        })
    }
}

fn named(name: &str) -> Result<Type, Error> {
    let text: StrDeserializer<Error> = name.into_deserializer();
    Type::deserialize(text)
}

/// A type's name, or an expression of constants that gives one.
fn kind(text: &str, constants: &[(String, Value)]) -> Result<Type, ValueError> {
    let none = |of: &str| {
        let suggestion = match of {
            "double" | "float64" | "real" => "; did you mean f64?",
            "float" | "float32" | "single" => "; did you mean f32?",
            "uint8" | "uchar" | "char" => "; did you mean u8 or i8?",
            "long" | "int64" | "int64_t" | "long long" | "size_t" => "; did you mean i64?",
            "int" | "int32" | "int32_t" => "; did you mean i32?",
            _ => "",
        };
        ValueError::Type {
            name: of.to_owned(),
            suggestion,
        }
    };
    named(text).or_else(|_| {
        let v = value(text, constants)
            .map_err(|e| ValueError::TypeExpression(Box::new(none(text)), Box::new(e)))?;
        named(&v.to_string()).map_err(|_| none(&v.to_string()))
    })
}

/// The bytes that hexadecimal digits write; kernels take at most 4 KiB of arguments.
fn digits(text: &str) -> Result<Vec<u8>, ValueError> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let [high, low] = pair else { return None };
        let digit = |c: u8| char::from(c).to_digit(16);
        u8::try_from(16 * digit(*high)? + digit(*low)?).ok()
    };
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    bytes
        .filter(|b| (1..=4096).contains(&b.len()))
        .ok_or(ValueError::Bytes)
}

pub(super) fn argument(a: &Argument, constants: &[(String, Value)]) -> Result<Data, ValueError> {
    let fail = |cause: ValueError| ValueError::Argument {
        name: a.name.clone(),
        cause: Box::new(cause),
    };
    let kind = kind(&a.kind, constants).map_err(fail)?;
    let bytes = a.bytes.as_deref().map(digits).transpose().map_err(fail)?;
    let (len, value) = match (&a.size, &a.value, &bytes) {
        (Some(s), None, None) => {
            let n = number(s, constants).map_err(fail)?;
            if !(n >= 1.0 && n.trunc() == n && n < 1e12) {
                return Err(fail(ValueError::Size(n)));
            }
            (Some(n as usize), 0.0)
        }
        (None, None, Some(_)) if kind != Type::U8 => return Err(fail(ValueError::BytesType)),
        (None, None, Some(_)) => (None, 0.0),
        (None, Some(v), None) => (None, scalar(kind, v, constants).map_err(fail)?),
        _ => {
            return Err(fail(ValueError::SizeOrValue));
        }
    };
    let role = a.role.unwrap_or_default();
    let unused = match len {
        None if a.fill.is_some() => Some(("fill", "a scalar has its `value`")),
        None if a.role.is_some() => Some(("role", "a scalar is passed by value, and only read")),
        Some(_) if a.fill.is_some() && role == Role::Out => Some((
            "fill",
            "an array of role out is overwritten before each run with values that are no result; use role = \"inout\" for one that kernels read",
        )),
        _ => None,
    };
    if let Some((key, why)) = unused {
        return Err(fail(ValueError::Unused(key, why)));
    }
    let fill = a.fill.clone().unwrap_or_default();
    if let (Some(len), true) = (len, role != Role::Out) {
        check_fill(&fill, kind, len).map_err(fail)?;
    }
    if len.is_none() && (a.answer.is_some() || a.symbol.is_some()) {
        return Err(fail(ValueError::OfArrays));
    }
    if let Some(answer) = &a.answer {
        let fine = |x: f64| x >= 0.0 && x.is_finite();
        if !(fine(answer.atol) && fine(answer.rtol)) {
            return Err(fail(ValueError::AnswerTolerance));
        }
        if matches!(role, Role::In | Role::Scratch) {
            return Err(fail(ValueError::AnswerRole));
        }
    }
    Ok(Data {
        name: a.name.clone(),
        kind,
        len,
        value,
        bytes: bytes.unwrap_or_default(),
        fill,
        role,
        answer: a.answer.clone(),
        symbol: a.symbol.clone(),
    })
}

/// The errors that a reference allows: integers are the same where nothing is written.
pub(super) fn tolerance(
    written: Option<&toml::Value>,
    constants: &[(String, Value)],
) -> Result<Tolerance, ValueError> {
    const USUAL: f64 = 1e-9;
    let Some(written) = written else {
        return Ok(Tolerance {
            real: USUAL,
            whole: 0.0,
        });
    };
    let v = match written {
        toml::Value::String(s) => number(s, constants),
        other => other
            .as_float()
            .or(other.as_integer().map(|i| i as f64))
            .ok_or_else(|| ValueError::NotANumber(other.to_string())),
    }
    .map_err(|e| ValueError::Tolerance(Box::new(e)))?;
    if (0.0..1.0).contains(&v) {
        Ok(Tolerance { real: v, whole: v })
    } else {
        Err(ValueError::ToleranceRange(v))
    }
}

/// Refuses initial values that an array of `len` elements cannot hold.
pub(super) fn check_fill(fill: &Fill, kind: Type, len: usize) -> Result<(), ValueError> {
    let does_not_fit = |value: String| Err(ValueError::DoesNotFit { value, kind });
    let f = match fill {
        Fill::Number(x) if kind.holds(*x) => return Ok(()),
        Fill::Number(x) => return does_not_fit(format!("fill {x}")),
        Fill::Named(f) => f,
    };
    match (f.as_str(), fill.bounds()) {
        ("random" | "normal", _) if kind.is_unsigned() => Err(ValueError::UnsignedRandom),
        ("index", _) if kind.is_integer() && !kind.holds((len - 1) as f64) => {
            does_not_fit(format!("index {}", len - 1))
        }
        ("random" | "normal" | "zeros" | "index", _) => Ok(()),
        // The last value of an integer lies below the upper bound.
        (_, Some((lo, hi))) if kind.is_integer() => {
            if kind.holds(lo.floor()) && kind.holds(hi.ceil() - 1.0) {
                Ok(())
            } else {
                does_not_fit(f.clone())
            }
        }
        (_, Some((lo, hi))) if !(kind.holds(lo) && kind.holds(hi)) => does_not_fit(f.clone()),
        (_, Some(_)) => Ok(()),
        _ if f.starts_with("file:") => Ok(()),
        _ => Err(ValueError::Fill(f.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_tolerances_may_be_expressions() {
        let constants = [
            ("elem".to_owned(), Value::Int(0)),
            ("n".to_owned(), Value::Int(16)),
        ];
        let kind = |text: &str| super::kind(text, &constants);
        assert_eq!(kind("i64"), Ok(Type::I64));
        assert_eq!(kind("'f32' if elem % 2 == 0 else 'f64'"), Ok(Type::F32));
        assert!(
            kind("f16")
                .unwrap_err()
                .to_string()
                .contains("type `f16` is not one of")
        );
        assert!(
            kind("n")
                .unwrap_err()
                .to_string()
                .contains("type `16` is not one of")
        );
        let tolerance = |v: toml::Value| super::tolerance(Some(&v), &constants);
        let both = |x| Ok(Tolerance { real: x, whole: x });
        assert_eq!(tolerance("1e-3 * sqrt(n)".into()), both(4e-3));
        assert_eq!(tolerance(0.5.into()), both(0.5));
        let usual = super::tolerance(None, &constants).unwrap();
        assert_eq!((usual.of(Type::F32), usual.of(Type::U8)), (1e-9, 0.0));
        assert!(
            tolerance("-n".into())
                .unwrap_err()
                .to_string()
                .contains("invalid -16: use a number from 0 to below 1")
        );
        for bad in [f64::INFINITY, f64::NAN, -1.0, 1.0, 2.0] {
            assert!(tolerance(bad.into()).is_err());
        }
        assert!(
            kind("double")
                .unwrap_err()
                .to_string()
                .contains("did you mean f64?")
        );
        assert!(tolerance(true.into()).is_err());
    }

    #[test]
    fn values_that_a_type_cannot_hold_are_refused() {
        let of = |text: &str| {
            let a: Argument = toml::from_str(&format!("name = 'a'\n{text}")).unwrap();
            argument(&a, &[])
                .map(|d| d.value)
                .map_err(|e| e.to_string())
        };
        for wrong in [
            "type = 'u8'\nvalue = 256",
            "type = 'u32'\nvalue = -1",
            "type = 'i32'\nvalue = 1.5",
            "type = 'i64'\nvalue = 9007199254740993",
            "type = 'f32'\nvalue = 1e39",
            "type = 'u8'\nsize = 4\nfill = 300",
            "type = 'i32'\nsize = 4\nfill = 0.5",
            "type = 'i8'\nsize = 129\nfill = 'index'",
            "type = 'u16'\nsize = 4\nfill = 'random(-5, 5)'",
            "type = 'u8'\nsize = 4\nfill = 'random(0, 257)'",
            "type = 'f32'\nsize = 4\nfill = 'random(0, 1e39)'",
        ] {
            let e = of(wrong).unwrap_err();
            assert!(e.contains("cannot hold"), "{wrong}: {e}");
        }
        for (unused, key) in [
            ("type = 'i32'\nvalue = 1\nrole = 'in'", "role"),
            ("type = 'i32'\nvalue = 1\nfill = 2", "fill"),
            ("type = 'f64'\nsize = 1\nrole = 'out'\nfill = 2", "fill"),
        ] {
            let e = of(unused).unwrap_err();
            assert!(e.contains(&format!("`{key}` has no effect")), "{e}");
        }
        for text in [
            "type = 'f64'\nsize = 4\nfill = 'random(0, inf)'",
            "type = 'f64'\nsize = 4\nfill = 'random(nan, 1)'",
            "type = 'u32'\nsize = 4\nfill = 'normal'",
            "type = 'u8'\nbytes = ''",
            "type = 'u8'\nbytes = '123'",
            "type = 'u8'\nbytes = '+1'",
            "type = 'u8'\nbytes = 'äb'",
            "type = 'f32'\nbytes = '00000000'",
            "type = 'u8'\nbytes = '00'\nvalue = 1",
            "type = 'u8'\nbytes = '00'\nsize = 1",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
        for right in [
            "type = 'u8'\nsize = 256\nfill = 'index'",
            "type = 'u8'\nsize = 4\nfill = 'random(0, 256)'",
            "type = 'f32'\nvalue = 0.1",
            "type = 'i64'\nvalue = -4611686018427387904",
            "type = 'u8'\nsize = 4\nrole = 'out'",
            "type = 'u8'\nbytes = '00fF'",
        ] {
            assert!(of(right).is_ok(), "{right}: {:?}", of(right));
        }
    }
}
