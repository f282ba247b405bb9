//! Spaces in JSON: T1 problems of the tuning community, and neutral files.

use super::own::constant_expression;
use super::{Definition, FilterText, ParameterText, Strength, ValuesText};
use crate::error::SpaceError;
use crate::expr::{Scope, eval_list, parse};
use crate::value::Value;
use serde_json::Value as J;

type Read<T> = Result<T, SpaceError>;

pub fn read(text: &str) -> Read<Definition> {
    let json: J = match serde_json::from_str(crate::json::without_mark(text)) {
        Ok(json) => json,
        Err(_) => {
            let json = crate::json::parse(text)
                .map_err(|e| SpaceError::new(format!("this is not valid JSON: {e}")))?;
            no_nan(&json)?;
            json
        }
    };
    if json.get("ConfigurationSpace").is_some() {
        return t1(&json);
    }
    if json.get("parameters").is_some() {
        return neutral(&json);
    }
    Err(SpaceError::new("this JSON is not a space").hint(
        "a T1 problem has `ConfigurationSpace`, a neutral file has `parameters` and `constraints`",
    ))
}

/// Refuses values that are NaN or infinite: of a text with such numbers they are read as null.
fn no_nan(json: &J) -> Read<()> {
    let of = |list: Option<&J>, name: &str, values: &str| {
        let parameters = list.and_then(J::as_array).into_iter().flatten();
        parameters
            .filter(|p| matches!(p.get(values), Some(J::Array(v)) if v.contains(&J::Null)))
            .map(|p| p[name].as_str().unwrap_or_default().to_owned())
            .next()
    };
    let t1 = json["ConfigurationSpace"].get("TuningParameters");
    let found = of(t1, "Name", "Values").or_else(|| of(json.get("parameters"), "name", "values"));
    match found {
        Some(name) => Err(SpaceError::new(format!(
            "parameter `{name}`: a value is null or no finite number"
        ))),
        None => Ok(()),
    }
}

/// What is wrong with a text that is JSON, but not an object; `None` for any other text.
pub fn not_an_object(text: &str) -> Option<SpaceError> {
    let kind = match crate::json::parse(text).ok()? {
        J::Null => "null",
        J::Bool(_) => "a boolean",
        J::Number(_) => "a number",
        J::String(_) => "a string",
        J::Array(_) => "a list",
        J::Object(_) => return None,
    };
    Some(
        SpaceError::new(format!("this JSON is {kind}; a space is an object"))
            .hint("write { \"parameters\": [ … ] }, or a T1 problem, or a space in TOML"),
    )
}

fn text<'a>(v: &'a J, key: &str, what: &str) -> Read<&'a str> {
    v.get(key)
        .and_then(J::as_str)
        .ok_or_else(|| SpaceError::new(format!("{what}: the string `{key}` is missing")))
}

/// Refuses keys that would have no effect.
fn only(v: &J, keys: &[&str], what: &str) -> Read<()> {
    let unknown = v.as_object().into_iter().flatten();
    match unknown
        .map(|(k, _)| k)
        .find(|k| !keys.contains(&k.as_str()))
    {
        Some(key) => Err(
            SpaceError::new(format!("{what}: `{key}` is not known here"))
                .hint(format!("known are {}", keys.join(", "))),
        ),
        None => Ok(()),
    }
}

/// Names of lists of filters in other tools' files.
const OTHER_FILTERS: [&str; 6] = [
    "filters",
    "conditions",
    "restrictions",
    "constraint",
    "filter",
    "restriction",
];

fn array<'a>(v: &'a J, key: &str, what: &str) -> Read<&'a [J]> {
    match v.get(key) {
        None | Some(J::Null) => Ok(&[]),
        Some(J::Array(a)) => Ok(a),
        Some(_) => Err(SpaceError::new(format!("{what}: `{key}` is not a list"))),
    }
}

fn values(list: &[J], what: &str) -> Read<Vec<Value>> {
    list.iter().map(|v| plain(v, what)).collect()
}

/// Part of a range: a number or an expression.
fn bound(v: Option<&J>, default: Option<&str>, what: &str) -> Read<String> {
    match (v, default) {
        (Some(J::String(s)), _) => Ok(s.clone()),
        (Some(J::Number(n)), _) => Ok(n.to_string()),
        (None, Some(d)) => Ok(d.to_owned()),
        _ => Err(SpaceError::new(format!(
            "{what}: a range needs `start` and `stop`, each a number or an expression"
        ))),
    }
}

