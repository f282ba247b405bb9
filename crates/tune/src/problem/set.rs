//! What `--set` changes of a problem file or a space.

use greenup_space::expr::{Domain, Scope, eval, parse_domain};
use greenup_space::{Definition, Facts, Space, Value};

/// Replaces values of constants, and restricts parameters to some of their values.
///
/// # Errors
/// A name is neither a constant nor a parameter, or a value is none of the parameter's: the message and a hint.
pub fn set(
    table: &mut toml::Table,
    named: &[(String, toml::Value)],
) -> Result<(), (String, String)> {
    let has = |table: &toml::Table, part: &str, name: &str| {
        let own = table.get(part).and_then(toml::Value::as_table);
        own.is_some_and(|t| t.contains_key(name))
    };
    if let Some((name, _)) = named
        .iter()
        .find(|(name, _)| !has(table, "constants", name) && !has(table, "parameters", name))
    {
        let known = |part: &str| -> Vec<&str> {
            table
                .get(part)
                .and_then(toml::Value::as_table)
                .into_iter()
                .flat_map(|t| t.keys())
                .map(String::as_str)
                .collect()
        };
        return Err((
            format!("has no constant or parameter `{name}` to set"),
            format!(
                "its constants are {}; its parameters {}",
                known("constants").join(", "),
                known("parameters").join(", ")
            ),
        ));
    }
    // The values of parameters follow from the constants.
    let (constants, parameters): (Vec<_>, Vec<_>) = named
        .iter()
        .partition(|(name, _)| has(table, "constants", name));
    for (part, named) in [("constants", constants), ("parameters", parameters)] {
        let mut new = Vec::with_capacity(named.len());
        for (name, value) in named {
            new.push(match part {
                "parameters" => (name, restricted(table, name, value)?),
                _ => (name, value.clone()),
            });
        }
        if let Some(own) = table.get_mut(part).and_then(toml::Value::as_table_mut) {
            own.extend(new.into_iter().map(|(name, v)| (name.clone(), v)));
        }
    }
    Ok(())
}

