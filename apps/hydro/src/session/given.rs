//! Settings that another program gives by name: each is read by itself, so that an error names it.

use crate::commands::settings::Settings;
use serde_json::{Map, Value};

/// Settings of a run, by the names of the `[run]` table of a problem file, and `problem`.
#[derive(Clone, Debug, Default)]
pub struct Given(pub(super) Settings);

/// A setting that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value}: {wanted}")]
pub struct WrongSetting {
    /// Its name.
    pub name: String,
    /// Its value, as JSON.
    pub value: String,
    /// What it should be.
    pub wanted: String,
    /// Whether the value has a wrong type; else it has the right one, but is none of the values that are known.
    pub is_type: bool,
}

impl Given {
    /// Reads settings.
    ///
    /// # Errors
    /// A setting is unknown, or its value has another type or is not known.
    pub fn read(settings: &Map<String, Value>) -> Result<Self, WrongSetting> {
        for (name, value) in settings {
            one(name, value).map_err(|why| WrongSetting::new(name, value, &why))?;
        }
        let all = serde_json::from_value(Value::Object(settings.clone()));
        all.map(Self).map_err(|e| WrongSetting {
            name: "settings".to_owned(),
            value: Value::Object(settings.clone()).to_string(),
            wanted: e.to_string(),
            is_type: false,
        })
    }
}

impl WrongSetting {
    fn new(name: &str, value: &Value, why: &str) -> Self {
        let (fault, expected) = why.split_once("expected ").unwrap_or((why, ""));
        let wanted = match expected {
            "usize" => "use a whole number, 0 or more".to_owned(),
            "f64" => "use a number".to_owned(),
            "a boolean" => "use true or false".to_owned(),
            "a string" | "path string" => "use text".to_owned(),
            // One of some names: what serde says of another name lists them.
            "string or map" => match one(name, &Value::String(String::new())) {
                Err(other) => format!(
                    "use {}",
                    other.split_once("expected ").map_or("text", |o| o.1)
                ),
                Ok(()) => "use text".to_owned(),
            },
            _ if fault.starts_with("unknown field") => "there is no such setting".to_owned(),
            "" => why.to_owned(),
            names => format!("use {names}"),
        };
        Self {
            name: name.to_owned(),
            value: value.to_string(),
            wanted,
            is_type: fault.starts_with("invalid type"),
        }
    }
}

/// Reads one setting; what serde says where it cannot be read.
fn one(name: &str, value: &Value) -> Result<(), String> {
    let alone = Map::from_iter([(name.to_owned(), value.clone())]);
    serde_json::from_value::<Settings>(Value::Object(alone))
        .map(drop)
        .map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(settings: Value) -> WrongSetting {
        Given::read(settings.as_object().unwrap()).unwrap_err()
    }

    #[test]
    fn a_wrong_setting_is_named_with_what_it_should_be() {
        for (settings, message, is_type) in [
            (
                json!({"cfl": 0.5, "refine": 1.5}),
                "refine=1.5: use a whole number, 0 or more",
                true,
            ),
            (
                json!({"refine": -1}),
                "refine=-1: use a whole number, 0 or more",
                false,
            ),
            (
                json!({"order": "2"}),
                "order=\"2\": use a whole number, 0 or more",
                true,
            ),
            (json!({"mesh": 3}), "mesh=3: use text", true),
            (json!({"cfl": [1]}), "cfl=[1]: use a number", true),
            (
                json!({"assembly": true}),
                "assembly=true: use `full` or `partial`",
                true,
            ),
            (
                json!({"assembly": "half"}),
                "assembly=\"half\": use `full` or `partial`",
                false,
            ),
            (
                json!({"colour": 1}),
                "colour=1: there is no such setting",
                false,
            ),
        ] {
            let e = fault(settings);
            assert_eq!((e.to_string().as_str(), e.is_type), (message, is_type));
        }
        assert!(fault(json!({"ode": 4})).to_string().contains("rk2avg"));
        let good = json!({"refine": 2, "ode": "rk4", "cfl": 1, "mesh": "3x2"});
        Given::read(good.as_object().unwrap()).unwrap();
    }
}
