//! The best config in forms that a build reads: compiler flags, a C header, JSON, TOML.

use super::{Best, NoBest};
use greenup_space::Value;
use std::fmt::Write as _;

/// A macro: name and value.
pub type Define = (String, String);

impl Best<'_> {
    fn pairs(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.sweep.facts.parameters.iter().zip(self.config)
    }

    /// The parameters as they stand in a command.
    pub fn words(&self) -> Vec<(String, String)> {
        self.pairs()
            .map(|(n, v)| (n.clone(), v.to_string()))
            .collect()
    }

    /// The parameters as macros, as a build of the tuner defines them.
    pub fn defines(&self) -> Vec<Define> {
        let parameters = self.pairs().map(|(n, v)| match v {
            Value::Bool(b) => (n.clone(), i32::from(*b).to_string()),
            v => (n.clone(), v.to_string()),
        });
        let constants = self.sweep.facts.constants().into_iter();
        let constants = constants.map(|(n, text)| match text.as_str() {
            "True" => (n, "1".to_owned()),
            "False" => (n, "0".to_owned()),
            _ => (n, text),
        });
        parameters.chain(constants).collect()
    }

    /// Flags of the compiler with which a kernel of the host was measured; none where they are not recorded.
    ///
    /// # Errors
    /// A flag is not one word where a shell puts the flags into a command.
    pub fn build_flags(&self) -> Result<String, NoBest> {
        let more = &self.sweep.facts.more;
        if more.contains_key("architecture") || more.contains_key("opencl") {
            return Ok(String::new());
        }
        let text = more.get("flags").map_or("", String::as_str);
        let flags = shell_words::split(text).unwrap_or_default();
        match flags.iter().find(|f| f.contains(splits)) {
            Some(flag) => Err(NoBest::BuildFlag(flag.clone())),
            None => Ok(flags.join(" ")),
        }
    }

    /// Names of the derived values of the problem, whose values the sweep does not hold.
    pub fn derived(&self) -> impl Iterator<Item = &str> {
        let names = self.sweep.facts.fingerprint.keys();
        names.filter_map(|k| k.strip_prefix("derived."))
    }

    /// One of them that a command names.
    pub fn derived_in(&self, commands: &[String]) -> Option<&str> {
        self.derived().find(|name| {
            let place = format!("{{{name}}}");
            commands.iter().any(|c| c.contains(&place))
        })
    }

    /// `{"config": {…}, "time_s": …, "energy_j": …}`; what was not measured is null. With a metric as the objective also
    /// `"objective"` and its `"value"`.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub fn json(&self) -> Result<serde_json::Value, serde_json::Error> {
        let mut config = serde_json::Map::new();
        for (n, v) in self.pairs() {
            config.insert(n.clone(), serde_json::to_value(v)?);
        }
        let mut out = serde_json::json!({
            "config": config,
            "time_s": self.time_s,
            "energy_j": self.energy_j,
        });
        if let Some((name, value)) = self.metric {
            out["objective"] = format!("metric:{name}").into();
            out["value"] = value.into();
        }
        Ok(out)
    }

    /// The same as TOML, with where it comes from as a comment; no energy has no key, and `None` is the text that commands
    /// and compilers get.
    ///
    /// # Errors
    /// A value cannot be written as TOML.
    pub fn toml(&self, source: &str) -> Result<String, toml::ser::Error> {
        let mut config = toml::Table::new();
        for (n, v) in self.pairs() {
            config.insert(n.clone(), in_toml(v)?);
        }
        let mut table = toml::Table::new();
        if self.time_s.is_finite() {
            table.insert("time_s".into(), self.time_s.into());
        }
        if let Some((name, value)) = self.metric {
            table.insert("objective".into(), format!("metric:{name}").into());
            table.insert("value".into(), value.into());
        }
        if let Some(e) = self.energy_j {
            table.insert("energy_j".into(), e.into());
        }
        table.insert("config".into(), config.into());
        let comment: String = self
            .provenance(source)
            .iter()
            .map(|l| format!("# {l}\n"))
            .collect();
        Ok(format!("{comment}{}", toml::to_string(&table)?))
    }

    /// A C header that defines macros, with where they come from as a comment.
    ///
    /// # Errors
    /// A macro cannot have this name or value.
    pub fn header(&self, defines: &[Define], source: &str) -> Result<String, NoBest> {
        check(defines)?;
        let name: String = self
            .sweep
            .facts
            .name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_uppercase()
                } else {
                    '_'
                }
            })
            .collect();
        let guard = format!("GREENUP_BEST_{name}_H");
        let mut out = String::from("/*\n");
        for line in self.provenance(source) {
            let _ = writeln!(out, " * {}", line.replace("*/", "* /"));
        }
        let _ = write!(out, " */\n#ifndef {guard}\n#define {guard}\n\n");
        for (n, v) in defines {
            let _ = writeln!(out, "#define {n} {v}");
        }
        out.push_str("\n#endif\n");
        Ok(out)
    }

    /// Where it comes from, a line a fact.
    fn provenance(&self, source: &str) -> Vec<String> {
        let facts = &self.sweep.facts;
        let time = if self.time_s.is_finite() {
            format!("time_s {:e}", self.time_s)
        } else {
            "no time".into()
        };
        let energy = (self.energy_j).map_or_else(String::new, |e| format!(", energy_j {e:e}"));
        let metric = (self.metric).map_or_else(String::new, |(n, x)| format!(", {n} {x:e}"));
        let mut out = vec![
            format!(
                "Best config of the sweep `{}` by {}.",
                facts.name, self.objective
            ),
            format!("sweep: {source}"),
            format!("device: {}", facts.device),
            format!(
                "measured: {time}{energy}{metric}, {}",
                if self.final_rounds {
                    "in the final rounds"
                } else {
                    "in one trial"
                }
            ),
            format!(
                "verified with a reference: {}",
                match facts.verified {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unknown",
                }
            ),
        ];
        let constants: Vec<String> = (facts.constants().iter())
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        if !constants.is_empty() {
            out.push(format!("constants: {}", constants.join(", ")));
        }
        for (key, label) in [
            ("compiler", "compiler:"),
            ("flags", "flags:"),
            ("greenup", "greenup"),
            ("commit", "commit:"),
            ("command", "command: greenup"),
        ] {
            if let Some(v) = facts.more.get(key) {
                out.push(format!("{label} {v}"));
            }
        }
        // A comment line ends where a line ends, and TOML has no control characters.
        out.iter()
            .map(|l| l.replace(char::is_control, " "))
            .collect()
    }
}

