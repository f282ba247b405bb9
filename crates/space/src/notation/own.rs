//! Our own notation: a TOML file.

use super::{Definition, Facts, FilterText, ParameterText, Strength, ValuesText};
use crate::error::{SpaceError, closest};
use crate::expr::{Scope, eval, parse};
use crate::value::Value;

/// The tables and keys of a space.
pub const SPACE_TABLES: [&str; 8] = [
    "name",
    "about",
    "constants",
    "parameters",
    "derived",
    "hard",
    "soft",
    "script",
];

type Read<T> = Result<T, SpaceError>;

pub fn read(text: &str, facts: &Facts) -> Read<Definition> {
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| SpaceError::new(format!("this is not valid TOML: {e}")))?;
    // A problem file is a space with more tables: they are not looked into here.
    let problem = table.contains_key("build");
    if !problem {
        for key in table.keys() {
            if !SPACE_TABLES.contains(&key.as_str()) {
                let e = SpaceError::new(format!("`{key}` is not part of a space"));
                return Err(match closest(key, SPACE_TABLES) {
                    Some(known) => e.hint(format!("did you mean `{known}`?")),
                    None => e.hint(format!("the parts are {}", SPACE_TABLES.join(", "))),
                });
            }
        }
    }
    from_table(&table, facts)
}

pub fn from_table(table: &toml::Table, facts: &Facts) -> Read<Definition> {
    let string = |key: &str| -> Read<Option<String>> {
        match table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(s)) => Ok(Some(s.clone())),
            Some(_) => Err(SpaceError::new(format!("`{key}` is not a string"))),
        }
    };
    let mut d = Definition {
        name: string("name")?.unwrap_or_else(|| "space".into()),
        about: string("about")?.unwrap_or_default(),
        script: string("script")?,
        ..Definition::default()
    };
    for (name, v) in section(table, "constants")? {
        let value = constant(name, v, &d.constants, facts)?;
        d.constants.push((name.clone(), value));
    }
    for (name, v) in section(table, "parameters")? {
        let what = format!("parameter `{name}`");
        let values = match v {
            toml::Value::String(s) => ValuesText::Text(with_facts(s, facts, &what)?),
            toml::Value::Array(list) => {
                ValuesText::List(list.iter().map(|v| value(v, &what)).collect::<Read<_>>()?)
            }
            single => ValuesText::List(vec![value(single, &what)?]),
        };
        d.parameters.push(ParameterText {
            name: name.clone(),
            values,
        });
    }
    for (name, v) in section(table, "derived")? {
        let e = v.as_str().ok_or_else(|| {
            SpaceError::new(format!(
                "derived value `{name}`: an expression in quotes is expected"
            ))
        })?;
        let e = with_facts(e, facts, &format!("derived value `{name}`"))?;
        d.derived.push((name.clone(), e));
    }
    for (key, strength) in [("hard", Strength::Hard), ("soft", Strength::Soft)] {
        for (name, v) in section(table, key)? {
            let mut f = filter(name, v, strength)?;
            f.expression = with_facts(&f.expression, facts, &format!("filter `{name}`"))?;
            d.filters.push(f);
        }
    }
    Ok(d)
}

fn section<'a>(
    table: &'a toml::Table,
    key: &str,
) -> Read<impl Iterator<Item = (&'a String, &'a toml::Value)> + use<'a>> {
    match table.get(key) {
        None => Ok(None.into_iter().flatten()),
        Some(toml::Value::Table(t)) => Ok(Some(t.iter()).into_iter().flatten()),
        Some(_) => Err(SpaceError::new(format!("`{key}` is not a table"))
            .hint(format!("write [{key}] on a line of its own"))),
    }
}

fn value(v: &toml::Value, what: &str) -> Read<Value> {
    Ok(match v {
        toml::Value::String(s) => Value::Str(s.clone()),
        toml::Value::Integer(i) => Value::Int(*i),
        toml::Value::Float(f) if f.is_finite() => Value::Float(*f),
        toml::Value::Boolean(b) => Value::Bool(*b),
        toml::Value::Array(items) => {
            let items = items.iter().map(|v| value(v, what));
            Value::Tuple(items.collect::<Read<_>>()?)
        }
        other => {
            return Err(SpaceError::new(format!(
                "{what}: a number, a string, a boolean or a list is expected, not {other}"
            )));
        }
    })
}

