//! Settings that another program gives by name: each is checked by itself, so that an error names it.

use crate::session::help::name;
use crate::session::settings::{Assembly, DEVICES, Settings};
use crate::time::integrator::Ode;
use clap::ValueEnum;
use serde_json::{Map, Value};

/// Settings of a run, by the names of the `[run]` table of a problem file, and `problem`.
#[derive(Clone, Debug, Default)]
pub struct NamedSettings(pub(super) Settings);

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

/// What a setting is.
enum SettingType {
    Count,
    Number,
    Switch,
    Text,
    Device,
    /// One of these names.
    Names(Vec<String>),
}

impl SettingType {
    /// That of a setting; `None`: there is no such setting.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "refine" | "steps" | "order" | "energy_order" | "period" | "cg_max" | "every"
            | "snapshots" | "threads" => Self::Count,
            "t_final" | "share" | "cfl" | "cg_tol" | "e0" => Self::Number,
            "profile" | "tune" => Self::Switch,
            "problem" | "mesh" | "kernels" | "checkpoint" | "history" | "vtu" | "png"
            | "profile_file" | "mark" => Self::Text,
            "device" => Self::Device,
            "ode" => Self::names::<Ode>(),
            "assembly" => Self::names::<Assembly>(),
            _ => return None,
        })
    }

    fn names<T: ValueEnum>() -> Self {
        Self::Names(T::value_variants().iter().map(name).collect())
    }

    /// Whether a value is of its type, and is one of its values.
    fn fits(&self, value: &Value) -> (bool, bool) {
        let text = value.as_str();
        match self {
            // No other setting than a switch must have a value.
            Self::Switch => (value.is_boolean(), true),
            _ if value.is_null() => (true, true),
            Self::Count => {
                let fits = value.as_u64().and_then(|n| usize::try_from(n).ok());
                (value.is_u64() || value.is_i64(), fits.is_some())
            }
            Self::Number => (value.is_number(), true),
            Self::Text => (text.is_some(), true),
            Self::Device => (
                text.is_some(),
                text.is_some_and(|t| DEVICES.parse(t).is_ok()),
            ),
            Self::Names(all) => (
                text.is_some(),
                text.is_some_and(|t| all.iter().any(|n| n == t)),
            ),
        }
    }

    fn wanted(&self) -> String {
        match self {
            Self::Count => "use a whole number, 0 or more".to_owned(),
            Self::Number => "use a number".to_owned(),
            Self::Switch => "use true or false".to_owned(),
            Self::Text => "use text".to_owned(),
            Self::Device => DEVICES.to_string(),
            Self::Names(all) => {
                let all: Vec<String> = all.iter().map(|n| format!("`{n}`")).collect();
                match &all[..] {
                    [a, b] => format!("use {a} or {b}"),
                    all => format!("use one of {}", all.join(", ")),
                }
            }
        }
    }
}

impl NamedSettings {
    /// Reads settings.
    ///
    /// # Errors
    /// A setting is unknown, or its value has another type or is not known.
    pub fn read(settings: &Map<String, Value>) -> Result<Self, WrongSetting> {
        for (name, value) in settings {
            check(name, value)?;
        }
        let all = Value::Object(settings.clone());
        serde_json::from_value(all.clone())
            .map(Self)
            .map_err(|e| wrong("settings", &all, e.to_string(), false))
    }
}

fn wrong(name: &str, value: &Value, wanted: String, is_type: bool) -> WrongSetting {
    WrongSetting {
        name: name.to_owned(),
        value: value.to_string(),
        wanted,
        is_type,
    }
}

fn check(name: &str, value: &Value) -> Result<(), WrongSetting> {
    let Some(kind) = SettingType::of(name) else {
        let why = "there is no such setting".to_owned();
        return Err(wrong(name, value, why, false));
    };
    match kind.fits(value) {
        (true, true) => Ok(()),
        (is_type, _) => Err(wrong(name, value, kind.wanted(), !is_type)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(settings: Value) -> WrongSetting {
        NamedSettings::read(settings.as_object().unwrap()).unwrap_err()
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
        let e = fault(json!({"device": "tpu"}));
        assert!(e.to_string().contains("cuda:all") && !e.is_type, "{e}");
    }

    #[test]
    fn every_setting_can_be_given() {
        let good = json!({
            "problem": "1", "mesh": "3x2", "refine": 2, "t_final": 1, "steps": 3, "order": 2, "energy_order": 1,
            "ode": "ssp-rk3", "assembly": "full", "device": "cuda:0,1", "kernels": "zones=2", "profile": true,
            "share": 0.5, "tune": false, "period": 4, "cfl": 1, "cg_tol": 1e-9, "cg_max": 30, "e0": null,
            "checkpoint": "c", "every": 3, "history": "h.csv", "vtu": "v", "snapshots": 2, "png": "p.png",
            "profile_file": "r.csv", "threads": 2, "mark": "m",
        });
        let settings = NamedSettings::read(good.as_object().unwrap()).unwrap().0;
        let written = serde_json::to_value(&settings).unwrap();
        let fields = written.as_object().unwrap();
        assert!(fields.keys().all(|k| SettingType::of(k).is_some()) && fields.len() > 15);
    }
}