/// A value as TOML, which has no null.
///
/// # Errors
/// The value cannot be written as TOML.
pub fn in_toml(value: &Value) -> Result<toml::Value, toml::ser::Error> {
    match value {
        Value::None => Ok(value.to_string().into()),
        Value::Tuple(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(in_toml).collect();
            items.map(toml::Value::Array)
        }
        v => toml::Value::try_from(v),
    }
}

/// What a shell splits words at, or replaces, in what `$(…)` prints, or keeps as it is.
fn splits(c: char) -> bool {
    c.is_whitespace() || "*?[]\"'\\".contains(c)
}

/// `-DNAME=VALUE …`, to be put into a command by `$(…)`, where a shell removes no quotes.
///
/// # Errors
/// A macro cannot have this name or value.
pub fn flags(defines: &[Define]) -> Result<String, NoBest> {
    check(defines)?;
    if let Some((n, _)) = defines.iter().find(|(_, v)| v.contains(splits)) {
        return Err(NoBest::Flag(n.clone()));
    }
    let all: Vec<String> = defines.iter().map(|(n, v)| format!("-D{n}={v}")).collect();
    Ok(all.join(" "))
}

/// Whether a preprocessor takes a text whole as the value of a macro: one line, without comments, all quotes closed.
fn is_macro_text(text: &str) -> bool {
    let mut open = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, open) {
            ('\n' | '\r' | '\0', _) => return false,
            ('\\', _) => match rest.next() {
                None | Some('\n' | '\r' | '\0') => return false,
                Some(_) => {}
            },
            ('"' | '\'', None) => open = Some(c),
            (c, Some(quote)) if c == quote => open = None,
            ('/', None) if matches!(rest.peek(), Some('/' | '*')) => return false,
            _ => {}
        }
    }
    open.is_none()
}

fn check(defines: &[Define]) -> Result<(), NoBest> {
    for (n, v) in defines {
        let is_name = n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(NoBest::Name(n.clone()));
        }
        if !is_macro_text(v) {
            return Err(NoBest::Value(n.clone()));
        }
    }
    Ok(())
}
