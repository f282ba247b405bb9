//! Arguments with their types, sizes and values known.

use super::error::ValueError;
use super::written::{Argument, Data, Fill, Role, Type};
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

pub(super) fn argument(a: &Argument, constants: &[(String, Value)]) -> Result<Data, ValueError> {
    let fail = |cause: ValueError| ValueError::Argument {
        name: a.name.clone(),
        cause: Box::new(cause),
    };
    let (len, value) = match (&a.size, &a.value) {
        (Some(s), None) => {
            let n = number(s, constants).map_err(fail)?;
            if !(n >= 1.0 && n.trunc() == n && n < 1e12) {
                return Err(fail(ValueError::Size(n)));
            }
            (Some(n as usize), 0.0)
        }
        (None, Some(v)) => (None, number(v, constants).map_err(fail)?),
        _ => {
            return Err(fail(ValueError::SizeOrValue));
        }
    };
    check_fill(&a.fill).map_err(fail)?;
    if len.is_none() && (a.answer.is_some() || a.symbol.is_some()) {
        return Err(fail(ValueError::OfArrays));
    }
    if let Some(answer) = &a.answer {
        let fine = |x: f64| x >= 0.0 && x.is_finite();
        if !(fine(answer.atol) && fine(answer.rtol)) {
            return Err(fail(ValueError::AnswerTolerance));
        }
        if matches!(a.role, Role::In | Role::Scratch) {
            return Err(fail(ValueError::AnswerRole));
        }
    }
    Ok(Data {
        name: a.name.clone(),
        kind: kind(&a.kind, constants).map_err(fail)?,
        len,
        value,
        fill: a.fill.clone(),
        role: a.role,
        answer: a.answer.clone(),
        symbol: a.symbol.clone(),
    })
}

/// The error that a reference allows.
pub(super) fn tolerance(
    written: Option<&toml::Value>,
    constants: &[(String, Value)],
) -> Result<f64, ValueError> {
    const USUAL: f64 = 1e-9;
    let Some(written) = written else {
        return Ok(USUAL);
    };
    let v = match written {
        toml::Value::String(s) => number(s, constants),
        other => other
            .as_float()
            .or(other.as_integer().map(|i| i as f64))
            .ok_or_else(|| ValueError::NotANumber(other.to_string())),
    }
    .map_err(|e| ValueError::Tolerance(Box::new(e)))?;
    if v >= 0.0 && v.is_finite() {
        Ok(v)
    } else {
        Err(ValueError::ToleranceRange(v))
    }
}

pub(super) fn check_fill(fill: &Fill) -> Result<(), ValueError> {
    let Fill::Named(f) = fill else { return Ok(()) };
    let known = ["random", "normal", "zeros", "index"].contains(&f.as_str())
        || f.starts_with("file:")
        || fill.bounds().is_some();
    if known {
        return Ok(());
    }
    Err(ValueError::Fill(f.clone()))
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
        assert_eq!(tolerance("1e-3 * sqrt(n)".into()), Ok(4e-3));
        assert_eq!(tolerance(0.5.into()), Ok(0.5));
        assert_eq!(super::tolerance(None, &constants), Ok(1e-9));
        assert!(
            tolerance("-n".into())
                .unwrap_err()
                .to_string()
                .contains("finite number from 0 up")
        );
        for bad in [f64::INFINITY, f64::NAN, -1.0] {
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
}