/// A constant: a plain value, or an expression of earlier constants and of `device.NAME`.
fn constant(name: &str, v: &toml::Value, known: &[(String, Value)], facts: &Facts) -> Read<Value> {
    let what = format!("constant `{name}`");
    match v {
        toml::Value::String(text) => evaluated(text, &what, known, facts),
        v => value(v, &what),
    }
}

/// The value of an expression of constants and of `device.NAME`.
///
/// # Errors
/// The expression is invalid, or uses another name.
pub fn evaluated(text: &str, what: &str, known: &[(String, Value)], facts: &Facts) -> Read<Value> {
    constant_expression(&with_facts(text, facts, what)?, what, known)
}

/// The value of a constant that is written as an expression of those above it.
pub(super) fn constant_expression(
    text: &str,
    what: &str,
    known: &[(String, Value)],
) -> Read<Value> {
    const HINT: &str = "an expression may use constants above it; a string constant has quotes of its own, as in \"'text'\"";
    let e = parse(text).map_err(|e| e.within(what, text).hint(HINT))?;
    let names = |n: &str| known.iter().find(|(k, _)| k == n).map(|(_, v)| v.clone());
    eval(&e, &Scope::new(&names)).map_err(|e| e.within(what, text).hint(HINT))
}

/// An expression with each `device.NAME` replaced by what it stands for; `what` names the expression in errors.
///
/// # Errors
/// The device has no such fact.
pub fn with_facts(text: &str, facts: &Facts, what: &str) -> Read<String> {
    const PREFIX: &str = "device.";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PREFIX) {
        let inside_word = rest[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = &rest[at + PREFIX.len()..];
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(after.len());
        let name = &after[..end];
        out.push_str(&rest[..at]);
        match facts.get(name) {
            _ if inside_word => {
                out.push_str(PREFIX);
                out.push_str(name);
            }
            Some(v) => out.push_str(&v.literal()),
            None => {
                let known: Vec<&str> = facts.keys().map(String::as_str).collect();
                return Err(SpaceError::new(format!(
                    "{what}: this device has no `{PREFIX}{name}`"
                ))
                .hint(if known.is_empty() {
                    "no device is known here: give the number itself".to_owned()
                } else {
                    format!("it has device.{{{}}}", known.join(", "))
                }));
            }
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    Ok(out)
}

fn filter(name: &str, v: &toml::Value, strength: Strength) -> Read<FilterText> {
    let (expression, because) = match v {
        toml::Value::String(s) => (Some(s.clone()), None),
        toml::Value::Boolean(b) => (Some(if *b { "True" } else { "False" }.to_owned()), None),
        toml::Value::Table(t) => {
            if let Some(key) = t
                .keys()
                .find(|k| !["keep", "because"].contains(&k.as_str()))
            {
                return Err(
                    SpaceError::new(format!("filter `{name}`: `{key}` is not known"))
                        .hint("a filter is { keep = \"expression\", because = \"reason\" }"),
                );
            }
            let because = match t.get("because") {
                None => None,
                Some(toml::Value::String(s)) => Some(s.clone()),
                Some(other) => {
                    return Err(SpaceError::new(format!(
                        "filter `{name}`: `because` is a reason in quotes, not {other}"
                    )));
                }
            };
            let keep = match t.get("keep") {
                Some(toml::Value::Boolean(b)) => Some(if *b { "True" } else { "False" }.to_owned()),
                keep => keep.and_then(toml::Value::as_str).map(str::to_owned),
            };
            (keep, because)
        }
        _ => (None, None),
    };
    Ok(FilterText {
        name: name.to_owned(),
        expression: expression.ok_or_else(|| {
            SpaceError::new(format!("filter `{name}`: an expression is expected")).hint(
                "write NAME = \"expression\" or NAME = { keep = \"expression\", because = \"reason\" }",
            )
        })?,
        strength,
        because,
    })
}
