//! The config that a kernel has before it is tuned, as its problem file names it.

use super::set::toml_value;
use greenup_space::{Facts, Space, Value, evaluated};

/// The table of a problem file.
const TABLE: &str = "default";

/// The config of `[default]`: a text that is no value of its parameter is an expression of constants and of the device, and
/// parameters that it leaves out have their first value. `None` without it, and where `--set` leaves out one of its values;
/// `is_set` tells whether it restricts a parameter.
///
/// # Errors
/// It is no table of the space's parameters and their values: the message and a hint.
pub(super) fn default_config(
    table: &toml::Table,
    space: &Space,
    facts: &Facts,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<Option<Vec<Value>>, (String, String)> {
    let Some(given) = table.get(TABLE) else {
        return Ok(None);
    };
    let names: Vec<&str> = space.names().collect();
    let parameters = || format!("the parameters are {}", names.join(", "));
    let Some(given) = given.as_table() else {
        let message = "`default` is no table of parameters".to_owned();
        return Err((
            message,
            "write [default] and a line NAME = VALUE each".into(),
        ));
    };
    if let Some(name) = given.keys().find(|n| !names.contains(&n.as_str())) {
        let message = format!("[default] has `{name}`, which is no parameter");
        return Err((message, parameters()));
    }
    let mut config = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let list = space.list_of(i);
        let Some(v) = given.get(*name) else {
            let Some(first) = list.as_ref().and_then(|l| l.first()) else {
                return Err((
                    format!("[default] lacks `{name}`, whose values depend on other parameters"),
                    format!("add a line {name} = VALUE"),
                ));
            };
            config.push(first.clone());
            continue;
        };
        let listed = |v: &Value| list.as_ref().is_none_or(|l| l.contains(v));
        let mut value = toml_value(v);
        if !value.as_ref().is_some_and(listed)
            && let Some(text) = v.as_str()
        {
            match evaluated(text, name, space.constants(), facts) {
                Ok(v) => value = Some(v),
                // A word among words is a value that is spelled differently.
                Err(e) if !has_words(list.as_deref()) => {
                    return Err((
                        format!("[default] {}", e.message),
                        e.hint.unwrap_or_else(parameters),
                    ));
                }
                Err(_) => {}
            }
        }
        match value.filter(listed) {
            Some(v) => config.push(v),
            None if is_set(name) => return Ok(None),
            None => {
                let values: Vec<String> = (list.iter().flatten().take(20))
                    .map(ToString::to_string)
                    .collect();
                return Err((
                    format!("[default] {name} = {v} is no value of the parameter"),
                    format!("its values are {}", values.join(", ")),
                ));
            }
        }
    }
    Ok(Some(config))
}

/// Whether some of the values are words.
fn has_words(list: Option<&[Value]>) -> bool {
    list.is_some_and(|l| l.iter().any(|v| matches!(v, Value::Str(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_space::{Definition, Facts};

    fn of(default: &str, set: &[&str]) -> Result<Option<Vec<Value>>, String> {
        let text = format!(
            "[parameters]\na = [2, 4]\nb = ['x', 'y']\nc = [true, false]\nd = '1 : a'\n{default}"
        );
        let table: toml::Table = text.parse().unwrap();
        let facts = Facts::from([("threads".to_owned(), Value::Int(2))]);
        let definition = Definition::from_table(&table, &facts).unwrap();
        let space = Space::new(&definition).unwrap();
        default_config(&table, &space, &facts, &|n| set.contains(&n)).map_err(|(m, _)| m)
    }

    #[test]
    fn what_is_left_out_has_its_first_value() {
        assert_eq!(of("", &[]), Ok(None));
        let all = vec![
            Value::Int(4),
            Value::Str("x".into()),
            Value::Bool(false),
            Value::Int(1),
        ];
        assert_eq!(
            of("[default]\na = 4\nc = false\nd = 1\n", &[]),
            Ok(Some(all.clone()))
        );
        let computed = "[default]\na = '2 * device.threads'\nc = false\nd = 1\n";
        assert_eq!(of(computed, &[]), Ok(Some(all)));
    }

    #[test]
    fn what_is_no_config_is_refused_but_for_what_was_set() {
        for (text, expected) in [
            ("[default]\ne = 1", "`e`, which is no parameter"),
            ("[default]\na = 3\nd = 1", "a = 3 is no value"),
            ("[default]\nb = 'z'\nd = 1", "b = \"z\" is no value"),
            ("[default]\na = 2", "lacks `d`"),
            (
                "[default]\na = 'device.treads'\nd = 1",
                "no `device.treads`",
            ),
            ("[default]\na = 'm + 1'\nd = 1", "`m`"),
            ("[default]\na = '3 * device.threads'\nd = 1", "is no value"),
        ] {
            let found = of(text, &[]).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
        assert!(
            of("[[default]]\na = 2", &[])
                .unwrap_err()
                .contains("no table")
        );
        assert_eq!(of("[default]\na = 3\nd = 1", &["a"]), Ok(None));
    }
}