fn neutral(json: &J) -> Read<Definition> {
    // Other keys describe the space; a filter that is not read would let all points pass.
    let keys = json.as_object().into_iter().flatten().map(|(k, _)| k);
    for key in keys {
        if OTHER_FILTERS.contains(&key.to_lowercase().as_str()) {
            return Err(
                SpaceError::new(format!("the file: `{key}` is not known here"))
                    .hint("a neutral file has its filters in `constraints`"),
            );
        }
    }
    let mut d = Definition {
        name: json
            .get("name")
            .and_then(J::as_str)
            .unwrap_or("space")
            .to_owned(),
        about: json
            .get("title")
            .and_then(J::as_str)
            .unwrap_or_default()
            .to_owned(),
        ..Definition::default()
    };
    match json.get("constants") {
        None | Some(J::Null) => {}
        Some(J::Object(constants)) => {
            for (name, v) in constants {
                let what = format!("constant `{name}`");
                let v = match v {
                    J::String(text) => constant_expression(text, &what, &d.constants)?,
                    v => plain(v, &what)?,
                };
                d.constants.push((name.clone(), v));
            }
        }
        Some(_) => {
            return Err(SpaceError::new("the file: `constants` is not an object")
                .hint("write \"constants\": { \"n\": 1024 }"));
        }
    }
    for p in array(json, "parameters", "the file")? {
        let name = text(p, "name", "a parameter")?.to_owned();
        let what = format!("parameter `{name}`");
        only(
            p,
            &["name", "values", "range", "type", "unit", "description"],
            &what,
        )?;
        let values = if let Some(r) = p.get("range") {
            if p.get("values").is_some() {
                return Err(SpaceError::new(format!("{what} has `values` and `range`")));
            }
            only(r, &["start", "stop", "step"], &what)?;
            ValuesText::Text(format!(
                "{} : {} : {}",
                bound(r.get("start"), None, &what)?,
                bound(r.get("stop"), None, &what)?,
                bound(r.get("step"), Some("1"), &what)?
            ))
        } else {
            match p.get("values") {
                Some(J::Array(list)) => ValuesText::List(values(list, &what)?),
                Some(J::String(s)) => ValuesText::Text(s.clone()),
                _ => {
                    return Err(SpaceError::new(format!(
                        "{what}: `values` or `range` is missing"
                    )));
                }
            }
        };
        d.parameters.push(ParameterText { name, values });
    }
    for key in ["let", "derived"] {
        for l in array(json, key, "the file")? {
            let name = text(l, "name", "a derived value")?.to_owned();
            let what = format!("derived value `{name}`");
            only(l, &["name", "expr"], &what)?;
            let e = text(l, "expr", &what)?.to_owned();
            d.derived.push((name, e));
        }
    }
    for (i, c) in array(json, "constraints", "the file")?.iter().enumerate() {
        let what = format!("constraint {}", i + 1);
        let expression = match c {
            J::String(s) => s.clone(),
            _ => text(c, "expr", &what)?.to_owned(),
        };
        only(
            c,
            &["name", "expr", "expr_plain", "kind", "note", "because"],
            &what,
        )?;
        d.filters.push(FilterText {
            name: c
                .get("name")
                .and_then(J::as_str)
                .map_or_else(|| format!("c{}", i + 1), str::to_owned),
            strength: match c.get("kind").map(J::as_str) {
                Some(Some("soft")) => Strength::Soft,
                None | Some(Some("hard")) => Strength::Hard,
                _ => {
                    return Err(SpaceError::new(format!("{what}: `kind` is hard or soft")));
                }
            },
            because: match c.get("note").or(c.get("because")) {
                None | Some(J::Null) => None,
                Some(J::String(s)) => Some(s.clone()),
                Some(_) => {
                    return Err(SpaceError::new(format!("{what}: `note` is not a string")));
                }
            },
            expression,
        });
    }
    Ok(d)
}

fn t1(json: &J) -> Read<Definition> {
    let space = &json["ConfigurationSpace"];
    only(
        space,
        &["TuningParameters", "Conditions"],
        "ConfigurationSpace",
    )?;
    let mut d = Definition {
        name: json["General"]["BenchmarkName"]
            .as_str()
            .or(json["KernelSpecification"]["KernelName"].as_str())
            .unwrap_or("space")
            .to_owned(),
        ..Definition::default()
    };
    for p in array(space, "TuningParameters", "ConfigurationSpace")? {
        let name = text(p, "Name", "a tuning parameter")?.to_owned();
        let what = format!("parameter `{name}`");
        // The type is that of its values; the default is where another tool would begin.
        only(p, &["Name", "Type", "Values", "Default"], &what)?;
        let list = match p.get("Values") {
            Some(J::Array(list)) => values(list, &what)?,
            // T1 writes Python: "[16, 32]", "list(range(1, 9))", "[2**i for i in range(5)]".
            Some(J::String(s)) => {
                let e = parse(s).map_err(|e| e.within(&what, s))?;
                eval_list(&e, &Scope::new(&|_: &str| None)).map_err(|e| e.within(&what, s))?
            }
            _ => return Err(SpaceError::new(format!("{what}: `Values` is missing"))),
        };
        d.parameters.push(ParameterText {
            name,
            values: ValuesText::List(list),
        });
    }
    for (i, c) in array(space, "Conditions", "ConfigurationSpace")?
        .iter()
        .enumerate()
    {
        only(
            c,
            &["Expression", "Parameters"],
            &format!("condition {}", i + 1),
        )?;
        d.filters.push(FilterText {
            name: format!("c{}", i + 1),
            expression: text(c, "Expression", &format!("condition {}", i + 1))?.to_owned(),
            strength: Strength::Hard,
            because: None,
        });
    }
    Ok(d)
}

/// A plain value of a JSON or TOML file.
fn plain(v: &serde_json::Value, what: &str) -> Result<Value, SpaceError> {
    use serde_json::Value as J;
    match v {
        J::Bool(b) => Ok(Value::Bool(*b)),
        J::String(s) => Ok(Value::Str(s.clone())),
        J::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Ok(Value::Int(i)),
            (None, Some(f)) if !n.is_u64() && f.is_finite() => Ok(Value::Float(f)),
            _ => Err(SpaceError::new(format!("{what}: {n} does not fit 64 bits"))),
        },
        J::Array(items) => {
            let items = items.iter().map(|v| plain(v, what));
            items.collect::<Result<_, _>>().map(Value::Tuple)
        }
        J::Null => Ok(Value::None),
        J::Object(_) => Err(SpaceError::new(format!(
            "{what}: a number, a string, a boolean, a list or null is expected, not {v}"
        ))),
    }
}