/// The values of a parameter that are asked for; as they are asked for where its own depend on other parameters or the device.
fn restricted(
    table: &toml::Table,
    name: &str,
    asked: &toml::Value,
) -> Result<toml::Value, (String, String)> {
    let Some(own) = own_values(table, name) else {
        return Ok(asked.clone());
    };
    let one = |v: &toml::Value| toml_value(v).filter(|v| own.contains(v));
    let several = |v: &toml::Value| match v {
        toml::Value::Array(items) => items.iter().map(one).collect::<Option<Vec<_>>>(),
        v => Some(vec![one(v)?]),
    };
    let text = match asked {
        toml::Value::String(s) => Some(s.clone()),
        toml::Value::Array(_) => None,
        other => Some(other.to_string()),
    };
    let text = text.as_deref();
    let words = |text: &str| {
        let value = |word: &str| {
            let of_text = |v: &&Value| v.to_string() == word || v.literal() == word;
            own.iter().find(of_text).cloned()
        };
        let word = |word: &str| value(word.trim());
        word(text)
            .map(|v| vec![v])
            .or_else(|| text.split(',').map(word).collect())
    };
    let expression = |text: &str| match parse_domain(text).ok()? {
        Domain::Values(e) => {
            let all = eval(&e, &Scope::new(&|_: &str| None)).ok()?;
            if own.contains(&all) {
                return Some(vec![all]);
            }
            match all {
                Value::Tuple(items) => items.iter().all(|v| own.contains(v)).then_some(items),
                _ => None,
            }
        }
        // A range in the place of the values: those of them that it has.
        Domain::Range { .. } => {
            let range = listed(toml::Value::String(text.to_owned()), table, name)?;
            let within: Vec<Value> = range.into_iter().filter(|v| own.contains(v)).collect();
            (!within.is_empty()).then_some(within)
        }
    };
    let found = one(asked)
        .map(|v| vec![v])
        .or_else(|| several(asked))
        .or_else(|| text.and_then(words))
        .or_else(|| text.and_then(expression))
        .or_else(|| text.and_then(|text| expression(&format!("({text},)"))))
        .filter(|found| !found.is_empty());
    let Some(found) = found else {
        const MANY: usize = 20;
        let values: Vec<String> = own.iter().take(MANY).map(Value::literal).collect();
        let more = if own.len() > MANY { ", …" } else { "" };
        let asked = match asked {
            toml::Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        return Err((
            format!(
                "parameter `{name}` cannot be set to {asked}: not all of it is among its values"
            ),
            format!("they are {}{more}", values.join(", ")),
        ));
    };
    // In the parameter's own spelling.
    let found: Vec<&Value> = found
        .iter()
        .map(|v| own.iter().find(|o| *o == v).unwrap_or(v))
        .collect();
    let array: Option<Vec<toml::Value>> = found.iter().map(|v| to_toml(v)).collect();
    Ok(match array {
        Some(array) => toml::Value::Array(array),
        None => {
            let literals: Vec<String> = found.iter().map(|v| v.literal()).collect();
            toml::Value::String(format!("[{}]", literals.join(", ")))
        }
    })
}

/// A value in TOML, which has no `None`.
fn to_toml(v: &Value) -> Option<toml::Value> {
    Some(match v {
        Value::Bool(b) => toml::Value::Boolean(*b),
        Value::Int(i) => toml::Value::Integer(*i),
        Value::Float(f) => toml::Value::Float(*f),
        Value::Str(s) => toml::Value::String(s.clone()),
        Value::Tuple(items) => {
            toml::Value::Array(items.iter().map(to_toml).collect::<Option<_>>()?)
        }
        Value::None => return None,
    })
}

/// The values of a parameter that depend on constants alone.
fn own_values(table: &toml::Table, name: &str) -> Option<Vec<Value>> {
    let own = table.get("parameters")?.as_table()?.get(name)?;
    listed(own.clone(), table, name)
}

/// The values that a parameter has if it is written so.
fn listed(values: toml::Value, table: &toml::Table, name: &str) -> Option<Vec<Value>> {
    let mut alone = toml::Table::new();
    for part in ["constants", "script"] {
        if let Some(v) = table.get(part) {
            alone.insert(part.to_owned(), v.clone());
        }
    }
    let parameter = toml::Table::from_iter([(name.to_owned(), values)]);
    alone.insert("parameters".to_owned(), toml::Value::Table(parameter));
    let d = Definition::from_table(&alone, &Facts::new()).ok()?;
    Space::new(&d).ok()?.list_of(0)
}

/// A value as spaces have it; `None` for tables and dates.
pub(super) fn toml_value(v: &toml::Value) -> Option<Value> {
    Some(match v {
        toml::Value::String(s) => Value::Str(s.clone()),
        toml::Value::Integer(i) => Value::Int(*i),
        toml::Value::Float(f) => Value::Float(*f),
        toml::Value::Boolean(b) => Value::Bool(*b),
        toml::Value::Array(items) => {
            Value::Tuple(items.iter().map(toml_value).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_to(space: &str, name: &str, asked: toml::Value) -> Result<Vec<Value>, String> {
        let mut table: toml::Table = space.parse().unwrap();
        set(&mut table, &[(name.to_owned(), asked)]).map_err(|(m, hint)| format!("{m}; {hint}"))?;
        let d = Definition::from_table(&table, &Facts::new()).unwrap();
        Ok(Space::new(&d).unwrap().list_of(0).unwrap())
    }

    #[test]
    fn a_parameter_is_restricted_to_values_that_it_has() {
        let text = |s: &str| toml::Value::String(s.into());
        let ints = |v: &[i64]| toml::Value::Array(v.iter().map(|i| (*i).into()).collect());
        let pair = |a: i64, b: i64| Value::Tuple(vec![a.into(), b.into()]);
        let pairs = "[parameters]\nx = [[1, 2], [3, 4]]";
        let one = Ok(vec![pair(3, 4)]);
        assert_eq!(set_to(pairs, "x", text("(3,4)")), one);
        assert_eq!(set_to(pairs, "x", text("(3, 4)")), one);
        assert_eq!(set_to(pairs, "x", text("((3,4),)")), one);
        assert_eq!(set_to(pairs, "x", ints(&[3, 4])), one);
        let both = Ok(vec![pair(1, 2), pair(3, 4)]);
        assert_eq!(set_to(pairs, "x", text("(1,2),(3,4)")), both);
        assert!(set_to(pairs, "x", text("(3,5)")).is_err());
        assert!(set_to(pairs, "x", 3.into()).is_err());

        let words = "[parameters]\nx = ['f32', 'f64', 'a,b', '1']";
        let strings = |v: &[&str]| Ok(v.iter().map(|s| Value::from(*s)).collect());
        assert_eq!(set_to(words, "x", text("f32")), strings(&["f32"]));
        assert_eq!(
            set_to(words, "x", text("f64, f32")),
            strings(&["f64", "f32"])
        );
        assert_eq!(set_to(words, "x", text("a,b")), strings(&["a,b"]));
        assert_eq!(set_to(words, "x", 1.into()), strings(&["1"]));
        let e = set_to(words, "x", text("f16")).unwrap_err();
        assert!(
            e.contains("set to f16") && e.contains("'f32', 'f64'"),
            "{e}"
        );

        let numbers = "[constants]\nn = 4\n[parameters]\nx = '1 : n'";
        let some = |v: &[i64]| Ok(v.iter().map(|i| Value::Int(*i)).collect());
        assert_eq!(set_to(numbers, "x", ints(&[3, 2])), some(&[3, 2]));
        assert_eq!(set_to(numbers, "x", text("2:9:2")), some(&[2, 4]));
        assert_eq!(set_to(numbers, "x", toml::Value::Float(2.0)), some(&[2]));
        assert_eq!(set_to(numbers, "n", 2.into()), some(&[1, 2]));
        let e = set_to(numbers, "x", ints(&[2, 5])).unwrap_err();
        assert!(e.contains("they are 1, 2, 3, 4"), "{e}");
        assert!(set_to(numbers, "y", 1.into()).is_err());
    }
}
